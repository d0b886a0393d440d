// The computer's clock: steps begin at absolute moments, so what one wakes late adds to no other.
#pragma once

#include "pacing/step_clock.hpp"

namespace softdock {

class MonotonicClock : public StepClock {
  public:
    std::int64_t now_ns() override { return softdock::now_ns(); }
    void start() override { start_ns_ = now_ns(); }
    Wake wait_until(std::int64_t offset_ns, const SignalWatch& signals) override;
    std::int64_t due_ns(std::int64_t offset_ns) override { return start_ns_ + offset_ns; }
    std::int64_t slip(std::int64_t ns) override {
        start_ns_ += ns;
        return ns;
    }

  private:
    std::int64_t start_ns_ = 0;
};

}  // namespace softdock
