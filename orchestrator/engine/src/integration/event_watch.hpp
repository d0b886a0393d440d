// Sees that events end: a hundred at one moment, or gaps that shrink to nothing, never let time
// pass.
#pragma once

namespace softdock {

enum class Crowd { none, chattering, accumulation };

// Plain data: a copy of it is a saved state.
struct EventWatch {
    double crowd_since = 0.0, crowd = 0.0;
    double in_block = 0.0, block_since = 0.0, last_block = 0.0, first_block = 0.0, shrinking = 0.0;

    // Counts an event at a time (seconds) in a communication step of some length (seconds).
    Crowd count(double time, double step, bool state_event);
};

}  // namespace softdock
