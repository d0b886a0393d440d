// The clock that steps wait for: that of the computer, or a device's.
#pragma once

#include <cstdint>

#include "core/wall_clock.hpp"
#include "host/signal_watch.hpp"
#include "pacing/drift_estimate.hpp"

namespace softdock {

enum class Wake { ready, interrupted, silent };

// Offsets are nanoseconds of a run's wall time since start(), as the clock counts them; moments
// are those of now_ns(), the computer's.
class StepClock : public WallClock {
  public:
    // Offset 0 is now, or as soon as the clock can tell.
    virtual void start() = 0;
    // Returns at that offset, or at once if it has passed; earlier when a signal came, or as
    // `silent` when the clock has stopped.
    virtual Wake wait_until(std::int64_t offset_ns, const SignalWatch& signals) = 0;
    // The moment of an offset: as it was, or as it is expected.
    virtual std::int64_t due_ns(std::int64_t offset_ns) = 0;
    // Moves what is still to come to later, by at least so much; returns by how much.
    virtual std::int64_t slip(std::int64_t ns) = 0;
    // Of the clock against the computer's; without samples where it is the computer's own.
    virtual DriftEstimate drift() { return DriftEstimate(); }
};

}  // namespace softdock
