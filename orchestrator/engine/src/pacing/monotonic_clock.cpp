#include "pacing/monotonic_clock.hpp"

#include <algorithm>

#include "host/real_time.hpp"

namespace softdock {

namespace {

// A signal that comes just before a sleep begins is seen after so long at most.
constexpr std::int64_t longest_sleep_ns = 100'000'000;

}  // namespace

Wake MonotonicClock::wait_until(std::int64_t offset_ns, const SignalWatch& signals) {
    const auto due = due_ns(offset_ns);
    for (auto now = now_ns(); now < due; now = now_ns()) {
        if (signals.caught()) return Wake::interrupted;
        sleep_until(std::min(due, now + longest_sleep_ns));
    }
    return signals.caught() ? Wake::interrupted : Wake::ready;
}

}  // namespace softdock
