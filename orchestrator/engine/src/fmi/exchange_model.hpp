// What the Model Exchange interfaces of FMI 2.0 and 3.0 have in common: functions that differ in
// their names only.
#pragma once

#include "integration/model.hpp"

namespace softdock {

// `Instance` is an instance that was made for Model Exchange, `Functions` are those of its version.
template <class Instance, class Functions>
class ExchangeModel : public Model {
  public:
    Status set_time(double time) override {
        return fmu_.note(call_.set_time(fmu_.instance(), time));
    }
    Status set_states(const double* x) override { return all(call_.set_states, x, states()); }
    Status get_states(double* x) override { return all(call_.get_states, x, states()); }
    Status get_nominals(double* nominals) override {
        return all(call_.get_nominals, nominals, states());
    }
    Status get_derivatives(double* slopes) override {
        return all(call_.get_derivatives, slopes, states());
    }
    Status get_indicators(double* values) override {
        return all(call_.get_indicators, values, indicators());
    }
    Status enter_event_mode() override {
        return fmu_.note(call_.enter_event_mode(fmu_.instance()));
    }
    Status enter_continuous_mode() override {
        return fmu_.note(call_.enter_continuous_time_mode(fmu_.instance()));
    }
    bool has_jacobian() const override { return has_jacobian_; }
    Unit& unit() override { return fmu_; }

  protected:
    ExchangeModel(Instance& fmu, ModelSize size, bool has_jacobian, bool tell_steps)
        : Model(size),
          fmu_(fmu),
          has_jacobian_(has_jacobian && fmu.functions().get_derivative),
          tell_steps_(tell_steps) {}

    Instance& fmu_;
    Functions call_{};
    bool has_jacobian_, tell_steps_;

  private:
    // A function for all numbers of a kind is not called where there are none.
    template <class Function, class Number>
    Status all(Function function, Number* numbers, std::size_t count) {
        return count == 0 ? Status::ok : fmu_.note(function(fmu_.instance(), numbers, count));
    }
};

}  // namespace softdock
