// Values between samples, and a little ahead of them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace softdock {

struct Point {
    std::int64_t time_ns = 0;
    double value = 0.0;
};

// The samples that a reading is made from, in order of time; `low` and `high` are always there.
struct Around {
    Point before, low, high, after;
    bool has_before = false, has_after = false;
    bool beyond = false;  // the time lies after `high`, the newest there is
};

// Where a time lies between two: 0 at low, 1 at high, above 1 beyond.
double share_of(const Around& around, std::int64_t time_ns);

// On the straight line through low and high.
double on_line(const Around& around, std::int64_t time_ns);

// On the parabola through before, low and high; on the line if there is nothing before.
double on_parabola(const Around& around, std::int64_t time_ns);

// On the cubic between low and high whose slopes there are those of the parabolas through each
// sample and its two neighbours.
double on_cubic(const Around& around, std::int64_t time_ns);

// On the shorter great arc between two quaternions (four numbers each), normalised. False if one
// of them has no length.
bool on_arc(const double* low, const double* high, double share, double* result);

}  // namespace softdock
