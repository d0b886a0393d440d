// A device's clock: a step begins with each of its ticks.
#pragma once

#include "pacing/step_clock.hpp"
#include "pacing/tick_counter.hpp"

namespace softdock {

class TickClock : public StepClock {
  public:
    // Ticks are `period_ns` apart by the device. When none came for `timeout_ns` no step goes on
    // waiting; one that came by more than `silence_ns` too late says nothing of the clock's pace.
    TickClock(TickCounter& counter, std::int64_t period_ns, std::int64_t timeout_ns,
              std::int64_t silence_ns)
        : counter_(counter),
          period_ns_(period_ns),
          timeout_ns_(timeout_ns),
          silence_ns_(silence_ns),
          drift_(silence_ns) {}

    std::int64_t now_ns() override { return softdock::now_ns(); }
    // Offset 0 is the next tick.
    void start() override;
    Wake wait_until(std::int64_t offset_ns, const SignalWatch& signals) override;
    std::int64_t due_ns(std::int64_t offset_ns) override;
    // By whole ticks, which no step begins with.
    std::int64_t slip(std::int64_t ns) override;
    DriftEstimate drift() override { return drift_; }

  private:
    void look();
    std::int64_t tick_of(std::int64_t offset_ns) const;

    TickCounter& counter_;
    std::int64_t period_ns_, timeout_ns_, silence_ns_;
    std::uint32_t count_ = 0;                      // of the counter when it was looked at last
    std::int64_t ticks_ = 0;                       // since start()
    std::int64_t latest_ns_ = 0;                   // when the last of them arrived
    std::int64_t skipped_ = 0;                     // ticks that were slipped
    std::int64_t asked_ns_ = 0, asked_tick_ = -1;  // when the tick that a step began with arrived
    DriftEstimate drift_;
};

}  // namespace softdock
