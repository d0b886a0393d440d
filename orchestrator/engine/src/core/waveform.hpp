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

// Where four points lie before and after the begin of a waveform. On a grid that is the same step
// after step, and its divisions are not done again.
struct Spacing {
    std::int64_t since_ns[4] = {0, 0, 0, 0};
    double t[4] = {0.0, 0.0, 0.0, 0.0};    // the same in seconds
    double first[3] = {}, second[2] = {};  // 1 / distance of neighbours, and of those two apart
    double third = 0.0;
};

// Through one to four points of different times; the time of the waveform begins at `begin_ns`.
Waveform through(const Point* points, std::size_t count, std::int64_t begin_ns);
// The same for four points, whose spacing is brought up to date.
Waveform through(const Point* points, std::int64_t begin_ns, Spacing& spacing);

}  // namespace softdock
