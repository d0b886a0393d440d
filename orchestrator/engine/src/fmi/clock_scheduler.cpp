#include "fmi/clock_scheduler.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "fmi/fmu3.hpp"

namespace softdock {

namespace {

constexpr std::int64_t giga = 1000000000;
constexpr double latest = 4.6e18;  // nanoseconds: 146 years

// A double that stands for whole nanoseconds is off by no more than this.
double slack(double ns) { return 1e-3 + std::fabs(ns) * 4e-16; }

}  // namespace

std::int64_t not_before(double seconds) {
    const double ns = seconds * 1e9;
    if (!(std::fabs(ns) < latest)) return Unit::never;
    const double whole = std::nearbyint(ns);
    return static_cast<std::int64_t>(std::fabs(ns - whole) <= slack(ns) ? whole : std::ceil(ns));
}

std::int64_t multiple_ns(const Interval& period, std::uint64_t n, std::uint64_t more) {
    if (period.resolution == 0) {
        const long double ns = static_cast<long double>(period.seconds) * 1e9L * n;
        return std::fabs(ns) < latest ? std::llround(ns) : Unit::never;
    }
    using Wide = unsigned __int128;
    const Wide total = static_cast<Wide>(period.counter) * n + more;
    const Wide seconds = total / period.resolution, rest = total % period.resolution;
    if (seconds > static_cast<Wide>(latest / 1e9)) return Unit::never;
    const Wide part = (rest * giga + period.resolution / 2) / period.resolution;
    return static_cast<std::int64_t>(seconds) * giga + static_cast<std::int64_t>(part);
}

void ClockScheduler::set(std::vector<Timer> timers) {
    timers_ = std::move(timers);
    row_.assign(first + timers_.size() * width, 0);
    row_[event] = Unit::never;
    for (std::size_t i = 0; i < timers_.size(); ++i) at(i, next) = Unit::never;
}

void ClockScheduler::start(std::int64_t start_ns) {
    set(std::move(timers_));
    reach(start_ns);
    for (std::size_t i = 0; i < timers_.size(); ++i) {
        const auto& timer = timers_[i];
        at(i, origin) = start_ns;
        if (timer.kind == Timer::Kind::countdown) continue;
        if (timer.interval.resolution == 0) at(i, origin) += not_before(timer.shift);
        if (timer.interval.qualifier != fmi3IntervalNotYetKnown) {
            set_period(i, timer.interval, at(i, origin));
        }
        at(i, more) = static_cast<std::int64_t>(timer.shift_counter);
        at(i, next) = at(i, origin) + multiple_ns(timer.interval, 0, timer.shift_counter);
    }
}

Interval ClockScheduler::period(std::size_t timer) {
    Interval found;
    found.counter = static_cast<std::uint64_t>(at(timer, counter));
    found.resolution = static_cast<std::uint64_t>(at(timer, resolution));
    std::memcpy(&found.seconds, &at(timer, decimal), sizeof found.seconds);
    return found;
}

void ClockScheduler::set_period(std::size_t timer, const Interval& found, std::int64_t origin_ns) {
    at(timer, counter) = static_cast<std::int64_t>(found.counter);
    at(timer, resolution) = static_cast<std::int64_t>(found.resolution);
    std::memcpy(&at(timer, decimal), &found.seconds, sizeof found.seconds);
    at(timer, origin) = origin_ns;
    at(timer, ticks) = 0;
    at(timer, known) = 1;
}

std::int64_t ClockScheduler::nth(std::size_t timer, std::int64_t n) {
    return at(timer, origin) + multiple_ns(period(timer), static_cast<std::uint64_t>(n),
                                           static_cast<std::uint64_t>(at(timer, more)));
}

Status ClockScheduler::tick(Fmu3& fmu) {
    auto status = Status::ok;
    for (std::size_t i = 0; i < timers_.size() && !failed(status); ++i) {
        const auto& timer = timers_[i];
        const auto due = at(i, next);
        if (due > row_[now]) continue;
        status = fmu.set_clock(timer.clock, true);
        at(i, next) = Unit::never;
        if (timer.kind == Timer::Kind::countdown) continue;
        if (timer.kind == Timer::Kind::changing || !at(i, known)) {
            at(i, origin) = due;  // the interval from here on is asked for after the update
            at(i, ticks) = at(i, more) = 0;
            continue;
        }
        at(i, next) = nth(i, ++at(i, ticks));
    }
    return status;
}

Status ClockScheduler::read(Fmu3& fmu) {
    auto status = Status::ok;
    for (std::size_t i = 0; i < timers_.size() && !failed(status); ++i) {
        const auto kind = timers_[i].kind;
        if (kind == Timer::Kind::fixed && at(i, known)) continue;
        if (kind == Timer::Kind::changing && at(i, next) != Unit::never) continue;
        status = ask(fmu, i);
    }
    return status;
}

Status ClockScheduler::ask(Fmu3& fmu, std::size_t i) {
    const auto& timer = timers_[i];
    Interval found;
    const auto status = fmu.interval(timer.clock, timer.fraction, found);
    if (failed(status) || found.qualifier == fmi3IntervalNotYetKnown) return status;
    const bool counts_down = timer.kind == Timer::Kind::countdown;
    if (!(found.seconds > 0.0) && !(counts_down && found.seconds == 0.0)) {
        return fmu.fail("the interval of clock " + std::to_string(timer.clock) + " is " +
                        std::to_string(found.seconds) + " s, expected more than 0");
    }
    const bool is_new = found.qualifier == fmi3IntervalChanged;
    if (counts_down) {
        if (is_new) at(i, next) = row_[now] + multiple_ns(found, 1);
        return status;
    }
    if (timer.kind == Timer::Kind::changing) {
        if (is_new || !at(i, known)) set_period(i, found, at(i, origin));
        at(i, next) = at(i, origin) + multiple_ns(period(i), 1);
        return status;
    }
    if (!is_new && at(i, known)) return status;
    // From the last tick on, or from the first that is still to come.
    const bool ticked = at(i, ticks) > 0 || at(i, next) == Unit::never;
    set_period(i, found, at(i, ticks) > 0 ? nth(i, at(i, ticks) - 1) : at(i, origin));
    if (ticked) {
        at(i, more) = 0;
        at(i, ticks) = 1;
        at(i, next) = nth(i, 1);
    }
    return status;
}

void ClockScheduler::set_event(bool is_known, std::int64_t time_ns) {
    row_[event] = is_known ? time_ns : Unit::never;
}

std::int64_t ClockScheduler::due_ns() const {
    auto least = row_[event];
    for (std::size_t i = 0; i < timers_.size(); ++i) {
        least = std::min(least, row_[first + i * width + next]);
    }
    return least;
}

}  // namespace softdock
