// Communication steps of an exported system, and why one was not done.
#include <cmath>
#include <limits>

#include "system_instance.hpp"

namespace softdock {

namespace {

constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max() / 4;

// How far two times in nanoseconds may be apart and still be the same, where one came as a double.
double slack_ns(double seconds) {
    return 0.5 + 4e9 * std::numeric_limits<double>::epsilon() * std::fabs(seconds);
}

}  // namespace

Status SystemInstance::step(double time, double length) {
    if (!expect(stepping, "a step")) return Status::error;
    const auto now_ns = engine_->time_ns();
    const double slack = slack_ns(std::fabs(time) + std::fabs(length));
    if (!(std::fabs(time * 1e9 - static_cast<double>(now_ns)) <= slack)) {
        return fail("a step from t = " + number(time) +
                    " s was asked for, but the system stands at"
                    " t = " +
                    number(to_seconds(now_ns)) + " s");
    }
    const double length_ns = length * 1e9;
    const auto step_ns = static_cast<double>(tables_.step_ns);
    const double count = tables_.varies() ? 1.0 : std::nearbyint(length_ns / step_ns);
    const double taken = tables_.varies() ? std::nearbyint(length_ns) : count * step_ns;
    if (!(std::fabs(length_ns - taken) <= slack && taken >= 1.0 && taken < 9e18)) {
        return fail("a communication step of " + number(length) + " s was asked for; expected a" +
                    (tables_.varies() ? std::string(" length > 0 s")
                                      : " whole multiple of the system's own step of " +
                                            number(to_seconds(tables_.step_ns)) + " s"));
    }
    hold_inputs();
    const auto outcome =
        engine_->run(tables_.varies() ? far : static_cast<std::int64_t>(count),
                     tables_.varies() ? now_ns + static_cast<std::int64_t>(taken) : far);
    forward();
    return failed(outcome.status) ? ended(outcome, engine_->time_ns()) : Status::ok;
}

// What was set since the last step is the value that the inputs have from this moment on.
void SystemInstance::hold_inputs() {
    if (!source_) return;
    engine_->renew(first_signal_, source_->values());
    auto& buffer = engine_->texts().buffer();
    for (std::size_t i = 0; i < source_->texts().size(); ++i) {
        buffer[first_text_ + i] = source_->texts()[i];
    }
}

Status SystemInstance::ended(const Outcome& outcome, std::int64_t begin_ns) {
    forward();
    if (outcome.status == Status::discard && outcome.unit >= 0 &&
        units_[static_cast<std::size_t>(outcome.unit)]->reached().terminate) {
        mode_ = terminated;
        wants_end_ = true;
        log_(Status::ok, "logInner",
             "component '" + units_[static_cast<std::size_t>(outcome.unit)]->name() +
                 "' asked for the end of the run");
        return Status::ok;
    }
    mode_ = broken;
    return fail(reason(outcome) + " (in the step from t = " + number(to_seconds(begin_ns)) + " s)");
}

std::string SystemInstance::reason(const Outcome& outcome) const {
    if (outcome.unit >= 0) {
        const auto& unit = *units_[static_cast<std::size_t>(outcome.unit)];
        auto why = outcome.reason.empty() ? unit.failure() : outcome.reason;
        if (why.rfind("output number ", 0) == 0) why += " is not finite (NaN or infinite)";
        if (why.rfind("reached ", 0) == 0) why += " ns, another time than it was asked for";
        return "component '" + unit.name() +
               "' failed: " + (why.empty() ? "it gave no reason" : why);
    }
    if (outcome.loop >= 0) {
        std::string who;
        for (const auto& name : tables_.loop_names[static_cast<std::size_t>(outcome.loop)]) {
            who += (who.empty() ? "'" : ", '") + name + "'";
        }
        return "the loop of " + who +
               " did not converge: take a shorter step, more iterations or a"
               " larger tolerance when the system is exported";
    }
    if (outcome.read >= 0) {
        const auto& name = tables_.read_names[static_cast<std::size_t>(outcome.read)];
        return "input '" + name + "': " + outcome.reason;
    }
    return outcome.reason;
}

}  // namespace softdock
