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

void measure(const Point* points, std::int64_t begin_ns, Spacing& spacing) {
    double* t = spacing.t;
    for (std::size_t i = 0; i < 4; ++i) {
        spacing.since_ns[i] = points[i].time_ns - begin_ns;
        t[i] = static_cast<double>(spacing.since_ns[i]) / 1e9;
    }
    for (std::size_t i = 0; i < 3; ++i) spacing.first[i] = 1.0 / (t[i + 1] - t[i]);
    for (std::size_t i = 0; i < 2; ++i) spacing.second[i] = 1.0 / (t[i + 2] - t[i]);
    spacing.third = 1.0 / (t[3] - t[0]);
}

bool is_measured(const Point* points, std::int64_t begin_ns, const Spacing& spacing) {
    const std::int64_t* since = spacing.since_ns;
    return points[0].time_ns - begin_ns == since[0] && points[1].time_ns - begin_ns == since[1] &&
           points[2].time_ns - begin_ns == since[2] && points[3].time_ns - begin_ns == since[3];
}

// Newton's polynomial in powers of the time since the begin.
Waveform in_powers(const double* t, double c0, double c1, double c2, double c3) {
    Waveform found;
    found.value = c0 - t[0] * (c1 - t[1] * (c2 - t[2] * c3));
    found.derivatives[0] = c1 - c2 * (t[0] + t[1]) + c3 * (t[0] * t[1] + t[0] * t[2] + t[1] * t[2]);
    found.derivatives[1] = 2.0 * (c2 - c3 * (t[0] + t[1] + t[2]));
    found.derivatives[2] = 6.0 * c3;
    return found;
}

}  // namespace

// By Newton's divided differences.
Waveform through(const Point* points, std::size_t count, std::int64_t begin_ns) {
    double t[4] = {0.0, 0.0, 0.0, 0.0}, c[4] = {0.0, 0.0, 0.0, 0.0};
    for (std::size_t i = 0; i < count; ++i) {
        t[i] = static_cast<double>(points[i].time_ns - begin_ns) / 1e9;
        c[i] = points[i].value;
    }
    for (std::size_t k = 1; k < count; ++k) {
        for (auto i = count - 1; i >= k; --i) c[i] = (c[i] - c[i - 1]) * (1.0 / (t[i] - t[i - k]));
    }
    return in_powers(t, c[0], c[1], c[2], c[3]);
}

Waveform through(const Point* points, std::int64_t begin_ns, Spacing& spacing) {
    if (!is_measured(points, begin_ns, spacing)) measure(points, begin_ns, spacing);
    const double a1 = (points[1].value - points[0].value) * spacing.first[0];
    const double a2 = (points[2].value - points[1].value) * spacing.first[1];
    const double a3 = (points[3].value - points[2].value) * spacing.first[2];
    const double b2 = (a2 - a1) * spacing.second[0];
    const double b3 = (a3 - a2) * spacing.second[1];
    return in_powers(spacing.t, points[0].value, a1, b2, (b3 - b2) * spacing.third);
}

}  // namespace softdock
