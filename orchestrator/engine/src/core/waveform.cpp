#include "core/waveform.hpp"

namespace softdock {

double Waveform::at(double seconds) const {
    const double* d = derivatives;
    return value + seconds * (d[0] + seconds * (d[1] / 2.0 + seconds * (d[2] / 6.0)));
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
        if (!keeps_end) found.value += h * h * h * cube / 20.0;
    } else {
        // t^2 ~ h t - h^2 / 6, t^3 ~ 9/10 h^2 t - h^3 / 5; through both ends: h t, h^2 t
        found.derivatives[0] += h * square + (keeps_end ? 1.0 : 0.9) * h * h * cube;
        if (!keeps_end) found.value -= h * h * (square / 6.0 + h * cube / 5.0);
    }
    return found;
}

namespace {

// The differences of four points without a loop, so that they stay in registers.
void divide_four(const double* t, double* c) {
    const double c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3];
    const double a1 = (c1 - c0) / (t[1] - t[0]);
    const double a2 = (c2 - c1) / (t[2] - t[1]);
    const double a3 = (c3 - c2) / (t[3] - t[2]);
    const double b2 = (a2 - a1) / (t[2] - t[0]);
    const double b3 = (a3 - a2) / (t[3] - t[1]);
    c[1] = a1;
    c[2] = b2;
    c[3] = (b3 - b2) / (t[3] - t[0]);
}

}  // namespace

// By Newton's divided differences, then in powers of the time since the begin.
Waveform through(const Point* points, std::size_t count, std::int64_t begin_ns) {
    double t[4] = {0.0, 0.0, 0.0, 0.0}, c[4] = {0.0, 0.0, 0.0, 0.0};
    for (std::size_t i = 0; i < count; ++i) {
        t[i] = static_cast<double>(points[i].time_ns - begin_ns) / 1e9;
        c[i] = points[i].value;
    }
    if (count == 4) {
        divide_four(t, c);
    } else {
        for (std::size_t k = 1; k < count; ++k) {
            for (auto i = count - 1; i >= k; --i) c[i] = (c[i] - c[i - 1]) / (t[i] - t[i - k]);
        }
    }
    Waveform found;
    found.value = c[0] - t[0] * (c[1] - t[1] * (c[2] - t[2] * c[3]));
    found.derivatives[0] =
        c[1] - c[2] * (t[0] + t[1]) + c[3] * (t[0] * t[1] + t[0] * t[2] + t[1] * t[2]);
    found.derivatives[1] = 2.0 * (c[2] - c[3] * (t[0] + t[1] + t[2]));
    found.derivatives[2] = 6.0 * c[3];
    return found;
}

}  // namespace softdock
