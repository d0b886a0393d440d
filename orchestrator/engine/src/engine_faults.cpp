// Faults of lines, where the operations of a step let them act.
#include "engine.hpp"
#include "step_control.hpp"

namespace softdock {

// On inputs, after a line has brought its value; on readings, before and after.
std::int32_t Engine::disturb(const Operation& operation) {
    for (auto i = operation.first; i < operation.first + operation.count; ++i) {
        auto& fault = faults_.rows()[i];
        if (fault.effect == Effect::detour) {
            if (fault.acts(now_ns_)) reads_[fault.place].detour_ns = fault.change_ns;
        } else if (fault.effect != Effect::later) {
            auto& value = signals_[fault.place];
            value = fault.apply(value, now_ns_);
        } else if (fault.acts(now_ns_)) {
            const auto* why = reads_[fault.place].execute(histories_, now_ns_, step_ns_ - first_ns_,
                                                          signals_.data(), slopes_.data());
            if (why) {
                unread_ = why;
                return fault.place;
            }
        }
    }
    return -1;
}

// On the newest samples: those of now, or of the end of the step.
void Engine::disturb_past(const Operation& operation) {
    for (auto i = operation.first; i < operation.first + operation.count; ++i) {
        auto& fault = faults_.rows()[i];
        auto& history = histories_[fault.place];
        const auto newest = history.newest_point();
        history.amend(fault.apply(newest.value, newest.time_ns));
    }
}

void Engine::begin_faults() {
    faults_.forget();
    for (const auto& operation : operations_) {
        const auto end = operation.first + operation.count;
        for (auto i = operation.first; i < end; ++i) {
            if (operation.code == Code::disturb) {
                auto& fault = faults_.rows()[i];
                if (fault.effect == Effect::drop) fault.held = signals_[fault.place];
            } else if (operation.code == Code::disturb_past) {
                auto& fault = faults_.rows()[i];
                auto& history = histories_[fault.place];
                const double value = history.newest_point().value;
                history.start(time_ns_, fault.apply(value, time_ns_));
            }
        }
    }
}

void Engine::pass_changes() {
    if (!control_->varies() || !faults_.changes_at(time_ns_)) return;
    settling_ = 1;
    last_ns_ = 0;
    control_->renew();
}

}  // namespace softdock
