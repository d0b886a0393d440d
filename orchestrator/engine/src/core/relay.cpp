#include "core/relay.hpp"

#include <cmath>
#include <utility>

namespace softdock {

Relay::Relay(std::string name, bool direct, int order, bool sine, double rate)
    : Unit(std::move(name)), direct_(direct), sine_(sine), order_(order), rate_(rate) {
    input_count_ = 1;
    output_count_ = sine ? 2 : 1;
}

Status Relay::set_inputs(const double* values) {
    input_ = {*values};
    return Status::ok;
}

Status Relay::set_input_derivatives(const InputDerivatives& derivatives) {
    if (derivatives.order > order_) return cannot("take such derivatives of its inputs");
    for (int k = 1; k <= derivatives.order; ++k) input_.derivatives[k - 1] = *derivatives.of(k);
    return Status::ok;
}

Status Relay::derivative(const double* inputs, double* outputs) {
    if (sine_) *outputs++ = 0.0;
    *outputs = direct_ ? *inputs : 0.0;
    return Status::ok;
}

Status Relay::step(std::int64_t time_ns, std::int64_t step_ns) {
    const double span = to_seconds(step_ns);
    if (direct_) {
        output_ = input_.at(span);
    } else {
        const double* d = input_.derivatives;
        const double curved = span * (d[1] / 6.0 + span * d[2] / 24.0);
        output_ += rate_ * span * (input_.value + span * (0.5 * d[0] + curved));
    }
    reached_.time_ns = time_ns + step_ns;
    source_ = std::sin(rate_ * to_seconds(reached_.time_ns));
    return Status::ok;
}

Status Relay::get_outputs(double* values) {
    if (sine_) *values++ = source_;
    *values = output_;
    return Status::ok;
}

}  // namespace softdock
