// The Model Exchange interface of FMI 3.0 over an instance that was made for it.
#pragma once

#include <cstdint>
#include <vector>

#include "fmi/fmu3.hpp"
#include "integration/model.hpp"

namespace softdock {

class Fmi3Model final : public Model {
  public:
    // `states` and `derivatives` are value references; arrays count as one, with all elements.
    Fmi3Model(Fmu3& fmu, References states, References derivatives, std::vector<std::size_t> sizes,
              bool has_jacobian, bool tell_steps);

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
    // The variable and the element of one state.
    struct Place {
        std::size_t variable, element;
    };
    static fmi3::ExchangeFunctions find(Fmu3& fmu);
    static ModelSize count(Fmu3& fmu);

    Fmu3& fmu_;
    fmi3::ExchangeFunctions call_;
    References states_, derivatives_;
    std::vector<std::size_t> sizes_;
    std::vector<Place> places_;
    std::vector<double> seeds_;
    bool has_jacobian_, tell_steps_;
};

}  // namespace softdock
