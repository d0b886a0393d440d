#include "core/waveform.hpp"

namespace softdock {

double Waveform::at(double seconds) const {
    const double* d = derivatives;
    return moved(value, seconds * (d[0] + seconds * (d[1] / 2.0 + seconds * (d[2] / 6.0))));
}

// By projection onto the polynomials of Legendre over the step: what is left out has no mean, and
// no moment up to the order that is kept.
Waveform Waveform::reduced(double seconds, int order, bool keeps_end) const {
    if (order >= most_order) return *this;
    const double h = seconds;
    const double square = derivatives[1] / 2.0, cube = derivatives[2] / 6.0;
    Waveform found{value, {derivatives[0], 0.0, 0.0}};
    if (order >= 2) {
        // t^3 ~ 3/2 h t^2 - 3/5 h^2 t + h^3 / 20; through both ends: 3/2 h t^2 - 1/2 h^2 t
        found.derivatives[1] = derivatives[1] + 3.0 * h * cube;
        found.derivatives[0] -= (keeps_end ? 0.5 : 0.6) * h * h * cube;
        if (!keeps_end) found.value = moved(value, h * h * h * cube / 20.0);
    } else {
        // t^2 ~ h t - h^2 / 6, t^3 ~ 9/10 h^2 t - h^3 / 5; through both ends: h t, h^2 t
        found.derivatives[0] += h * square + (keeps_end ? 1.0 : 0.9) * h * h * cube;
        if (!keeps_end) found.value = moved(value, -(h * h * (square / 6.0 + h * cube / 5.0)));
    }
    return found;
}

namespace {

// x^4 and x^5 on [0, 1] as cubics: what is left out is the polynomial of Legendre, or, with the
// ends kept, x (x - 1) times one that has no mean and no first moment with that weight.
constexpr double fourth[2][4] = {{-1.0 / 70.0, 2.0 / 7.0, -9.0 / 7.0, 2.0},
                                 {0.0, 1.0 / 5.0, -6.0 / 5.0, 2.0}};
constexpr double fifth[2][4] = {{-2.0 / 63.0, 25.0 / 42.0, -50.0 / 21.0, 25.0 / 9.0},
                                {0.0, 3.0 / 7.0, -16.0 / 7.0, 20.0 / 7.0}};

// In powers of x, the polynomial that is 1 at point number i and 0 at the others.
void lagrange(const double* x, std::size_t count, std::size_t i, double* powers) {
    double scale = 1.0;
    powers[0] = 1.0;
    for (std::size_t k = 1; k < most_points; ++k) powers[k] = 0.0;
    for (std::size_t j = 0; j < count; ++j) {
        if (j == i) continue;
        for (auto k = most_points - 1; k > 0; --k) powers[k] = powers[k - 1] - x[j] * powers[k];
        powers[0] = -x[j] * powers[0];
        scale *= x[i] - x[j];
    }
    for (std::size_t k = 0; k < most_points; ++k) powers[k] /= scale;
}

}  // namespace

bool CurveWeights::are_of(const std::int64_t* times_ns, const Span& span) const {
    std::int64_t apart = span.length_ns ^ length_ns_;
    for (std::size_t i = 0; i < count_; ++i) apart |= (times_ns[i] - span.begin_ns) ^ since_ns_[i];
    return apart == 0 && span.keeps_end == keeps_end_;
}

void CurveWeights::make(const Points& points, const Span& span) {
    if (points.count == count_ && are_of(points.times_ns, span)) return;
    count_ = points.count;
    length_ns_ = span.length_ns;
    keeps_end_ = span.keeps_end;
    const auto length = static_cast<double>(length_ns_);
    double x[most_points], powers[most_points];
    for (std::size_t i = 0; i < count_; ++i) {
        since_ns_[i] = points.times_ns[i] - span.begin_ns;
        x[i] = static_cast<double>(since_ns_[i]) / length;
    }
    const auto& x4 = fourth[keeps_end_];
    const auto& x5 = fifth[keeps_end_];
    for (std::size_t i = 0; i < count_; ++i) {
        lagrange(x, count_, i, powers);
        double scale = 1.0;
        for (int k = 0; k <= most_order; ++k) {
            if (k) scale *= static_cast<double>(k) * (1e9 / length);
            of_[i][k / 2][k % 2] = scale * (powers[k] + (powers[4] * x4[k] + powers[5] * x5[k]));
        }
    }
}

Waveform CurveWeights::through(const double* values) const {
    // Less one of them, so that what they have in common is not rounded.
    const double common = values[count_ / 2];
    Pair low = {0.0, 0.0}, high = {0.0, 0.0};
    for (std::size_t i = 0; i < count_; ++i) {
        const double less = values[i] - common;
        low += of_[i][0] * less;
        high += of_[i][1] * less;
    }
    return {moved(common, low[0]), {low[1], high[0], high[1]}};
}

// By Newton's divided differences.
double value_through(const Points& points, std::int64_t time_ns) {
    double t[most_points], c[most_points];
    for (std::size_t i = 0; i < points.count; ++i) {
        t[i] = static_cast<double>(points.times_ns[i] - time_ns) / 1e9;
        c[i] = points.values[i];
        if (points.times_ns[i] == time_ns) return c[i];
    }
    for (std::size_t k = 1; k < points.count; ++k) {
        for (auto i = points.count - 1; i >= k; --i) c[i] = (c[i] - c[i - 1]) / (t[i] - t[i - k]);
    }
    double value = c[points.count - 1];
    for (auto i = points.count - 1; i > 0; --i) value = moved(c[i - 1], -(t[i - 1] * value));
    return value;
}

}  // namespace softdock
