// The Model Exchange interface of FMI 2.0 over an instance that was made for it.
#pragma once

#include <vector>

#include "fmi/fmu2.hpp"
#include "integration/model.hpp"

namespace softdock {

class Fmi2Model final : public Model {
  public:
    // `states` and `derivatives` are value references.
    Fmi2Model(Fmu2& fmu, std::size_t indicators, std::vector<fmi2ValueReference> states,
              std::vector<fmi2ValueReference> derivatives, bool has_jacobian, bool tell_steps);

    Status set_time(double time) override;
    Status set_states(const double* x) override;
    Status get_states(double* x) override;
    Status get_nominals(double* nominals) override;
    Status get_derivatives(double* slopes) override;
    Status get_indicators(double* indicators) override;
    Status completed_step(bool& event, bool& terminate) override;
    Status set_continuous_inputs(const double* inputs) override;
    Status enter_event_mode() override;
    Status update_discrete(EventUpdate& update) override;
    Status enter_continuous_mode() override;
    bool has_jacobian() const override { return has_jacobian_; }
    Status jacobian_column(std::size_t j, double* column) override;
    Unit& unit() override { return fmu_; }

  private:
    Fmu2& fmu_;
    fmi2::ExchangeFunctions call_{};
    std::vector<fmi2ValueReference> states_, derivatives_;
    bool has_jacobian_, tell_steps_;
};

}  // namespace softdock
