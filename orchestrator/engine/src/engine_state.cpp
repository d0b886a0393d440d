// Saving of everything that moves in an engine: for checkpoints, and for steps that are done again.
#include <algorithm>
#include <stdexcept>

#include "engine.hpp"
#include "events.hpp"
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
    for (std::size_t i = 0; i < histories_.size(); ++i) histories_[i].rewind(marked_newest_[i]);
    return Status::ok;
}

Status Engine::other_end(const Reached& reached, Outcome& outcome) const {
    if (reached.early && events_ && events_->allows_early_return()) {
        outcome.early_ns = reached.time_ns;
        return Status::discard;
    }
    outcome.reason = "reached " + std::to_string(reached.time_ns);
    return Status::error;
}

void Engine::jump() {
    last_ns_ = 0;
    for (auto& history : histories_) {
        if (on_grid_) history.amend(signals_[history.slot()]);
    }
    for (const auto& operation : operations_) {
        if (on_grid_ && operation.code == Code::disturb_past) disturb_past(operation);
    }
}

void Engine::renew(std::size_t first, const std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (signals_[first + i] == values[i]) continue;
        signals_[first + i] = values[i];
        for (auto& history : histories_) {
            if (history.slot() == first + i) history.amend(values[i]);
        }
    }
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
    for (const auto& history : histories_) history.save(state.samples, state.marks);
    for (const auto& fault : faults_.rows()) {
        state.samples.push_back(fault.held);
        state.marks.push_back(fault.held_at_ns);
    }
    state.memory.push_back(static_cast<double>(last_ns_));
    state.memory.push_back(static_cast<double>(settling_));
    for (const auto* part : memories()) {
        state.memory.insert(state.memory.end(), part->begin(), part->end());
    }
    return state;
}

void Engine::restore(const EngineState& state) {
    std::size_t numbers = faults_.rows().size(), marks = numbers, memory = 2;
    for (const auto& history : histories_) {
        numbers += history.number_count();
        marks += history.mark_count();
    }
    for (const auto* part : memories()) memory += part->size();
    bool sound = state.signals.size() == signals_.size() && state.samples.size() == numbers &&
                 state.marks.size() == marks && state.memory.size() == memory && state.done >= 0;
    const auto* mark = state.marks.data();
    for (std::size_t i = 0; sound && i < histories_.size(); ++i) {
        sound = histories_[i].is_sound(mark);
        mark += histories_[i].mark_count();
    }
    if (!sound) throw std::invalid_argument("the state does not fit the engine's tables");
    done_ = state.done;
    time_ns_ = now_ns_ = state.time_ns;
    std::copy(state.signals.begin(), state.signals.end(), signals_.begin());
    mark = state.marks.data();
    const auto* number = state.samples.data();
    for (auto& history : histories_) history.restore(number, mark);
    for (auto& fault : faults_.rows()) {
        fault.held = *number++;
        fault.held_at_ns = *mark++;
    }
    auto from = state.memory.begin();
    last_ns_ = static_cast<std::int64_t>(*from++);
    settling_ = static_cast<std::int64_t>(*from++);
    for (auto* part : memories()) {
        std::copy_n(from, part->size(), part->begin());
        from += static_cast<std::ptrdiff_t>(part->size());
    }
}

}  // namespace softdock
