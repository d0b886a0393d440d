#include "core/relay.hpp"

#include <cmath>
#include <utility>

namespace softdock {

Relay::Relay(std::string name, bool direct, bool sloped, bool sine, double rate)
    : Unit(std::move(name)), direct_(direct), sloped_(sloped), sine_(sine), rate_(rate) {
    input_count_ = 1;
    output_count_ = sine ? 2 : 1;
}

Status Relay::set_inputs(const double* values) {
    input_ = *values;
    slope_ = 0.0;
    return Status::ok;
}

Status Relay::set_slopes(const double* slopes) {
    if (!sloped_) return cannot("take slopes of its inputs");
    slope_ = *slopes;
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
        output_ = input_ + span * slope_;
    } else {
        output_ += rate_ * span * (input_ + 0.5 * span * slope_);
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
