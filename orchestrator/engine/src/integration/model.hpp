// What an integrator sees of a Model Exchange FMU, whatever its FMI version.
#pragma once

#include <cstddef>
#include <string>

#include "core/unit.hpp"
#include "integration/moving_inputs.hpp"

namespace softdock {

// What a model said when its discrete states were updated. The next time is in seconds as the FMU
// gave it: a time event is met exactly.
struct EventUpdate {
    bool again = false, terminate = false, nominals_changed = false, states_changed = false;
    bool has_next = false;
    double next = 0.0;
};

// How many there are of what.
struct ModelSize {
    std::size_t states = 0, indicators = 0;
};

class Model {
  public:
    explicit Model(ModelSize size) : size_(size) {}
    virtual ~Model() = default;
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;

    std::size_t states() const { return size_.states; }
    std::size_t indicators() const { return size_.indicators; }

    // Continuous-time mode.
    virtual Status set_time(double time) = 0;
    virtual Status set_states(const double* x) = 0;
    virtual Status get_states(double* x) = 0;
    virtual Status get_nominals(double* nominals) = 0;
    virtual Status get_derivatives(double* slopes) = 0;
    virtual Status get_indicators(double* indicators) = 0;
    virtual Status completed_step(bool& event, bool& terminate) = 0;

    // Of all inputs, in the order of the unit, those that may change continuously are set.
    bool is_continuous(std::size_t input) const { return moving_.contains(input); }
    virtual Status set_continuous_inputs(const double* inputs) = 0;
    MovingInputs& moving_inputs() { return moving_; }

    // Event mode.
    virtual Status enter_event_mode() = 0;
    virtual Status update_discrete(EventUpdate& update) = 0;
    virtual Status enter_continuous_mode() = 0;

    // Column j of d derivatives / d states at the present point.
    virtual bool has_jacobian() const = 0;
    virtual Status jacobian_column(std::size_t j, double* column) = 0;

    // The instance as a unit: inputs, outputs, saved states, derivatives of the outputs. It does
    // not step.
    virtual Unit& unit() = 0;

  protected:
    MovingInputs moving_;

  private:
    ModelSize size_;
};

}  // namespace softdock
