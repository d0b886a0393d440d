// Stands for a component where only the coupling is measured.
#pragma once

#include "core/unit.hpp"

namespace softdock {

// One input u, one output: u itself at the end of a step (direct), or the integral of `rate` * u
// over all steps, exact for an input that is held or has a slope. With a sine, sin(rate * time)
// is a first output.
class Relay final : public Unit {
  public:
    Relay(std::string name, bool direct, bool sloped, bool sine, double rate);

    Status set_inputs(const double* values) override;
    Status step(std::int64_t time_ns, std::int64_t step_ns) override;
    Status get_outputs(double* values) override;
    bool takes_slopes() const override { return sloped_; }
    Status set_slopes(const double* slopes) override;
    bool has_derivatives() const override { return true; }
    Status derivative(const double* inputs, double* outputs) override;

  private:
    bool direct_, sloped_, sine_;
    double rate_;
    double input_ = 0.0, slope_ = 0.0;
    double source_ = 0.0, output_ = 0.0;
};

}  // namespace softdock
