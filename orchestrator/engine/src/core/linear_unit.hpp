// Stands for a component where a system is linearised: its state-space model over one step.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/unit.hpp"

namespace softdock {

// (states after a step, outputs after it) = transition * (states before it, inputs, derivatives of
// the inputs, order after order); those only as far as the component takes some. The steps of a
// sampled component repeat after a number of phases, and each phase has a transition of its own.
class LinearUnit final : public Unit {
  public:
    // Row by row, of (states + outputs) x (states + inputs [+ inputs]), phase after phase, for a
    // length of the step.
    using Transition = std::pair<std::int64_t, std::vector<double>>;

    struct Size {
        std::size_t states = 0, inputs = 0, outputs = 0;
    };

    // How many steps, of which length in nanoseconds, it takes until the transitions repeat. The
    // phase of a step is counted from time 0.
    struct Phases {
        std::int64_t count = 1;
        double step_ns = 1.0;
    };

    // `direct`: what its outputs are at once of its inputs, outputs x inputs, row by row; empty if
    // that is not known. Throws if a matrix is not of the size that is said.
    LinearUnit(std::string name, Size size, int order, std::vector<Transition> transitions,
               std::vector<double> direct, Phases phases);

    Status set_inputs(const double* values) override;
    Status step(std::int64_t time_ns, std::int64_t step_ns) override;
    Status get_outputs(double* values) override;
    int input_order() const override { return order_; }
    Status set_input_derivatives(const InputDerivatives& derivatives) override;
    Status derivative(const double* inputs, double* outputs) override;
    bool can_roll_back() const override { return true; }
    Status save(std::size_t number) override;
    Status restore(std::size_t number) override;

    // States, then outputs.
    std::vector<double>& values() { return values_; }
    std::size_t state_count() const { return size_.states; }

  private:
    Size size_;
    int order_;
    Phases phases_;
    std::vector<Transition> transitions_;
    std::vector<double> direct_, values_, before_;
    std::vector<std::vector<double>> kept_;
};

}  // namespace softdock
