// A Model Exchange FMU as a unit: the engine integrates it over each communication step.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "integration/event_search.hpp"
#include "integration/event_watch.hpp"
#include "integration/integrator.hpp"
#include "integration/model.hpp"

namespace softdock {

// For messages.
std::string number(double value);

class MeUnit final : public Unit {
  public:
    // An empty folder chooses dopri5, else CVODE is loaded from it. `states` are names for
    // messages. The model must outlive the unit.
    MeUnit(Model& model, double tolerance, const std::string& cvode_folder,
           std::vector<std::string> states);

    // After the model's instance was bound.
    void bind();
    // After initialisation: the model is in event mode; its first event happens.
    Status start(std::int64_t time_ns);

    Status set_inputs(const double* values) override;
    // Something is about to be set from outside: the next step begins with an event.
    Status expect_event();
    // Lets the event happen that the next step would begin with, so that the model can be
    // evaluated.
    Status settle();
    // Seconds; NaN: the model knows of no time event.
    double next_event() const;
    Status step(std::int64_t time_ns, std::int64_t step_ns) override;
    Status get_outputs(double* values) override;
    Status set_texts(const std::string* values) override;
    Status get_texts(std::string* values) override;

    bool can_roll_back() const override { return model_.unit().can_roll_back(); }
    Status save(std::size_t number) override;
    Status restore(std::size_t number) override;
    int input_order() const override { return most_order; }
    Status set_input_derivatives(const InputDerivatives& derivatives) override;
    bool has_derivatives() const override { return model_.unit().has_derivatives(); }
    Status derivative(const double* inputs, double* outputs) override;

    // What the next step depends on apart from the state of the FMU, as plain numbers.
    std::vector<double> memory();
    // After the state of the FMU was put back; a memory of another size is refused.
    Status put_back(const std::vector<double>& memory);

    std::size_t derivative_calls() const { return ode_.calls(); }

  private:
    enum class Cause { jump, time, state, step };

    double travelled_by(std::size_t i) const;
    Status fail(Status status, std::string why);
    Status pass(Status status);
    void write(std::vector<double>& memory);
    Status move(double end);
    Status integrate(double stop, Crossing& crossing);
    Status happen(Cause cause, std::size_t indicator);
    Status iterate(EventUpdate& sum);
    Status watch(Cause cause, std::size_t indicator);
    Status leave_event_mode(const EventUpdate& sum, Cause cause, std::size_t indicator);
    Status accumulates(std::size_t indicator);
    Status unfit_indicator();
    Status stuck();
    Status finish(std::int64_t end_ns, double end);
    bool due(double end) const;

    Model& model_;
    Ode ode_;
    std::unique_ptr<Integrator> integrator_;
    EventSearch search_;
    EventWatch watch_;
    std::vector<std::string> names_;
    std::vector<double> inputs_, derivatives_;  // these order after order
    std::vector<std::vector<double>> kept_;
    double length_ = 0.0, next_ = 0.0;
    bool running_ = false, event_mode_ = false, ended_ = false, has_next_ = false;
    bool known_ = false, jumped_ = false;
    int order_ = 0, last_order_ = 0;  // of the derivatives for the next step, and in the last
};

}  // namespace softdock
