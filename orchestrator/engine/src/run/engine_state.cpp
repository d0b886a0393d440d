// Saving of everything that moves in an engine, for checkpoints.
#include <algorithm>
#include <stdexcept>

#include "run/engine.hpp"

namespace softdock {

Status Engine::read_texts() {
    auto status = Status::ok;
    for (std::size_t i = 0; i < context_.texts.places().size() && !failed(status); ++i) {
        const ModeKept kept(*context_.members[i].unit);
        status = context_.texts.receive(*context_.members[i].unit, i);
    }
    return status;
}

std::vector<std::vector<double>*> Engine::memories() {
    std::vector<std::vector<double>*> all{&context_.begin, &context_.before, &control_->memory()};
    for (const auto& loop : executor_.loops()) all.push_back(&loop->memory());
    return all;
}

EngineState Engine::save() {
    EngineState state;
    state.done = context_.done;
    state.time_ns = time_ns();
    state.signals = context_.signals;
    for (const auto& history : context_.histories) history.save(state.samples, state.marks);
    for (const auto& fault : context_.faults.rows()) {
        state.samples.push_back(fault.held);
        state.marks.push_back(fault.held_at_ns);
    }
    state.memory.push_back(static_cast<double>(context_.last_ns));
    state.memory.push_back(static_cast<double>(context_.settling));
    for (const auto* part : memories()) {
        state.memory.insert(state.memory.end(), part->begin(), part->end());
    }
    return state;
}

void Engine::restore(const EngineState& state) {
    std::size_t numbers = context_.faults.rows().size(), marks = numbers, memory = 2;
    for (const auto& history : context_.histories) {
        numbers += history.number_count();
        marks += history.mark_count();
    }
    for (const auto* part : memories()) memory += part->size();
    bool sound = state.signals.size() == context_.signals.size() &&
                 state.samples.size() == numbers && state.marks.size() == marks &&
                 state.memory.size() == memory && state.done >= 0 && state.done <= reach_ns &&
                 in_reach(state.time_ns);
    // Those numbers of the memory that are lengths of time, or a count.
    const auto is_length = [&](std::size_t place) {
        return state.memory[place] >= 0.0 && state.memory[place] < static_cast<double>(reach_ns);
    };
    sound = sound && is_length(0) && is_length(1) && is_length(2 + 2 * context_.signals.size());
    const auto* mark = state.marks.data();
    for (std::size_t i = 0; sound && i < context_.histories.size(); ++i) {
        sound = context_.histories[i].is_sound(mark);
        mark += context_.histories[i].mark_count();
    }
    if (!sound) throw std::invalid_argument("the state does not fit the engine's tables");
    context_.done = state.done;
    context_.now_ns = state.time_ns;
    be_at(state.time_ns);
    range_watch_.restore(state.time_ns);
    std::copy(state.signals.begin(), state.signals.end(), context_.signals.begin());
    mark = state.marks.data();
    const auto* number = state.samples.data();
    for (auto& history : context_.histories) history.restore(number, mark);
    for (auto& fault : context_.faults.rows()) {
        fault.held = *number++;
        fault.held_at_ns = *mark++;
    }
    auto from = state.memory.begin();
    context_.last_ns = static_cast<std::int64_t>(*from++);
    context_.settling = static_cast<std::int64_t>(*from++);
    for (auto* part : memories()) {
        std::copy_n(from, part->size(), part->begin());
        from += static_cast<std::ptrdiff_t>(part->size());
    }
}

}  // namespace softdock
