// The event mode of an FMI 3.0 unit, and its clocks.
#include <algorithm>
#include <utility>

#include "fmi/fmu3.hpp"

namespace softdock {

namespace {

// An FMU that asks so often for another update at one moment does not come to rest.
constexpr int most_updates = 1000;

}  // namespace

void Fmu3::set_mode(int mode) {
    mode_ = mode;
    event_due_ = false;
    silence();
}

void Fmu3::drive(std::vector<Timer> timers) {
    for (const auto& timer : timers) clocks_.emplace_back(timer.clock, false);
    clock_scheduler_.set(std::move(timers));
}

void Fmu3::silence() {
    for (auto& clock : clocks_) clock.second = false;
}

Status Fmu3::enter_event_mode() {
    if (!options_.event_mode) return cannot("enter an event mode");
    if (mode_ == in_event) return Status::ok;
    failure_.clear();
    const auto status = note(call_.enter_event_mode(instance_));
    if (failed(status)) return status;
    set_mode(in_event);
    return std::max(status, clock_scheduler_.tick(*this));
}

Status Fmu3::update_discrete(Discrete& update) {
    if (!options_.event_mode) return cannot("update discrete states");
    failure_.clear();
    bool nominals = false;
    double next = 0.0;
    const auto status =
        note(call_.update_discrete(instance_, &update.again, &update.terminate, &nominals,
                                   &update.values_changed, &update.has_next, &next));
    if (failed(status)) return status;
    if (update.has_next) update.next_ns = not_before(next);
    clock_scheduler_.set_event(update.has_next, update.next_ns);
    silence();
    return status;
}

Status Fmu3::enter_step_mode() {
    if (!options_.event_mode) return cannot("leave an event mode");
    failure_.clear();
    auto status = clock_scheduler_.read(*this);
    if (!failed(status)) status = std::max(status, note(call_.enter_step_mode(instance_)));
    if (!failed(status)) set_mode(stepping);
    return status;
}

Status Fmu3::settle() {
    for (int count = 0; count < most_updates; ++count) {
        Discrete update;
        const auto status = update_discrete(update);
        if (failed(status)) return status;
        reached_.terminate |= update.terminate;
        if (!update.again) return enter_step_mode();
    }
    return fail("its discrete states do not come to rest: " + std::to_string(most_updates) +
                " updates at one moment");
}

Status Fmu3::exit_initialization() {
    failure_.clear();
    auto status = note(call_.exit_initialization_mode(instance_));
    if (failed(status)) return status;
    set_mode(options_.event_mode ? in_event : stepping);
    if (!options_.event_mode) return status;
    return std::max(status, clock_scheduler_.tick(*this));
}

bool Fmu3::ticks(fmi3ValueReference clock) const {
    return std::find(clocks_.begin(), clocks_.end(), std::make_pair(clock, true)) != clocks_.end();
}

Status Fmu3::set_clock(fmi3ValueReference clock, bool ticks) {
    if (!call_.set_clock) return cannot("take ticks of clocks: it lacks fmi3SetClock");
    failure_.clear();
    const auto status = note(call_.set_clock(instance_, &clock, 1, &ticks));
    for (auto& known : clocks_) {
        if (known.first == clock && !failed(status)) known.second = ticks;
    }
    return status;
}

Status Fmu3::get_clock(fmi3ValueReference clock, bool& ticks) {
    if (!call_.get_clock) return cannot("tell ticks of clocks: it lacks fmi3GetClock");
    failure_.clear();
    const auto status = note(call_.get_clock(instance_, &clock, 1, &ticks));
    // An FMU may tell a tick only once; it lasts until the next update.
    for (auto& known : clocks_) {
        if (known.first == clock && !failed(status)) ticks = known.second |= ticks;
    }
    return status;
}

Status Fmu3::interval(fmi3ValueReference clock, bool fraction, Interval& found) {
    if (fraction ? !call_.get_fraction : !call_.get_interval) return cannot("tell an interval");
    failure_.clear();
    if (!fraction) {
        return note(call_.get_interval(instance_, &clock, 1, &found.seconds, &found.qualifier));
    }
    const auto status = note(call_.get_fraction(instance_, &clock, 1, &found.counter,
                                                &found.resolution, &found.qualifier));
    if (failed(status) || found.qualifier == fmi3IntervalNotYetKnown) return status;
    if (found.resolution == 0) return fail("the interval of a clock has the resolution 0");
    found.seconds = static_cast<double>(found.counter) / static_cast<double>(found.resolution);
    return status;
}

Status Fmu3::shift(fmi3ValueReference clock, double& seconds) {
    if (!call_.get_shift) return cannot("tell the shift of a clock");
    failure_.clear();
    return note(call_.get_shift(instance_, &clock, 1, &seconds));
}

}  // namespace softdock
