#include "integration/event_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace softdock {

namespace {

// FMI: the two domains of an indicator are z > 0 and z <= 0.
bool is_positive(double z) { return z > 0.0; }

constexpr int most_trials = 200;
// A part of a communication step over which states are straight lines, and what counts as zero of
// the change over it.
constexpr double small_part = 1e-3, at_zero = 1e-9;
// Without states no error control makes the steps short, so more points are looked at.
constexpr int points_without_states = 16;

}  // namespace

EventSearch::EventSearch(Ode& ode, Integrator& integrator)
    : ode_(ode),
      integrator_(integrator),
      low_(ode.model().indicators()),
      high_(low_),
      trial_(low_),
      x_(ode.size()),
      slopes_(ode.size()),
      positive_(low_.size()) {}

Value EventSearch::start() {
    after_event_ = true;
    rebound_ = nothing;
    const auto status = ode_.model().get_indicators(low_.data());
    if (failed(status)) return status == Status::discard ? Value::none : Value::broken;
    return culprit() < low_.size() ? Value::none : Value::ok;
}

Value EventSearch::expect(std::size_t indicator, double length) {
    const double now = integrator_.time(), *x = integrator_.states();
    auto value = ode_.derivatives(now, x, slopes_.data());
    if (value != Value::ok) return value == Value::none ? ode_.go_to(now, x) : value;
    for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = x[i] + small_part * length * slopes_[i];
    value = ode_.indicators(now, x_.data(), high_.data());
    if (value == Value::broken) return value;
    const double z = low_[indicator], ahead = high_[indicator];
    const bool turns = value == Value::ok && is_positive(z) != is_positive(ahead);
    if (turns && std::fabs(z) <= at_zero * std::fabs(ahead - z)) {
        rebound_ = static_cast<double>(indicator);
    }
    return ode_.go_to(now, x);
}

std::size_t EventSearch::culprit() const {
    const auto unfit = [](double z) { return !std::isfinite(z); };
    for (const auto* values : {&low_, &high_, &trial_}) {
        const auto place = std::find_if(values->begin(), values->end(), unfit);
        if (place != values->end()) return static_cast<std::size_t>(place - values->begin());
    }
    return low_.size();
}

Value EventSearch::look(double time, std::vector<double>& values) {
    if (time >= integrator_.time()) {
        return ode_.indicators(time, integrator_.states(), values.data());
    }
    integrator_.dense(time, x_.data());
    return ode_.indicators(time, x_.data(), values.data());
}

long EventSearch::changed(const std::vector<double>& values) const {
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (is_positive(values[i]) != (positive_[i] != 0)) return static_cast<long>(i);
    }
    return -1;
}

// After an event the points begin close behind it: a ball that bounces low is back before the step
// ends.
Value EventSearch::search(Crossing& crossing) {
    crossing = {};
    const double rebound = std::exchange(rebound_, nothing);
    const double begin = integrator_.time_before(), end = integrator_.time();
    if (low_.empty()) return ode_.go_to(end, integrator_.states());
    for (std::size_t i = 0; i < low_.size(); ++i) positive_[i] = is_positive(low_[i]);
    double low = begin;
    const auto visit = [&](double time) {
        const auto value = look(time, high_);
        if (value != Value::ok) return value;
        if (changed(high_) >= 0) return locate(low, time, crossing);
        low = time;
        low_.swap(high_);
        return Value::ok;
    };
    auto value = Value::ok;
    for (double part = 0x1p-20; after_event_ && part < 0.1; part *= 16.0) {
        value = visit(begin + part * (end - begin));
        if (value != Value::ok || crossing.found) return value;
    }
    after_event_ = false;
    const int pieces = ode_.size() > 0 ? 2 : points_without_states;
    for (int i = 1; i <= pieces; ++i) {
        value = visit(i == pieces ? end : begin + (end - begin) * i / pieces);
        if (value != Value::ok || crossing.found) return value;
    }
    if (rebound != nothing) crossing = {false, true, static_cast<std::size_t>(rebound), end};
    return value;
}

// The earliest moment at which a straight line through the values at both ends changes its sign.
double EventSearch::secant(double low, double high) const {
    double first = high;
    for (std::size_t i = 0; i < low_.size(); ++i) {
        if (is_positive(high_[i]) == (positive_[i] != 0)) continue;
        const double way = low_[i] - high_[i];
        if (way != 0.0) first = std::min(first, low + (high - low) * low_[i] / way);
    }
    return first;
}

// Secants, and a bisection where two of them did not do; both ends close in to some roundings.
Value EventSearch::locate(double low, double high, Crossing& crossing) {
    const double width =
        8.0 * std::numeric_limits<double>::epsilon() * std::max(std::fabs(high), high - low);
    for (int trial = 0; trial < most_trials && high - low > width; ++trial) {
        double middle = trial % 3 == 2 ? 0.5 * (low + high) : secant(low, high);
        if (!std::isfinite(middle)) middle = 0.5 * (low + high);
        middle = std::clamp(middle, low + 0.5 * width, high - 0.5 * width);
        const auto value = look(middle, trial_);
        if (value != Value::ok) return value;
        if (changed(trial_) >= 0) {
            high = middle;
            high_.swap(trial_);
        } else {
            low = middle;
            low_.swap(trial_);
        }
    }
    crossing = {true, false, static_cast<std::size_t>(changed(high_)), high};
    return look(high, high_);
}

}  // namespace softdock
