// Communication steps that end where events are.
#include <algorithm>

#include "events.hpp"
#include "step_control.hpp"

namespace softdock {

namespace {

// Early returns from one step.
constexpr int most_tries = 100;

}  // namespace

std::int64_t EventPhase::next_ns(const Engine& engine, std::int64_t after_ns,
                                 std::int64_t end_ns) const {
    auto next = end_ns;
    for (std::size_t i = 0; i < parts_.size() && table_.splits; ++i) {
        const auto due = unit(engine, i).due_ns();
        if (due > after_ns) next = std::min(next, due);
    }
    return next;
}

Status EventPhase::step(Engine& engine, StepControl& control, std::int64_t time_ns,
                        std::int64_t goal_ns, std::int64_t& taken_ns, Outcome& outcome) {
    std::fill(ticked_.begin(), ticked_.end(), 0);  // a step that failed may have left some
    forced_ = -1;
    if (control.varies()) {
        const auto goal = next_ns(engine, time_ns, goal_ns);
        const auto status = control.step(engine, time_ns, goal, taken_ns, outcome);
        if (failed(status)) return status;
        engine.accept();
        return handle(engine, time_ns + taken_ns, true, outcome);
    }
    taken_ns = control.rule().first_ns;
    const auto end = time_ns + taken_ns;
    for (auto now = time_ns; now < end;) {
        auto stop = next_ns(engine, now, end);
        auto status = sweep(engine, now, stop, end, outcome);
        if (failed(status)) return status;
        if (stop != end) ++counts_.splits;
        engine.accept();
        now = stop;
        status = handle(engine, now, true, outcome);
        if (failed(status)) return status;
    }
    return Status::ok;
}

// All operations up to `stop_ns`, or to where a unit returns early.
Status EventPhase::sweep(Engine& engine, std::int64_t now_ns, std::int64_t& stop_ns,
                         std::int64_t end_ns, Outcome& outcome) {
    for (int tries = 0;; ++tries) {
        if (table_.early_return) {
            const auto marked = engine.mark(outcome);
            if (failed(marked)) return marked;
        }
        engine.remember(stop_ns == end_ns);
        auto status = engine.sweep(now_ns, stop_ns - now_ns, outcome);
        if (!failed(status) || outcome.early_ns < 0) return status;
        if (tries == most_tries) {
            outcome.reason = "it returns early again and again from the same step";
            return Status::error;
        }
        const auto early = outcome.early_ns;
        ++counts_.early;
        if (early <= now_ns) {
            engine.remember(now_ns == end_ns);
            status = go_back(engine, now_ns, outcome);
        } else {
            stop_ns = early;
            status = engine.rewind(outcome);
        }
        if (failed(status)) return status;
        outcome.early_ns = outcome.unit = -1;
    }
}

// A unit returned at once: it has an event here and now, and the others have not begun the step.
Status EventPhase::go_back(Engine& engine, std::int64_t now_ns, Outcome& outcome) {
    const auto& member = engine.members()[static_cast<std::size_t>(outcome.unit)];
    const auto first = static_cast<std::ptrdiff_t>(member.inputs);
    const auto count = member.unit->input_count();
    forced_ = outcome.unit;
    std::copy_n(engine.signals().begin() + first, count, inputs_.begin());
    auto status = engine.rewind(outcome, forced_);
    if (failed(status)) return status;
    std::copy_n(inputs_.begin(), count, engine.signals().begin() + first);
    return handle(engine, now_ns, false, outcome);
}

}  // namespace softdock
