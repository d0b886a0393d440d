// One line of a system that is read from a history.
#pragma once

#include <cstdint>
#include <vector>

#include "core/history.hpp"

namespace softdock {

// target = factor * (value of the history at the step's time + shift) + offset. With a span, the
// slope of the target is that from there to `span` later. A smoothed line starts where it ended
// the last time and ends at shift + span; without a span its target is the mean of the two. A
// history that is read by slerp stands for four, and so does the target. With an order, the target
// follows the history over the whole span: a polynomial of that order, which ends where the history
// does if `keeps_end`, and else has its mean and its moments.
struct Read {
    std::int32_t history, target;
    std::int64_t shift_ns, span_ns;
    double factor, offset;
    // Where steps differ in length: how much later it is read, for each nanosecond by which a step
    // is longer than the first.
    double share = 0.0;
    std::int32_t order = 0;
    std::int32_t keeps_end = 0;  // a flag
    // How much later it is read this once, for a fault of the delay: negative where that is longer.
    std::int64_t fault_ns = 0;

    // Null, or why the line cannot be read. `signals` and `derivatives` are whole buffers.
    // `excess_ns` is the step's length less that of the first.
    const char* execute(std::vector<History>& histories, std::int64_t now_ns,
                        std::int64_t excess_ns, std::vector<double>& signals,
                        std::vector<double>& derivatives) const;

  private:
    const char* turn(std::vector<History>& histories, std::int64_t begin_ns, std::int64_t now_ns,
                     double* signals) const;
    const char* follow(History& past, std::int64_t begin_ns, std::int64_t length_ns,
                       std::int64_t now_ns, std::vector<double>& signals,
                       std::vector<double>& derivatives) const;
};

}  // namespace softdock
