// Between two events a model is an ordinary differential equation; its inputs are polynomials.
#pragma once

#include <cstddef>
#include <vector>

#include "integration/model.hpp"

namespace softdock {

// ok; no value there, so a shorter step may help; or the model cannot go on.
enum class Value { ok, none, broken };

class Ode {
  public:
    // `tolerance` is relative; a hundredth of the nominal value of a state is the floor.
    Ode(Model& model, double tolerance);

    // After the inputs of the model's unit were bound.
    void bind();

    std::size_t size() const { return model_.states(); }
    Model& model() { return model_; }
    double tolerance() const { return tolerance_; }

    // All inputs from `time` on, in the order of the unit, and their derivatives. Nothing is set in
    // the model before the next point.
    void set_inputs(double time, const double* values, const InputDerivatives& derivatives);
    // Inputs at a time: the values that were set where there are no derivatives.
    const double* inputs_at(double time);
    bool moves() const { return moves_; }

    // Brings the model to a point: time, inputs, states.
    Value go_to(double time, const double* x);
    // Derivatives there, all of them finite.
    Value derivatives(double time, const double* x, double* slopes);
    // Event indicators there, all of them finite.
    Value indicators(double time, const double* x, double* values);
    // d derivatives / d states there, column after column.
    Value jacobian(double time, const double* x, double* columns);

    // Where derivatives were last none since inputs were set: the state, the time, what was found.
    struct Missing {
        bool there = false;
        std::size_t state = 0;
        double time = 0.0, value = 0.0;
    };
    const Missing& missing() const { return missing_; }

    // What an error of one means for state i.
    double scale(std::size_t i, double one, double other) const;
    Status read_nominals();

    // How often derivatives were asked for.
    std::size_t calls() const { return calls_; }

  private:
    Model& model_;
    double tolerance_, start_ = 0.0;
    bool moves_ = false;
    std::vector<double> nominals_, present_;
    std::vector<Waveform> inputs_;
    std::size_t calls_ = 0;
    Missing missing_;
};

}  // namespace softdock
