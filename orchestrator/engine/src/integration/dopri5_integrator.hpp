// The explicit Runge-Kutta pair of Dormand and Prince, order 5(4), with error control.
#pragma once

#include <array>

#include "integration/integrator.hpp"

namespace softdock {

class Dopri5Integrator final : public Integrator {
  public:
    explicit Dopri5Integrator(Ode& ode);

    Progress advance(double end) override;
    void dense(double time, double* x) override;
    void restart() override;
    void begin(double length, bool inputs_changed) override;
    StepMemory save() override { return memory_; }
    void restore(const StepMemory& memory) override;
    double step() const override { return memory_.step; }

  private:
    Value first_stage();
    Value starting_step(double longest);
    Value try_step(double h, double& error);
    void propose(double h, double error, bool cut, bool after_rejection);
    double norm(const double* values) const;

    StepMemory memory_;
    bool slope_known_ = false;
    std::array<std::vector<double>, 7> k_;
    std::vector<double> stage_, next_;
};

}  // namespace softdock
