// E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd ed., 1993:
// step-size control and starting step II.4, continuous extension II.6. Changed: steps end at
// communication points, and one that was cut there does not shorten the next.
#include "integration/dopri5_integrator.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/dopri5.h"

namespace softdock {

namespace {

constexpr double stage_times[7] = DOPRI5_TIMES;
constexpr double stage_weights[7][6] = DOPRI5_STAGES;
constexpr double error_weights[7] = DOPRI5_ERRORS;
constexpr double quartic_weights[7] = DOPRI5_QUARTIC;
constexpr double rounding = std::numeric_limits<double>::epsilon();

}  // namespace

Dopri5Integrator::Dopri5Integrator(Ode& ode) : Integrator(ode), stage_(x_), next_(x_) {
    for (auto& k : k_) k = x_;
}

// The first stage is always computed anew, so that a run goes on from a saved state bit for bit.
void Dopri5Integrator::begin(double length, bool) {
    length_ = length;
    slope_known_ = false;
}

void Dopri5Integrator::restart() {
    memory_ = {};
    slope_known_ = false;
}

void Dopri5Integrator::restore(const StepMemory& memory) {
    memory_ = memory;
    slope_known_ = false;
}

double Dopri5Integrator::norm(const double* values) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < x_.size(); ++i) {
        const double ratio = values[i] / ode_.scale(i, x_[i], x_[i]);
        sum += ratio * ratio;
    }
    return std::sqrt(sum / static_cast<double>(x_.size()));
}

// The last stage of a step is the first of the next.
Value Dopri5Integrator::first_stage() {
    if (slope_known_) {
        std::swap(k_[0], k_[6]);
        return Value::ok;
    }
    const auto value = ode_.derivatives(time_, x_.data(), k_[0].data());
    slope_known_ = false;
    return value;
}

// A size for the first step, from the derivatives here and a small way ahead.
Value Dopri5Integrator::starting_step(double longest) {
    const double size = norm(x_.data()), slope = norm(k_[0].data());
    double h = size < 1e-5 || slope < 1e-5 ? 1e-6 : 0.01 * size / slope;
    // Where states are nearly 0 and their slopes are not, only rounding would speak.
    h = std::clamp(h, 1024.0 * rounding * std::max(std::fabs(time_), longest), longest);
    for (std::size_t i = 0; i < x_.size(); ++i) stage_[i] = x_[i] + h * k_[0][i];
    const auto value = ode_.derivatives(time_ + h, stage_.data(), k_[1].data());
    if (value != Value::ok) {
        memory_.step = 0.1 * h;
        return value;
    }
    for (std::size_t i = 0; i < x_.size(); ++i) stage_[i] = k_[1][i] - k_[0][i];
    const double steepest = std::max(slope, norm(stage_.data()) / h);
    const double second =
        steepest <= 1e-15 ? std::max(1e-6, 1e-3 * h) : std::pow(0.01 / steepest, 0.2);
    memory_.step = std::isfinite(second) ? std::min({100.0 * h, second, longest}) : h;
    return Value::ok;
}

// One trial step: the new states in next_, and the error in units of what is allowed.
Value Dopri5Integrator::try_step(double h, double& error) {
    const auto n = x_.size();
    for (std::size_t s = 1; s < 7; ++s) {
        auto& target = s == 6 ? next_ : stage_;  // the last stage is the solution
        for (std::size_t i = 0; i < n; ++i) {
            double slope = 0.0;
            for (std::size_t m = 0; m < s; ++m) slope += stage_weights[s][m] * k_[m][i];
            target[i] = x_[i] + h * slope;
        }
        const auto value =
            ode_.derivatives(time_ + stage_times[s] * h, target.data(), k_[s].data());
        if (value != Value::ok) return value;
    }
    double sum = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        double difference = 0.0;
        for (std::size_t s = 0; s < 7; ++s) difference += error_weights[s] * k_[s][i];
        const double ratio = h * difference / ode_.scale(i, x_[i], next_[i]);
        sum += ratio * ratio;
    }
    error = std::sqrt(sum / static_cast<double>(n));
    return std::isfinite(error) ? Value::ok : Value::none;
}

// The next size. A step that was cut at its end says little about longer ones.
void Dopri5Integrator::propose(double h, double error, bool cut, bool after_rejection) {
    const double factor = 0.9 * std::pow(std::max(error, 1e-10), -0.17) *
                          std::pow(std::max(memory_.last_error, 1e-4), 0.04);
    const double grown = h * std::clamp(factor, 0.1, after_rejection ? 1.0 : 5.0);
    memory_.last_error = std::max(error, 1e-4);
    memory_.step = cut && factor >= 5.0 ? std::max(grown, memory_.step) : grown;
}

Progress Dopri5Integrator::advance(double end) {
    const auto first = first_stage();
    if (first != Value::ok) return first == Value::none ? Progress::stuck : Progress::broken;
    // After an event a rounding error before the end there is only that to go: it is taken in one
    // step, which says nothing about the size of the next one.
    const double known = memory_.step, least = 8.0 * rounding * std::max(std::fabs(time_), length_);
    const bool is_rounding = !(end - time_ > least);
    if (known == 0.0 && !is_rounding &&
        starting_step(std::min(length_, end - time_)) == Value::broken) {
        return Progress::broken;
    }
    for (bool rejected = false;; rejected = true) {
        double h = memory_.step;
        const bool last = is_rounding || 1.01 * h >= end - time_;
        const bool cut = last && end - time_ < h;
        if (last) h = end - time_;
        const bool tiny = !(h > least);
        if (tiny && (rejected || !last)) return Progress::stuck;
        double error = 0.0;
        const auto value = try_step(h, error);
        if (value == Value::broken) return Progress::broken;
        if (value == Value::none || error > 1.0) {
            slope_known_ = false;
            const double factor = std::max(0.2, 0.9 * std::pow(error, -0.2));
            memory_.step = h * (value == Value::none ? 0.1 : factor);
            continue;
        }
        propose(h, error, cut, rejected);
        if (tiny) memory_.step = known;
        time_before_ = time_;
        time_ = last ? end : time_ + h;
        std::swap(before_, x_);
        std::swap(x_, next_);
        slope_known_ = true;
        return Progress::advanced;
    }
}

void Dopri5Integrator::dense(double time, double* x) {
    const double h = time_ - time_before_;
    const double done = h > 0.0 ? (time - time_before_) / h : 1.0, left = 1.0 - done;
    for (std::size_t i = 0; i < x_.size(); ++i) {
        double last = 0.0;
        for (std::size_t s = 0; s < 7; ++s) last += quartic_weights[s] * k_[s][i];
        const double way = x_[i] - before_[i], bend = h * k_[0][i] - way;
        const double turn = way - h * k_[6][i] - bend;
        x[i] = before_[i] + done * (way + left * (bend + done * (turn + left * h * last)));
    }
}

}  // namespace softdock
