#include "core/interpolation.hpp"

#include <cmath>

#include "core/waveform.hpp"

namespace softdock {

namespace {

double width(const Point& from, const Point& to) {
    return static_cast<double>(to.time_ns - from.time_ns);
}

double slope(const Point& from, const Point& to) {
    return (to.value - from.value) / width(from, to);
}

// Second divided difference of three samples.
double bend(const Point& a, const Point& b, const Point& c) {
    return (slope(b, c) - slope(a, b)) / width(a, c);
}

// The line through low and high, bent: by `first` near low, by `second` near high.
double bent(const Around& around, std::int64_t time_ns, double first, double second) {
    const double s = share_of(around, time_ns);
    const double h = width(around.low, around.high);
    const double line = moved(around.low.value, s * (around.high.value - around.low.value));
    return moved(line, -(s * (1.0 - s) * h * h * ((1.0 - s) * first + s * second)));
}

double norm(const double* q) {
    return std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
}

}  // namespace

double share_of(const Around& around, std::int64_t time_ns) {
    const double span = width(around.low, around.high);
    return span > 0.0 ? static_cast<double>(time_ns - around.low.time_ns) / span : 1.0;
}

double on_line(const Around& around, std::int64_t time_ns) {
    const double low = around.low.value;
    return moved(low, share_of(around, time_ns) * (around.high.value - low));
}

double on_parabola(const Around& around, std::int64_t time_ns) {
    if (!around.has_before) return on_line(around, time_ns);
    const double all = bend(around.before, around.low, around.high);
    return bent(around, time_ns, all, all);
}

double on_cubic(const Around& around, std::int64_t time_ns) {
    if (!around.has_before && !around.has_after) return on_line(around, time_ns);
    const double left = around.has_before ? bend(around.before, around.low, around.high) : 0.0;
    const double right = around.has_after ? bend(around.low, around.high, around.after) : left;
    return bent(around, time_ns, around.has_before ? left : right, right);
}

bool on_arc(const double* low, const double* high, double share, double* result) {
    const double low_norm = norm(low), high_norm = norm(high);
    if (!(low_norm > 0.0 && high_norm > 0.0)) return false;
    double dot = 0.0;
    for (std::size_t i = 0; i < 4; ++i) dot += low[i] * high[i];
    // A quaternion and its negative are one rotation: the nearer of the two is meant.
    const double low_scale = 1.0 / low_norm;
    const double high_scale = (dot < 0.0 ? -1.0 : 1.0) / high_norm;
    double apart[4], together[4];
    for (std::size_t i = 0; i < 4; ++i) {
        apart[i] = low[i] * low_scale - high[i] * high_scale;
        together[i] = low[i] * low_scale + high[i] * high_scale;
    }
    const double angle = 2.0 * std::atan2(norm(apart), norm(together));
    double first = 1.0 - share, second = share;
    if (angle > 1e-8) {  // below, the arc is straight to the last bit
        const double whole = std::sin(angle);
        first = std::sin(first * angle) / whole;
        second = std::sin(second * angle) / whole;
    }
    for (std::size_t i = 0; i < 4; ++i) {
        result[i] = first * (low[i] * low_scale) + second * (high[i] * high_scale);
    }
    const double length = norm(result);
    for (std::size_t i = 0; i < 4; ++i) result[i] /= length;
    return true;
}

}  // namespace softdock
