// Stands for a component where only the coupling is measured.
#pragma once

#include "core/unit.hpp"

namespace softdock {

// One input u, one output: u itself at the end of a step (direct), or the integral of `rate` * u
// over all steps, exact for an input that is held or has derivatives. With a sine,
// sin(rate * time) is a first output.
class Relay final : public Unit {
  public:
    Relay(std::string name, bool direct, int order, bool sine, double rate);

    Status set_inputs(const double* values) override;
    Status step(std::int64_t time_ns, std::int64_t step_ns) override;
    Status get_outputs(double* values) override;
    int input_order() const override { return order_; }
    Status set_input_derivatives(const InputDerivatives& derivatives) override;
    bool has_derivatives() const override { return true; }
    Status derivative(const double* inputs, double* outputs) override;

  private:
    bool direct_, sine_;
    int order_;
    double rate_;
    Waveform input_;
    double source_ = 0.0, output_ = 0.0;
};

}  // namespace softdock
