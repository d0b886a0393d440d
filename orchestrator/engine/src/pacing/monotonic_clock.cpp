#include "pacing/monotonic_clock.hpp"

#include <time.h>

#include <algorithm>

namespace softdock {

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
// A signal that comes just before a sleep begins is seen after so long at most.
constexpr std::int64_t longest_sleep_ns = 100'000'000;

}  // namespace

Wake MonotonicClock::wait_until(std::int64_t offset_ns, const SignalWatch& signals) {
    const auto due = due_ns(offset_ns);
    for (auto now = now_ns(); now < due; now = now_ns()) {
        if (signals.caught()) return Wake::interrupted;
        const auto until = std::min(due, now + longest_sleep_ns);
        const timespec moment{static_cast<time_t>(until / second_ns),
                              static_cast<long>(until % second_ns)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, nullptr);
    }
    return signals.caught() ? Wake::interrupted : Wake::ready;
}

}  // namespace softdock
