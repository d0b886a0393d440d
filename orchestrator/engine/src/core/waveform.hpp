// A signal over a step: a polynomial in the time since its begin.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/interpolation.hpp"

namespace softdock {

// Highest derivative of an input that a unit is given.
constexpr int most_order = 3;

// Derivatives of all inputs of a unit at the begin of a step, per second, per second squared, ..:
// number k (1 to order) of input i. They hold for one step.
struct InputDerivatives {
    const double* first = nullptr;
    std::size_t stride = 0;
    int order = 0;

    const double* of(int k) const { return first + static_cast<std::size_t>(k - 1) * stride; }
};

// u(t) = value + u' t + u'' t^2 / 2 + u''' t^3 / 6
struct Waveform {
    double value = 0.0;
    double derivatives[most_order] = {0.0, 0.0, 0.0};

    double at(double seconds) const;
    // The nearest of a lower order over a step of that length, with the same mean and the same
    // moments, as far as there are coefficients; or, with `keeps_end`, with the values at both
    // ends.
    Waveform reduced(double seconds, int order, bool keeps_end) const;
};

// Points that a curve goes through.
constexpr std::size_t most_points = 6;

// What each point counts in the cubic over a span. On a grid that is the same step after step, and
// is not made again.
struct CurveWeights {
    std::size_t count = 0;
    std::int64_t span_ns = 0;
    bool keeps_end = false;
    std::int64_t since_ns[most_points] = {};      // since the begin of the span
    double of[most_points][most_order + 1] = {};  // in the value and in each derivative

    bool are_of(const Point* points, std::size_t count, std::int64_t begin_ns, std::int64_t span_ns,
                bool keeps_end) const;
    void make(const Point* points, std::size_t count, std::int64_t begin_ns, std::int64_t span_ns,
              bool keeps_end);
};

// The polynomial through one to six points of different times, over a span that begins at
// `begin_ns` as the nearest cubic: with the same mean and the same moments up to the third, or,
// with `keeps_end`, the same values at both ends, mean and first moment.
Waveform through(const Point* points, std::size_t count, std::int64_t begin_ns,
                 std::int64_t span_ns, bool keeps_end, CurveWeights& weights);
// The value of that polynomial at a time.
double value_through(const Point* points, std::size_t count, std::int64_t time_ns);

}  // namespace softdock
