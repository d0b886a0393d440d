// The Model Exchange interface of FMI 3.0 over an instance that was made for it.
#pragma once

#include <cstdint>
#include <vector>

#include "fmi/exchange_model.hpp"
#include "fmi/fmu3.hpp"

namespace softdock {

class Fmi3Model final : public ExchangeModel<Fmu3, fmi3::ExchangeFunctions> {
  public:
    // `states` and `derivatives` are value references; arrays count as one, with all elements.
    Fmi3Model(Fmu3& fmu, References states, References derivatives, std::vector<std::size_t> sizes,
              bool has_jacobian, bool tell_steps);

    Status completed_step(bool& event, bool& terminate) override;
    Status set_continuous_inputs(const double* inputs) override;
    Status update_discrete(EventUpdate& update) override;
    Status jacobian_column(std::size_t j, double* column) override;

  private:
    // The variable and the element of one state.
    struct Place {
        std::size_t variable, element;
    };
    static fmi3::ExchangeFunctions find(Fmu3& fmu);
    static ModelSize count(Fmu3& fmu);

    References states_, derivatives_;
    std::vector<std::size_t> sizes_;
    std::vector<Place> places_;
    std::vector<double> seeds_;
};

}  // namespace softdock
