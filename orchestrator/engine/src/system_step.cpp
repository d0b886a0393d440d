// Communication steps of an exported system, and why one was not done.
#include <cmath>
#include <cstdio>
#include <limits>

#include "system_instance.hpp"

namespace softdock {

namespace {

constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max() / 4;

// How far two times in nanoseconds may be apart and still be the same, where one came as a double.
double slack_ns(double seconds) {
    return 0.5 + 4e9 * std::numeric_limits<double>::epsilon() * std::fabs(seconds);
}

// What the control of the step gave up with: its length in ns, and the error in tolerances.
std::string shortest(const std::string& given) {
    double length_ns = 0.0, error = 0.0;
    std::sscanf(given.c_str(), "step %lf %lf", &length_ns, &error);
    return "a step of " + number(length_ns / 1e9) +
           " s, the shortest allowed, still has an error of " + number(error) + " tolerances";
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
             "component '" + tables_.name_of(static_cast<std::size_t>(outcome.unit)) +
                 "' asked for the end of the run");
        return Status::ok;
    }
    mode_ = broken;
    return fail(reason(outcome) + " (in the step from t = " + number(to_seconds(begin_ns)) + " s)");
}

std::string SystemInstance::reason(const Outcome& outcome) const {
    const auto& given = outcome.reason;
    if (outcome.loop >= 0) {
        std::string who;
        for (const auto& name : tables_.loop_names[static_cast<std::size_t>(outcome.loop)]) {
            who += (who.empty() ? "'" : ", '") + name + "'";
        }
        return "the loop of " + who + " did not converge: export the system with a shorter step," +
               " more iterations or a larger tolerance";
    }
    if (given.rfind("events", 0) == 0) return "the events at one instant do not come to an end";
    if (outcome.read >= 0) {
        const auto& name = tables_.read_names[static_cast<std::size_t>(outcome.read)];
        return "input '" + name + "': " + given;
    }
    if (outcome.unit < 0) return shortest(given);
    const auto member = static_cast<std::size_t>(outcome.unit);
    auto why = given.empty() ? units_[member]->failure() : given;
    if (why.rfind("reached ", 0) == 0) why += " ns, another time than it was asked for";
    return "component '" + tables_.name_of(member) +
           "' failed: " + (why.empty() ? "it gave no reason" : why);
}

}  // namespace softdock
