#include "engine.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "crew.hpp"
#include "events.hpp"
#include "loop_solver.hpp"
#include "step_control.hpp"

namespace softdock {

namespace {

// Pushes of one history in a step that is done again: two halves, and the whole before them.
constexpr std::size_t most_rewound = 3;

constexpr const char* no_entry = "the table of values on its connection has no entry for it";

std::unique_ptr<LoopSolver> make_solver(const Loop& loop, std::int32_t number) {
    if (loop.method >= Loop::Method::newton) return make_newton(loop, number);
    return make_fixed_point(loop, number);
}

std::unique_ptr<StepControl> make_control(const Rule& rule) {
    switch (rule.method) {
        case Rule::Method::doubling:
            return make_doubling(rule);
        case Rule::Method::embedded:
            return make_embedded(rule);
        case Rule::Method::ecco:
            return make_ecco(rule);
        case Rule::Method::fixed:
            break;
    }
    return make_fixed(rule);
}

}  // namespace

Engine::Engine(std::size_t signals, std::vector<Member> members, std::vector<History> histories,
               std::vector<Copy> copies, std::vector<Read> reads, std::vector<Mix> mixes,
               std::vector<Loop> loops, std::vector<Operation> operations, const Rule& rule,
               std::size_t threads, std::vector<Fault> faults)
    : signals_(signals),
      slopes_(signals),
      members_(std::move(members)),
      histories_(std::move(histories)),
      copies_(std::move(copies)),
      reads_(std::move(reads)),
      mixes_(std::move(mixes)),
      operations_(std::move(operations)),
      control_(make_control(rule)),
      crew_(std::make_unique<Crew>(threads)),
      faults_(std::move(faults)),
      begin_(signals),
      before_(signals),
      marked_signals_(signals),
      tangent_(signals) {
    for (std::size_t i = 0; i < loops.size(); ++i) {
        loops_.push_back(make_solver(loops[i], static_cast<std::int32_t>(i)));
    }
    remembers_ = !mixes_.empty() || control_->varies();
    marked_newest_.resize(histories_.size());
    if (control_->varies()) {
        for (auto& history : histories_) history.let_rewind(most_rewound);
    }
    check_tables();
    for (const auto& line : reads_) {
        if (line.span_ns) owner_of(line)->sloped = true;
    }
}

Engine::~Engine() = default;

void Engine::start(std::int64_t start_ns, std::int64_t step_ns) {
    time_ns_ = now_ns_ = start_ns;
    step_ns_ = first_ns_ = step_ns;
    done_ = 0;
    rows_ = 0;
    begin_ = before_ = signals_;
    stretch_ = 0.0;
    last_ns_ = settling_ = 0;
    for (auto& history : histories_) {
        history.start(start_ns, signals_[history.slot()]);
    }
    for (auto& loop : loops_) std::fill(loop->memory().begin(), loop->memory().end(), 0.0);
    control_->start(step_ns);
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
                const auto* why = reads_[i].execute(histories_, now_ns_, step_ns_ - first_ns_,
                                                    signals_.data(), slopes_.data());
                reads_[i].detour_ns = 0;  // a fault of the delay says it anew each time
                if (why) {
                    unread_ = why;
                    return i;
                }
            }
            break;
        case Code::push:
            for (auto i = operation.first; i < end && on_grid_; ++i) {
                histories_[i].push(now_ns_ + step_ns_, signals_[histories_[i].slot()]);
            }
            break;
        case Code::blend:
            for (auto i = operation.first; i < end; ++i) {
                const auto& line = mixes_[i];
                const double begin = begin_[line.source];
                const double mean = begin + line.weight * (signals_[line.source] - begin);
                signals_[line.target] = line.factor * mean + line.offset;
            }
            break;
        case Code::extend:
            for (auto i = operation.first; i < end; ++i) {
                const auto& line = mixes_[i];
                const double now = signals_[line.source];
                const double coming = line.weight * stretch_ * (now - before_[line.source]);
                signals_[line.target] = line.factor * (now + coming) + line.offset;
            }
            break;
        case Code::text:
            texts_.copy(operation.first, operation.count);
            break;
        case Code::disturb:
            return disturb(operation);
        case Code::disturb_past:
            if (on_grid_) disturb_past(operation);
            break;
        case Code::tabulate: {
            const auto row = tables_.apply(operation.first, operation.count, signals_);
            if (row >= 0) {
                unread_ = no_entry;
                return static_cast<std::int32_t>(reads_.size()) + row;
            }
            break;
        }
        case Code::step:
        case Code::first_half:
        case Code::second_half:
        case Code::solve:
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

Status Engine::advance(std::int32_t number, Outcome& outcome) {
    // A unit of several ticks is stepped in the last of them.
    const auto begin = now_ns_ - (members_[number].ticks - 1) * step_ns_;
    return move(number, begin, now_ns_ + step_ns_, outcome);
}

Status Engine::move(std::int32_t number, std::int64_t begin, std::int64_t end, Outcome& outcome) {
    const auto& member = members_[number];
    auto& unit = *member.unit;
    const auto row = static_cast<std::size_t>(number);
    const bool has_texts = !texts_.places().empty();
    auto status = unit.set_inputs(signals_.data() + member.inputs);
    if (member.sloped && !failed(status)) {
        status = unit.set_slopes(slopes_.data() + member.inputs);
    }
    if (has_texts && !failed(status)) status = texts_.send(unit, row);
    if (!failed(status)) status = unit.step(begin, end - begin);
    if (!failed(status) && unit.reached().terminate) status = wants_end(outcome);
    if (!failed(status) && unit.reached().time_ns != end) {
        status = other_end(unit.reached(), outcome);
    }
    const bool whole = end == now_ns_ + step_ns_;
    if (whole && !failed(status)) status = collect(member, outcome);
    if (whole && has_texts && !failed(status)) status = texts_.receive(unit, row);
    if (failed(status)) outcome.unit = number;
    return status;
}

Status Engine::halves(const Operation& operation, Outcome& outcome) {
    const auto middle = now_ns_ + step_ns_ / 2;
    for (auto i = operation.first; i < operation.first + operation.count; ++i) {
        auto status = Status::ok;
        if (operation.code == Code::second_half) {
            status = move(i, middle, now_ns_ + step_ns_, outcome);
        } else if (middle > now_ns_) {
            status = move(i, now_ns_, middle, outcome);
        }
        if (failed(status)) return status;
    }
    return Status::ok;
}

Status Engine::execute(std::size_t first, std::size_t end, Outcome& outcome) {
    for (auto i = first; i < end; ++i) {
        const auto& operation = operations_[i];
        if (operation.every != 1 && done_ % operation.every != operation.phase) continue;
        auto status = Status::ok;
        if (operation.code == Code::step) {
            status = crew_->step(*this, operation.first, operation.count, outcome);
        } else if (operation.code == Code::first_half || operation.code == Code::second_half) {
            status = halves(operation, outcome);
        } else if (operation.code == Code::solve) {
            const auto body = i + 1;
            i += static_cast<std::size_t>(operation.count);
            status = loops_[operation.first]->solve(*this, body, i + 1, outcome);
        } else {
            outcome.read = execute_lines(operation);
            if (outcome.read >= 0) {
                outcome.reason = unread_;
                status = Status::error;
            }
        }
        if (failed(status)) return status;
    }
    return Status::ok;
}

Status Engine::sweep(std::int64_t time_ns, std::int64_t step_ns, Outcome& outcome) {
    now_ns_ = time_ns;
    step_ns_ = step_ns;
    if (remembers_) {
        stretch_ = last_ns_ ? static_cast<double>(step_ns) / static_cast<double>(last_ns_) : 0.0;
        begin_ = signals_;
    }
    return execute(0, operations_.size(), outcome);
}

void Engine::accept() {
    if (remembers_) before_ = begin_;
    last_ns_ = settling_ > 0 ? 0 : step_ns_;
    if (settling_ > 0) --settling_;
}

Outcome Engine::run(std::int64_t steps, std::int64_t goal_ns) {
    const auto coming = static_cast<std::size_t>((done_ + steps) / every_ - done_ / every_);
    if (sink_ && rows_ + coming > capacity_) {
        throw std::invalid_argument("run: " + std::to_string(rows_ + coming) +
                                    " rows to record, room for " + std::to_string(capacity_));
    }
    Outcome outcome;
    const bool varies = control_->varies();
    while (outcome.steps < steps && !(varies && time_ns_ >= goal_ns)) {
        std::int64_t taken = 0;
        pass_changes();
        const auto goal = std::min(goal_ns, faults_.next_change(time_ns_));
        outcome.status = events_ ? events_->step(*this, *control_, time_ns_, goal, taken, outcome)
                                 : control_->step(*this, time_ns_, goal, taken, outcome);
        if (failed(outcome.status)) return outcome;
        if (!events_) accept();
        time_ns_ += taken;
        now_ns_ = time_ns_;
        ++done_;
        ++outcome.steps;
        if (done_ % every_ == 0) write_row();
    }
    outcome.status = Status::ok;
    return outcome;
}

}  // namespace softdock
