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
    for (const auto& line : reads_) {
        require(inside(line.history, 1, histories_.size()) && inside(line.target, 1, size),
                "reads");
    }
    for (const auto& operation : operations_) {
        if (operation.code != Code::text) check(operation);  // those wait for `carry`
    }
}

void Engine::carry(Texts texts) {
    const auto& places = texts.places();
    const auto size = texts.buffer().size();
    require(places.size() == members_.size(), "places of texts");
    for (std::size_t i = 0; i < places.size(); ++i) {
        const auto& unit = *members_[i].unit;
        require(inside(static_cast<std::int64_t>(places[i].inputs), unit.text_input_count(), size),
                "places of texts");
        require(
            inside(static_cast<std::int64_t>(places[i].outputs), unit.text_output_count(), size),
            "places of texts");
    }
    for (const auto& operation : operations_) {
        require(operation.code != Code::text || texts.has(operation.first, operation.count),
                "operations");
    }
    texts_ = std::move(texts);
}

Status Engine::read_texts() {
    auto status = Status::ok;
    for (std::size_t i = 0; i < texts_.places().size() && !failed(status); ++i) {
        status = texts_.receive(*members_[i].unit, i);
    }
    return status;
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
        case Code::text:
            require(texts_.has(operation.first, operation.count), "operations");
            return;
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
        history.start(start_ns, step_ns, signals_[history.slot()]);
    }
}

void Engine::execute_lines(const Operation& operation) {
    const auto end = operation.first + operation.count;
    switch (operation.code) {
        case Code::copy:
            for (auto i = operation.first; i < end; ++i) {
                const auto& line = copies_[i];
                signals_[line.target] = line.factor * signals_[line.source] + line.offset;
            }
            break;
        case Code::read: {
            const auto now = time_ns();
            for (auto i = operation.first; i < end; ++i) {
                const auto& line = reads_[i];
                const double past = histories_[line.history].read(now + line.shift_ns);
                signals_[line.target] = line.factor * past + line.offset;
            }
            break;
        }
        case Code::push:
            for (auto i = operation.first; i < end; ++i) {
                histories_[i].push(signals_[histories_[i].slot()]);
            }
            break;
        case Code::text:
            texts_.copy(operation.first, operation.count);
            break;
        case Code::step:
            break;
    }
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
    const bool has_texts = !texts_.places().empty();
    auto status = member.unit->set_inputs(signals_.data() + member.inputs);
    if (has_texts && !failed(status)) status = texts_.send(*member.unit, operation.first);
    if (!failed(status)) status = member.unit->step(time_ns(), step_ns_);
    if (!failed(status)) status = collect(member, outcome);
    if (has_texts && !failed(status)) status = texts_.receive(*member.unit, operation.first);
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
                execute_lines(operation);
                continue;
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

EngineState Engine::save() {
    EngineState state{done_, signals_, {}, {}};
    for (auto& history : histories_) {
        state.newest.push_back(history.newest());
        state.samples.insert(state.samples.end(), history.ring().begin(), history.ring().end());
    }
    return state;
}

void Engine::restore(const EngineState& state) {
    std::size_t samples = 0;
    for (auto& history : histories_) samples += history.ring().size();
    const auto negative = [](std::int64_t number) { return number < 0; };
    if (state.signals.size() != signals_.size() || state.newest.size() != histories_.size() ||
        state.samples.size() != samples || negative(state.done) ||
        std::any_of(state.newest.begin(), state.newest.end(), negative)) {
        throw std::invalid_argument("the state does not fit the engine's tables");
    }
    done_ = state.done;
    std::copy(state.signals.begin(), state.signals.end(), signals_.begin());
    auto next = state.samples.begin();
    for (std::size_t i = 0; i < histories_.size(); ++i) {
        auto& ring = histories_[i].ring();
        std::copy_n(next, ring.size(), ring.begin());
        next += static_cast<std::ptrdiff_t>(ring.size());
        histories_[i].set_newest(state.newest[i]);
    }
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
