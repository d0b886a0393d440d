// The Model Exchange interface of FMI 2.0 over an instance that was made for it.
#pragma once

#include <vector>

#include "fmi/exchange_model.hpp"
#include "fmi/fmu2.hpp"

namespace softdock {

class Fmi2Model final : public ExchangeModel<Fmu2, fmi2::ExchangeFunctions> {
  public:
    // `states` and `derivatives` are value references.
    Fmi2Model(Fmu2& fmu, std::size_t indicators, std::vector<fmi2ValueReference> states,
              std::vector<fmi2ValueReference> derivatives, bool has_jacobian, bool tell_steps);

    Status completed_step(bool& event, bool& terminate) override;
    Status set_continuous_inputs(const double* inputs) override;
    Status update_discrete(EventUpdate& update) override;
    Status jacobian_column(std::size_t j, double* column) override;

  private:
    std::vector<fmi2ValueReference> states_, derivatives_;
};

}  // namespace softdock
