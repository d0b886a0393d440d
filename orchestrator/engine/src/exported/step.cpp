// Communication steps of an exported system, and why one was not done.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "core/exchange.hpp"
#include "exported/instance.hpp"

namespace softdock {

namespace {

// How far two times in nanoseconds may be apart and still be the same, where one came as a double.
double slack_ns(double seconds) {
    return 0.5 + 4e9 * std::numeric_limits<double>::epsilon() * std::fabs(seconds);
}

// What is said where no step is short enough.
std::string shortest(const Failure& failure) {
    char error[32];
    std::snprintf(error, sizeof error, "%.4g", failure.excess);
    return "a step of " + number(to_seconds(failure.time_ns)) +
           " s, the shortest allowed, still has an error of " + error + " tolerances";
}

}  // namespace

Status SystemInstance::step(double time, double length) {
    if (!expect(stepping, "a step")) return Status::error;
    const auto now_ns = engine_->time_ns();
    if (!std::isfinite(time) || !std::isfinite(length)) {
        return fail("a step from t = " + number(time) + " s of " + number(length) +
                    " s was asked for; expected finite numbers");
    }
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
    if (!(std::fabs(length_ns - taken) <= slack && taken >= 1.0)) {
        return fail("a communication step of " + number(length) + " s was asked for; expected a" +
                    (tables_.varies() ? std::string(" length > 0 s")
                                      : " whole multiple of the system's own step of " +
                                            number(to_seconds(tables_.step_ns)) + " s"));
    }
    if (static_cast<double>(now_ns) + taken > static_cast<double>(reach_ns)) {
        return fail("a step to t = " + number(time + length) +
                    " s was asked for; times of a run end at " + number(to_seconds(reach_ns)) +
                    " s");
    }
    if (ended_at_start_ && engine_->context().done == 0) {
        wants_end_ = true;
        mode_ = terminated;
        return Status::ok;
    }
    const auto held = hold_inputs(now_ns);
    if (failed(held) || wants_end_) return held;
    const auto outcome =
        engine_->run(tables_.varies() ? reach_ns : static_cast<std::int64_t>(count),
                     tables_.varies() ? now_ns + static_cast<std::int64_t>(taken) : reach_ns);
    forward();
    if (failed(outcome.status)) return ended(outcome, engine_->time_ns());
    show_events();
    return Status::ok;
}

// The lines without a delay that lead out, one row each.
void SystemInstance::find_outward() {
    outward_.clear();
    for (const auto& member : tables_.members) {
        if (member.kind != MemberRow::Kind::sink) continue;
        const auto leads_out = [](std::int32_t slot, std::size_t first, std::size_t count) {
            return slot >= 0 && static_cast<std::size_t>(slot) - first < count;
        };
        std::vector<std::int32_t> copied;
        for (std::size_t i = 0; i < tables_.schedule.copies.size(); ++i) {
            const auto target = tables_.schedule.copies[i].target;
            if (!leads_out(target, member.inputs, member.input_count)) continue;
            outward_.push_back({Code::copy, static_cast<std::int32_t>(i), 1});
            copied.push_back(target);
        }
        for (std::size_t i = 0; i < tables_.value_tables.size(); ++i) {
            const auto slot = tables_.value_tables[i].slot;
            if (std::find(copied.begin(), copied.end(), slot) == copied.end()) continue;
            outward_.push_back({Code::lookup, static_cast<std::int32_t>(i), 1});
        }
        for (std::size_t i = 0; i < tables_.text_copies.size(); ++i) {
            const auto target = tables_.text_copies[i].target;
            if (!leads_out(target, member.text_inputs, member.text_input_count)) continue;
            outward_.push_back({Code::text, static_cast<std::int32_t>(i), 1});
        }
    }
}

// Events at the end of a step come after its lines: what they changed is brought out.
void SystemInstance::show_events() {
    if (!tables_.has_events) return;
    for (const auto& line : outward_) execute_lines(engine_->context(), line);
}

// What was set since the last step is the value that the inputs have from this moment on.
Status SystemInstance::hold_inputs(std::int64_t now_ns) {
    if (!source_) return Status::ok;
    engine_->context().set_external(first_signal_, source_->values());
    auto& buffer = engine_->context().texts.buffer();
    for (std::size_t i = 0; i < source_->texts().size(); ++i) {
        buffer[first_text_ + i] = source_->texts()[i];
    }
    auto* events = engine_->events();
    if (!events) return Status::ok;
    Outcome outcome;
    outcome.status = events->change(engine_->context(), now_ns, outcome);
    return failed(outcome.status) ? ended(outcome, now_ns) : Status::ok;
}

Status SystemInstance::ended(const Outcome& outcome, std::int64_t begin_ns) {
    forward();
    if (outcome.failure.kind == FailureKind::run_ended) {
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
    const auto& failure = outcome.failure;
    if (outcome.loop >= 0) {
        std::string who;
        for (const auto& name :
             tables_.schedule.loops[static_cast<std::size_t>(outcome.loop)].sources) {
            who += (who.empty() ? "'" : ", '") + name + "'";
        }
        return "the loop of " + who + " did not converge: export the system with a shorter step," +
               " more iterations or a larger tolerance";
    }
    if (failure.kind == FailureKind::unsettled) {
        return "the events at one instant do not settle";
    }
    if (failure.kind == FailureKind::too_long) return shortest(failure);
    if (outcome.read >= 0) {
        const auto& name = tables_.read_names[static_cast<std::size_t>(outcome.read)];
        return "input '" + name + "': " + failure.text;
    }
    const auto member = static_cast<std::size_t>(outcome.unit);
    auto why = failure.text.empty() ? units_[member]->failure() : failure.text;
    if (failure.kind == FailureKind::output_not_finite) {
        why = "output number " + std::to_string(failure.output) + " is not finite";
    } else if (failure.kind == FailureKind::other_end) {
        why = "reached " + std::to_string(failure.time_ns) + " ns instead of the requested time";
    }
    return "component '" + tables_.name_of(member) +
           "' failed: " + (why.empty() ? "it gave no reason" : why);
}

}  // namespace softdock
