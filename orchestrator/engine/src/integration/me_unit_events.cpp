// What happens to a Model Exchange unit at an instant, and what is said where it cannot go on.
#include <algorithm>
#include <cmath>

#include "integration/me_unit.hpp"

namespace softdock {

namespace {

constexpr int most_own_rounds = 1000;

std::string indicator_text(std::size_t indicator) {
    return "event indicator number " + std::to_string(indicator);
}

}  // namespace

Status MeUnit::start(std::int64_t time_ns) {
    failure_.clear();
    const double now = to_seconds(time_ns);
    integrator_->set_time(now);
    ode_.set_inputs(now, inputs_.data(), {});
    running_ = event_mode_ = true;
    auto status = ode_.read_nominals();
    if (!failed(status)) status = model_.get_states(integrator_->states());
    if (failed(status)) return pass(status);
    integrator_->restart();
    status = happen(Cause::jump, 0);
    while (!failed(status) && !ended_ && has_next_ && next_ <= now) {
        status = happen(Cause::time, 0);
    }
    return status;
}

Status MeUnit::happen(Cause cause, std::size_t indicator) {
    auto status = expect_event();
    if (!failed(status)) status = watch(cause, indicator);
    EventUpdate sum;
    if (!failed(status)) status = iterate(sum);
    if (failed(status)) return status;
    if (sum.terminate) {
        ended_ = true;
        return Status::ok;
    }
    return leave_event_mode(sum, cause, indicator);
}

// Updates discrete states until nothing asks for more.
Status MeUnit::iterate(EventUpdate& sum) {
    EventUpdate update;
    for (int round = 0; round < most_own_rounds; ++round) {
        const auto status = model_.update_discrete(update);
        if (failed(status)) return pass(status);
        sum.nominals_changed |= update.nominals_changed;
        sum.states_changed |= update.states_changed;
        sum.terminate |= update.terminate;
        sum.has_next = update.has_next;
        sum.next = update.next;
        if (!update.again || update.terminate) return Status::ok;
    }
    return fail(Status::error, "the event at t = " + number(integrator_->time()) +
                                   " s does not end: after " + std::to_string(most_own_rounds) +
                                   " iterations its discrete states still change");
}

Status MeUnit::leave_event_mode(const EventUpdate& sum, Cause cause, std::size_t indicator) {
    auto status = model_.enter_continuous_mode();
    if (failed(status)) return pass(status);
    event_mode_ = false;
    has_next_ = sum.has_next;
    next_ = sum.next;
    if (has_next_ && !std::isfinite(next_)) {
        return fail(Status::error, "its next event time is " + number(next_) +
                                       ", at t = " + number(integrator_->time()) + " s");
    }
    if (sum.nominals_changed) status = ode_.read_nominals();
    if (!failed(status) && sum.states_changed) status = model_.get_states(integrator_->states());
    if (failed(status)) return pass(status);
    if (cause != Cause::jump || sum.states_changed) integrator_->restart();
    auto value = search_.start();
    if (value == Value::ok && cause == Cause::state && sum.states_changed) {
        value = search_.expect(indicator, length_);
    }
    if (value == Value::broken) return pass(Status::error);
    return value == Value::none ? unfit_indicator() : Status::ok;
}

Status MeUnit::watch(Cause cause, std::size_t indicator) {
    if (cause == Cause::jump) return Status::ok;
    const double now = integrator_->time();
    const auto crowd = watch_.count(now, length_, cause == Cause::state);
    if (crowd == Crowd::none) return Status::ok;
    if (crowd == Crowd::accumulation) return accumulates(indicator);
    const std::string last = cause == Cause::state  ? indicator_text(indicator)
                             : cause == Cause::time ? "a time event"
                                                    : "the end of an internal step";
    return fail(Status::error, "chattering at t = " + number(now) + " s: " + number(watch_.crowd) +
                                   " events within " + number(now - watch_.crowd_since) +
                                   " s, the last at " + last + "; give the switching a hysteresis");
}

Status MeUnit::accumulates(std::size_t indicator) {
    return fail(Status::error, "events accumulate before t = " + number(integrator_->time()) +
                                   " s, closer than can be told apart, the last at " +
                                   indicator_text(indicator) +
                                   "; let the motion come to rest below some speed");
}

Status MeUnit::unfit_indicator() {
    return fail(Status::error, indicator_text(search_.culprit()) +
                                   " is not finite (NaN or infinite) near t = " +
                                   number(integrator_->time()) + " s");
}

// No internal step is short enough: says which state it is about.
Status MeUnit::stuck() {
    const double now = integrator_->time(), *x = integrator_->states();
    const auto n = ode_.size();
    const std::string said = model_.unit().failure(), end = said.empty() ? "" : ": " + said;
    const auto missing = ode_.missing();
    if (missing.there) {
        return fail(Status::error,
                    "no step from t = " + number(now) +
                        " s is short enough for finite derivatives: that of state '" +
                        names_[missing.state] + "' is " + number(missing.value) +
                        " at t = " + number(missing.time) + " s" + end);
    }
    std::vector<double> slopes(n, 0.0);
    ode_.derivatives(now, x, slopes.data());
    std::size_t culprit = 0;
    double worst = -1.0;
    for (std::size_t i = 0; i < n; ++i) {
        const double size = std::fabs(slopes[i]) / ode_.scale(i, x[i], 0.0);
        if (size <= worst) continue;
        worst = size;
        culprit = i;
    }
    return fail(Status::error, "the internal step has fallen to " + number(integrator_->step()) +
                                   " s at t = " + number(now) + " s, where state '" +
                                   names_[culprit] + "' (now " + number(x[culprit]) +
                                   ") changes too fast, by " + number(slopes[culprit]) +
                                   " per second" + end);
}

}  // namespace softdock
