#include "algorithms/step_executor.hpp"

#include "core/exchange.hpp"
#include "core/output_correction.hpp"
#include "core/unit_steps.hpp"

namespace softdock {

namespace {

// Saved states of units: number 0 is what a loop goes back to, 1 what a step goes back to.
constexpr std::size_t step_number = 1;

std::unique_ptr<LoopSolver> make_solver(const Loop& loop, std::int32_t number) {
    if (loop.method >= Loop::Method::newton) return make_newton(loop, number);
    return make_fixed_point(loop, number);
}

}  // namespace

StepExecutor::StepExecutor(Context& context, const std::vector<Loop>& loops, std::size_t threads)
    : context_(context),
      stepper_(threads),
      saved_signals_(context.signals.size()),
      saved_newest_(context.histories.size()) {
    for (std::size_t i = 0; i < loops.size(); ++i) {
        loops_.push_back(make_solver(loops[i], static_cast<std::int32_t>(i)));
    }
}

Status StepExecutor::execute_step(std::int64_t time_ns, std::int64_t step_ns, Outcome& outcome) {
    context_.begin_step(time_ns, step_ns);
    return execute(0, context_.operations.size(), outcome);
}

Status StepExecutor::execute(std::size_t first, std::size_t end, Outcome& outcome) {
    const FloatWatch watch(context_.reads_modes || context_.done == 0);
    const auto status = execute(first, end, watch, outcome);
    if (watch.ended_otherwise()) context_.reads_modes = true;
    return status;
}

Status StepExecutor::execute(std::size_t first, std::size_t end, const FloatWatch& watch,
                             Outcome& outcome) {
    for (auto i = first; i < end; ++i) {
        const auto& operation = context_.operations[i];
        if (operation.every != 1 && context_.done % operation.every != operation.phase) continue;
        auto status = Status::ok;
        if (operation.code == Code::step) {
            status = stepper_.step(context_, operation.first, operation.count, watch, outcome);
        } else if (operation.code == Code::first_half || operation.code == Code::second_half) {
            status = step_halves(context_, operation, watch, outcome);
        } else if (operation.code == Code::correct) {
            status = correct_outputs(context_, operation, outcome);
        } else if (operation.code == Code::solve) {
            const auto body = i + 1;
            i += static_cast<std::size_t>(operation.count);
            status = loops_[operation.first]->solve(*this, body, i + 1, outcome);
        } else {
            outcome.read = execute_lines(context_, operation);
            if (outcome.read >= 0) {
                outcome.failure.kind = FailureKind::unread;
                outcome.failure.text = context_.read_error;
                status = Status::error;
            }
        }
        if (failed(status)) return status;
    }
    return Status::ok;
}

Status StepExecutor::save(Outcome& outcome) {
    for (std::size_t i = 0; i < context_.members.size(); ++i) {
        const auto status = save_unit(context_, static_cast<std::int32_t>(i), step_number, outcome);
        if (failed(status)) return status;
    }
    saved_signals_ = context_.signals;
    saved_texts_ = context_.texts.buffer();
    for (std::size_t i = 0; i < saved_newest_.size(); ++i) {
        saved_newest_[i] = context_.histories[i].newest();
    }
    return Status::ok;
}

Status StepExecutor::restore(Outcome& outcome, std::int32_t but) {
    for (std::size_t i = 0; i < context_.members.size(); ++i) {
        if (static_cast<std::int32_t>(i) == but) continue;
        const auto status =
            restore_unit(context_, static_cast<std::int32_t>(i), step_number, outcome);
        if (failed(status)) return status;
    }
    context_.signals = saved_signals_;
    context_.texts.buffer() = saved_texts_;
    for (std::size_t i = 0; i < saved_newest_.size(); ++i) {
        context_.histories[i].rewind(saved_newest_[i]);
    }
    return Status::ok;
}

}  // namespace softdock
