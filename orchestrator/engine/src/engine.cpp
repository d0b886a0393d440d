#include "engine.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace softdock {

namespace {

// Whether rows first..first + count - 1 exist in a table of `size` rows.
bool inside(std::int64_t first, std::size_t count, std::size_t size) {
    return first >= 0 && static_cast<std::size_t>(first) <= size &&
           count <= size - static_cast<std::size_t>(first);
}

void require(bool sound, const char* table) {
    if (!sound) throw std::out_of_range(std::string("a row points out of the table: ") + table);
}

}  // namespace

Engine::Engine(std::size_t signals, std::vector<Member> members, std::vector<History> histories,
               std::vector<Copy> copies, std::vector<Read> reads, std::vector<Operation> operations)
    : signals_(signals),
      slopes_(signals),
      members_(std::move(members)),
      histories_(std::move(histories)),
      copies_(std::move(copies)),
      reads_(std::move(reads)),
      operations_(std::move(operations)) {
    const auto size = signals_.size();
    for (const auto& member : members_) {
        require(inside(static_cast<std::int64_t>(member.inputs), member.unit->input_count(), size),
                "members");
        require(
            inside(static_cast<std::int64_t>(member.outputs), member.unit->output_count(), size),
            "members");
    }
    for (const auto& history : histories_) require(history.slot() < size, "histories");
    for (const auto& line : copies_) {
        require(inside(line.source, 1, size) && inside(line.target, 1, size), "copies");
    }
    for (const auto& line : reads_) check(line);
    for (const auto& operation : operations_) check(operation);
}

void Engine::check(const Read& line) {
    const bool turns = inside(line.history, 1, histories_.size()) &&
                       histories_[line.history].reading() == Reading::slerp;
    const std::size_t count = turns ? 4 : 1;
    require(inside(line.history, count, histories_.size()) &&
                inside(line.target, count, signals_.size()) && line.span_ns >= 0,
            "reads");
    if (!line.span_ns) return;
    const auto target = static_cast<std::size_t>(line.target);
    const auto owner = std::find_if(members_.begin(), members_.end(), [&](const Member& member) {
        return target >= member.inputs && target < member.inputs + member.unit->input_count();
    });
    require(owner != members_.end() && owner->unit->takes_slopes(), "reads");
    owner->sloped = true;
}

void Engine::check(const Operation& operation) const {
    std::size_t size = 0;
    switch (operation.code) {
        case Code::copy:
            size = copies_.size();
            break;
        case Code::read:
            size = reads_.size();
            break;
        case Code::step:
            size = members_.size();
            break;
        case Code::push:
            size = histories_.size();
            break;
    }
    const auto count = static_cast<std::size_t>(operation.count);
    require(operation.count >= 0 && inside(operation.first, count, size), "operations");
}

void Engine::start(std::int64_t start_ns, std::int64_t step_ns) {
    start_ns_ = start_ns;
    step_ns_ = step_ns;
    done_ = 0;
    rows_ = 0;
    for (auto& history : histories_) {
        history.start(start_ns, signals_[history.slot()]);
    }
}

std::int32_t Engine::execute_lines(const Operation& operation) {
    const auto end = operation.first + operation.count;
    switch (operation.code) {
        case Code::copy:
            for (auto i = operation.first; i < end; ++i) {
                const auto& line = copies_[i];
                signals_[line.target] = line.factor * signals_[line.source] + line.offset;
            }
            break;
        case Code::read:
            for (auto i = operation.first; i < end; ++i) {
                const auto* why =
                    reads_[i].execute(histories_, time_ns(), signals_.data(), slopes_.data());
                if (why) {
                    unread_ = why;
                    return i;
                }
            }
            break;
        case Code::push:
            for (auto i = operation.first; i < end; ++i) {
                histories_[i].push(time_ns() + step_ns_, signals_[histories_[i].slot()]);
            }
            break;
        case Code::step:
            break;
    }
    return -1;
}

Status Engine::collect(const Member& member, Outcome& outcome) {
    double* outputs = signals_.data() + member.outputs;
    const auto status = member.unit->get_outputs(outputs);
    if (failed(status)) return status;
    for (std::size_t i = 0; i < member.unit->output_count(); ++i) {
        if (!std::isfinite(outputs[i])) {
            outcome.reason = "output number " + std::to_string(i) + " is not finite";
            return Status::error;
        }
    }
    return status;
}

Status Engine::advance(const Operation& operation, Outcome& outcome) {
    const auto& member = members_[operation.first];
    auto status = member.unit->set_inputs(signals_.data() + member.inputs);
    if (member.sloped && !failed(status)) {
        status = member.unit->set_slopes(slopes_.data() + member.inputs);
    }
    if (!failed(status)) status = member.unit->step(time_ns(), step_ns_);
    if (!failed(status)) status = collect(member, outcome);
    return status;
}

Outcome Engine::run(std::int64_t steps) {
    const auto coming = static_cast<std::size_t>((done_ + steps) / every_ - done_ / every_);
    if (sink_ && rows_ + coming > capacity_) {
        throw std::invalid_argument("run: " + std::to_string(rows_ + coming) +
                                    " rows to record, room for " + std::to_string(capacity_));
    }
    Outcome outcome;
    while (outcome.steps < steps) {
        for (const auto& operation : operations_) {
            if (operation.code != Code::step) {
                const auto row = execute_lines(operation);
                if (row < 0) continue;
                outcome.status = Status::error;
                outcome.unit = -1 - row;
                outcome.reason = unread_;
                return outcome;
            }
            const auto status = advance(operation, outcome);
            if (failed(status)) {
                outcome.status = status;
                outcome.unit = operation.first;
                return outcome;
            }
        }
        ++done_;
        ++outcome.steps;
        if (done_ % every_ == 0) write_row();
    }
    return outcome;
}

EngineState Engine::save() const {
    EngineState state{done_, signals_, {}, {}};
    for (const auto& history : histories_) history.save(state.samples, state.marks);
    return state;
}

void Engine::restore(const EngineState& state) {
    std::size_t numbers = 0, marks = 0;
    for (const auto& history : histories_) {
        numbers += history.number_count();
        marks += history.mark_count();
    }
    bool sound = state.signals.size() == signals_.size() && state.samples.size() == numbers &&
                 state.marks.size() == marks && state.done >= 0;
    const auto* mark = state.marks.data();
    for (std::size_t i = 0; sound && i < histories_.size(); ++i) {
        sound = histories_[i].is_sound(mark);
        mark += histories_[i].mark_count();
    }
    if (!sound) throw std::invalid_argument("the state does not fit the engine's tables");
    done_ = state.done;
    std::copy(state.signals.begin(), state.signals.end(), signals_.begin());
    mark = state.marks.data();
    const auto* number = state.samples.data();
    for (auto& history : histories_) history.restore(number, mark);
}

void Engine::record(std::vector<std::int32_t> slots, std::int64_t every) {
    for (const auto slot : slots) require(inside(slot, 1, signals_.size()), "record");
    recorded_ = std::move(slots);
    every_ = every;
}

void Engine::attach(double* rows, std::size_t capacity) {
    sink_ = rows;
    capacity_ = capacity;
    rows_ = 0;
}

void Engine::write_row() {
    if (!sink_ || rows_ >= capacity_) return;  // run() has made sure of the room
    double* row = sink_ + rows_ * recorded_.size();
    for (const auto slot : recorded_) *row++ = signals_[slot];
    ++rows_;
}

}  // namespace softdock
