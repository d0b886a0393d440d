#include "integration/ode.hpp"

#include <algorithm>
#include <cmath>

namespace softdock {

namespace {

Value worth(Status status) {
    if (!failed(status)) return Value::ok;
    return status == Status::discard ? Value::none : Value::broken;
}

// 0 * NaN and 0 * infinity are NaN.
bool all_finite(const double* values, std::size_t count) {
    double sum = 0.0;
    for (std::size_t i = 0; i < count; ++i) sum += 0.0 * values[i];
    return sum == 0.0;
}

}  // namespace

Ode::Ode(Model& model, double tolerance)
    : model_(model), tolerance_(tolerance), nominals_(model.states(), 1.0) {}

void Ode::bind() {
    present_.assign(model_.unit().input_count(), 0.0);
    inputs_.assign(present_.size(), {});
}

void Ode::set_inputs(double time, const double* values, const InputDerivatives& derivatives) {
    start_ = time;
    moves_ = missing_.there = false;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        inputs_[i] = {values[i]};
        present_[i] = values[i];
        if (!model_.is_continuous(i)) continue;
        for (int k = 1; k <= derivatives.order; ++k) {
            inputs_[i].derivatives[k - 1] = derivatives.of(k)[i];
            moves_ |= derivatives.of(k)[i] != 0.0;
        }
    }
}

const double* Ode::inputs_at(double time) {
    if (moves_) {
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            present_[i] = inputs_[i].at(time - start_);
        }
    }
    return present_.data();
}

Value Ode::go_to(double time, const double* x) {
    auto status = model_.set_time(time);
    if (!failed(status) && moves_) status = model_.set_continuous_inputs(inputs_at(time));
    if (!failed(status)) status = model_.set_states(x);
    return worth(status);
}

Value Ode::derivatives(double time, const double* x, double* slopes) {
    ++calls_;
    auto value = go_to(time, x);
    if (value == Value::ok) value = worth(model_.get_derivatives(slopes));
    if (value == Value::ok && all_finite(slopes, size())) return value;
    if (value == Value::broken) return value;
    missing_ = {true, 0, time, std::nan("")};
    for (std::size_t i = size(); i-- > 0;) {
        if (!std::isfinite(slopes[i])) missing_ = {true, i, time, slopes[i]};
    }
    return Value::none;
}

Value Ode::indicators(double time, const double* x, double* values) {
    const auto reached = go_to(time, x);
    if (reached != Value::ok) return reached;
    const auto value = worth(model_.get_indicators(values));
    if (value != Value::ok) return value;
    return all_finite(values, model_.indicators()) ? Value::ok : Value::none;
}

Value Ode::jacobian(double time, const double* x, double* columns) {
    auto value = go_to(time, x);
    for (std::size_t j = 0; j < size() && value == Value::ok; ++j) {
        value = worth(model_.jacobian_column(j, columns + j * size()));
    }
    if (value != Value::ok) return value;
    return all_finite(columns, size() * size()) ? Value::ok : Value::none;
}

double Ode::scale(std::size_t i, double one, double other) const {
    return tolerance_ * (0.01 * nominals_[i] + std::max(std::fabs(one), std::fabs(other)));
}

Status Ode::read_nominals() {
    const auto status = model_.get_nominals(nominals_.data());
    for (auto& nominal : nominals_) {
        const double size = std::fabs(nominal);
        nominal = size > 0.0 && std::isfinite(size) ? size : 1.0;
    }
    return status;
}

}  // namespace softdock
