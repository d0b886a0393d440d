// A signal over a step: a polynomial in the time since its begin.
#pragma once

#include <cstddef>
#include <cstdint>

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

// A value that moves: one that does not keeps its sign where it is -0.0, which + 0.0 would lose.
inline double moved(double value, double change) { return change == 0.0 ? value : value + change; }

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

// Two numbers that are added and multiplied at once, by the extension of GCC and Clang.
using Pair = double __attribute__((vector_size(16)));

// Points that a curve goes through, one to six, at different times.
constexpr std::size_t most_points = 6;

struct Points {
    const std::int64_t* times_ns;
    const double* values;
    std::size_t count;
};

// Over which span a curve is wanted, and what counts of it: all moments up to the third, or both
// ends and two moments.
struct Span {
    std::int64_t begin_ns, length_ns;
    bool keeps_end;
};

// What each point counts in the cubic over a span. On a grid that is the same step after step, and
// is not made again.
class CurveWeights {
  public:
    // Whether they are those of points at these times, as many as when they were made.
    bool are_of(const std::int64_t* times_ns, const Span& span) const;
    // Returns at once if they are.
    void make(const Points& points, const Span& span);

    // The polynomial through as many points as the nearest cubic over the span.
    Waveform through(const double* values) const;

  private:
    std::size_t count_ = 0;
    std::int64_t length_ns_ = 0;
    bool keeps_end_ = false;
    std::int64_t since_ns_[most_points] = {};  // since the begin of the span
    Pair of_[most_points][2] = {};             // in the value and in each derivative
};

// The value of the polynomial through the points at a time.
double value_through(const Points& points, std::int64_t time_ns);

}  // namespace softdock
