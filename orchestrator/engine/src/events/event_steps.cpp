// Communication steps that end where events are.
#include <algorithm>

#include "algorithms/step_control.hpp"
#include "algorithms/step_executor.hpp"
#include "events/event_phase.hpp"

namespace softdock {

namespace {

// Early returns from one step.
constexpr int most_tries = 100;

}  // namespace

std::int64_t EventPhase::next_ns(const Context& context, std::int64_t after_ns,
                                 std::int64_t end_ns) const {
    auto next = end_ns;
    for (std::size_t i = 0; i < parts_.size() && table_.splits; ++i) {
        const auto due = unit(context, i).due_ns();
        if (due > after_ns) next = std::min(next, due);
    }
    return next;
}

// Of the events at the end of a step, which is done whatever they come to.
Status EventPhase::last(Status status, const Outcome& outcome) {
    ended_ = failed(status) && outcome.failure.kind == FailureKind::run_ended;
    return status;
}

Status EventPhase::step(StepExecutor& executor, StepControl& control, std::int64_t time_ns,
                        std::int64_t goal_ns, std::int64_t& taken_ns, Outcome& outcome) {
    auto& context = executor.context();
    std::fill(ticked_.begin(), ticked_.end(), 0);  // a step that failed may have left some
    forced_ = ender_ = -1;
    ended_ = false;
    if (control.varies()) {
        const auto goal = next_ns(context, time_ns, goal_ns);
        const auto status = control.step(executor, time_ns, goal, taken_ns, outcome);
        if (failed(status)) return status;
        context.accept_step();
        return last(handle(context, time_ns + taken_ns, true, outcome), outcome);
    }
    taken_ns = context.next_length(control.rule().first_ns);
    const auto end = time_ns + taken_ns;
    for (auto now = time_ns; now < end;) {
        auto stop = next_ns(context, now, end);
        auto status = execute_step(executor, now, stop, end, outcome);
        if (failed(status)) return status;
        if (stop != end) ++counts_.splits;
        context.accept_step();
        now = stop;
        status = handle(context, now, true, outcome);
        if (failed(status)) return now == end ? last(status, outcome) : status;
    }
    return Status::ok;
}

// All operations up to `stop_ns`, or to where a unit returns early.
Status EventPhase::execute_step(StepExecutor& executor, std::int64_t now_ns, std::int64_t& stop_ns,
                                std::int64_t end_ns, Outcome& outcome) {
    for (int tries = 0;; ++tries) {
        if (table_.early_return) {
            const auto saved = executor.save(outcome);
            if (failed(saved)) return saved;
        }
        executor.context().on_grid = stop_ns == end_ns;
        auto status = executor.execute_step(now_ns, stop_ns - now_ns, outcome);
        if (!failed(status) || outcome.early_ns < 0) return status;
        if (tries == most_tries) {
            outcome.failure.kind = FailureKind::early_again;
            outcome.failure.text = "it returns early again and again from the same step";
            return Status::error;
        }
        const auto early = outcome.early_ns;
        ++counts_.early;
        if (early <= now_ns) {
            executor.context().on_grid = now_ns == end_ns;
            status = go_back(executor, now_ns, outcome);
        } else {
            stop_ns = early;
            status = executor.restore(outcome);
        }
        if (failed(status)) return status;
        outcome.early_ns = outcome.unit = -1;
    }
}

// A unit returned at once: it has an event here and now, and the others have not begun the step.
Status EventPhase::go_back(StepExecutor& executor, std::int64_t now_ns, Outcome& outcome) {
    auto& context = executor.context();
    const auto& member = context.members[static_cast<std::size_t>(outcome.unit)];
    const auto first = static_cast<std::ptrdiff_t>(member.inputs);
    const auto count = member.unit->input_count();
    forced_ = outcome.unit;
    std::copy_n(context.signals.begin() + first, count, inputs_.begin());
    auto status = executor.restore(outcome, forced_);
    if (failed(status)) return status;
    std::copy_n(inputs_.begin(), count, context.signals.begin() + first);
    return handle(context, now_ns, false, outcome);
}

}  // namespace softdock
