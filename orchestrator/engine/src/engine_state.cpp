// Saving of everything that moves in an engine: for checkpoints, and for steps that are done again.
#include <algorithm>
#include <stdexcept>

#include "engine.hpp"
#include "loop_solver.hpp"
#include "step_control.hpp"

namespace softdock {

namespace {

// Saved states of units: number 0 is what a loop goes back to, 1 what a step goes back to.
constexpr std::size_t marked_number = 1;

}  // namespace

Status Engine::save_unit(std::int32_t member, std::size_t number, Outcome& outcome) {
    const auto status = members_[member].unit->save(number);
    if (failed(status)) outcome.unit = member;
    return status;
}

Status Engine::restore_unit(std::int32_t member, std::size_t number, Outcome& outcome) {
    const auto status = members_[member].unit->restore(number);
    if (failed(status)) outcome.unit = member;
    return status;
}

Status Engine::mark(Outcome& outcome) {
    for (std::size_t i = 0; i < members_.size(); ++i) {
        const auto status = save_unit(static_cast<std::int32_t>(i), marked_number, outcome);
        if (failed(status)) return status;
    }
    marked_signals_ = signals_;
    marked_texts_ = texts_.buffer();
    for (std::size_t i = 0; i < histories_.size(); ++i) marked_newest_[i] = histories_[i].newest();
    return Status::ok;
}

Status Engine::rewind(Outcome& outcome, std::int32_t but) {
    for (std::size_t i = 0; i < members_.size(); ++i) {
        if (static_cast<std::int32_t>(i) == but) continue;
        const auto status = restore_unit(static_cast<std::int32_t>(i), marked_number, outcome);
        if (failed(status)) return status;
    }
    signals_ = marked_signals_;
    texts_.buffer() = marked_texts_;
    for (std::size_t i = 0; i < histories_.size(); ++i) {
        histories_[i].set_newest(marked_newest_[i]);
    }
    return Status::ok;
}

Status Engine::read_texts() {
    auto status = Status::ok;
    for (std::size_t i = 0; i < texts_.places().size() && !failed(status); ++i) {
        status = texts_.receive(*members_[i].unit, i);
    }
    return status;
}

std::vector<std::vector<double>*> Engine::memories() {
    std::vector<std::vector<double>*> all{&begin_, &before_, &control_->memory()};
    for (auto& loop : loops_) all.push_back(&loop->memory());
    return all;
}

EngineState Engine::save() {
    EngineState state;
    state.done = done_;
    state.time_ns = time_ns_;
    state.signals = signals_;
    for (auto& history : histories_) {
        state.newest.push_back(history.newest());
        state.samples.insert(state.samples.end(), history.ring().begin(), history.ring().end());
    }
    state.memory.push_back(static_cast<double>(last_ns_));
    for (const auto* part : memories()) {
        state.memory.insert(state.memory.end(), part->begin(), part->end());
    }
    return state;
}

void Engine::restore(const EngineState& state) {
    std::size_t samples = 0, memory = 1;
    for (auto& history : histories_) samples += history.ring().size();
    for (const auto* part : memories()) memory += part->size();
    const auto negative = [](std::int64_t number) { return number < 0; };
    if (state.signals.size() != signals_.size() || state.newest.size() != histories_.size() ||
        state.samples.size() != samples || state.memory.size() != memory || negative(state.done) ||
        std::any_of(state.newest.begin(), state.newest.end(), negative)) {
        throw std::invalid_argument("the state does not fit the engine's tables");
    }
    done_ = state.done;
    time_ns_ = now_ns_ = state.time_ns;
    std::copy(state.signals.begin(), state.signals.end(), signals_.begin());
    auto next = state.samples.begin();
    for (std::size_t i = 0; i < histories_.size(); ++i) {
        auto& ring = histories_[i].ring();
        std::copy_n(next, ring.size(), ring.begin());
        next += static_cast<std::ptrdiff_t>(ring.size());
        histories_[i].set_newest(state.newest[i]);
    }
    auto from = state.memory.begin();
    last_ns_ = static_cast<std::int64_t>(*from++);
    for (auto* part : memories()) {
        std::copy_n(from, part->size(), part->begin());
        from += static_cast<std::ptrdiff_t>(part->size());
    }
}

}  // namespace softdock
