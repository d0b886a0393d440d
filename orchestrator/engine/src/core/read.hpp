// One line of a system that is read from a history.
#pragma once

#include <cstdint>
#include <vector>

#include "core/history.hpp"

namespace softdock {

// target = factor * (value of the history at the step's time + shift) + offset. With a span, the
// slope of the target is that from there to `span` later. A smoothed line starts where it ended
// the last time and ends at shift + span; without a span its target is the mean of the two. A
// history that is read by slerp stands for four, and so does the target.
struct Read {
    std::int32_t history, target;
    std::int64_t shift_ns, span_ns;
    double factor, offset;
    // Where steps differ in length: how much later it is read, for each nanosecond by which a step
    // is longer than the first.
    double share = 0.0;
    // How much later it is read this once, for a fault of the delay: negative where that is longer.
    std::int64_t fault_ns = 0;

    // Null, or why the line cannot be read. `signals` and `slopes` (per second) are whole buffers.
    // `excess_ns` is the step's length less that of the first.
    const char* execute(std::vector<History>& histories, std::int64_t now_ns,
                        std::int64_t excess_ns, double* signals, double* slopes) const;

  private:
    const char* turn(std::vector<History>& histories, std::int64_t begin_ns, std::int64_t now_ns,
                     double* signals) const;
};

}  // namespace softdock
