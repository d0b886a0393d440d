#include "pacing/tick_clock.hpp"

#include <algorithm>

namespace softdock {

namespace {

// A signal that comes just before a wait begins is seen after so long at most.
constexpr std::int64_t longest_wait_ns = 100'000'000;

}  // namespace

void TickClock::start() {
    count_ = counter_.count();
    ticks_ = skipped_ = 0;
    asked_tick_ = -1;
    latest_ns_ = now_ns();
    drift_ = DriftEstimate(silence_ns_);
}

// The tick of an offset, counted from 1.
std::int64_t TickClock::tick_of(std::int64_t offset_ns) const {
    return 1 + skipped_ + (offset_ns + period_ns_ - 1) / period_ns_;
}

// Takes what has come; moments are known of the last ticks only, but no wait misses so many.
void TickClock::look() {
    const auto count = counter_.count();
    for (auto tick = count_; tick != count;) {
        ++tick;
        ++ticks_;
        if (count - tick >= TickCounter::kept / 2) continue;
        latest_ns_ = counter_.arrived_ns(tick);
        drift_.add(ticks_ * period_ns_, latest_ns_);
        if (ticks_ == asked_tick_) asked_ns_ = latest_ns_;
    }
    count_ = count;
}

Wake TickClock::wait_until(std::int64_t offset_ns, const SignalWatch& signals) {
    const auto asked = tick_of(offset_ns);
    const auto known = asked == asked_tick_;
    asked_tick_ = asked;
    if (!known) asked_ns_ = latest_ns_ + (asked - ticks_) * period_ns_;
    look();
    for (auto heard = now_ns(); ticks_ < asked;) {
        if (signals.caught()) return Wake::interrupted;
        const auto left = heard + timeout_ns_ - now_ns();
        if (left <= 0) return Wake::silent;
        counter_.wait(count_, std::min(left, longest_wait_ns));
        const auto before = ticks_;
        look();
        if (ticks_ != before) heard = now_ns();
    }
    return signals.caught() ? Wake::interrupted : Wake::ready;
}

std::int64_t TickClock::due_ns(std::int64_t offset_ns) {
    const auto asked = tick_of(offset_ns);
    if (asked == asked_tick_) return asked_ns_;
    return latest_ns_ + (asked - ticks_) * period_ns_;
}

std::int64_t TickClock::slip(std::int64_t ns) {
    const auto ticks = (ns + period_ns_ - 1) / period_ns_;
    skipped_ += ticks;
    return ticks * period_ns_;
}

}  // namespace softdock
