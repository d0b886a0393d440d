#include "fmi/fmi2_model.hpp"

#include <stdexcept>
#include <utility>

namespace softdock {

Fmi2Model::Fmi2Model(Fmu2& fmu, std::size_t indicators, std::vector<fmi2ValueReference> states,
                     std::vector<fmi2ValueReference> derivatives, bool has_jacobian,
                     bool tell_steps)
    : ExchangeModel(fmu, {states.size(), indicators}, has_jacobian, tell_steps),
      states_(std::move(states)),
      derivatives_(std::move(derivatives)) {
    if (states_.size() != derivatives_.size()) {
        throw std::invalid_argument("one derivative for each state");
    }
    fmu.find("fmi2EnterEventMode", call_.enter_event_mode);
    fmu.find("fmi2NewDiscreteStates", call_.new_discrete_states);
    fmu.find("fmi2EnterContinuousTimeMode", call_.enter_continuous_time_mode);
    fmu.find("fmi2CompletedIntegratorStep", call_.completed_integrator_step);
    fmu.find("fmi2SetTime", call_.set_time);
    fmu.find("fmi2SetContinuousStates", call_.set_states);
    fmu.find("fmi2GetDerivatives", call_.get_derivatives);
    fmu.find("fmi2GetEventIndicators", call_.get_indicators);
    fmu.find("fmi2GetContinuousStates", call_.get_states);
    fmu.find("fmi2GetNominalsOfContinuousStates", call_.get_nominals);
}

Status Fmi2Model::completed_step(bool& event, bool& terminate) {
    event = terminate = false;
    if (!tell_steps_) return Status::ok;
    fmi2Boolean enter = 0, end = 0;
    const auto status =
        fmu_.note(call_.completed_integrator_step(fmu_.instance(), 0, &enter, &end));
    event = enter != 0;
    terminate = end != 0;
    return status;
}

Status Fmi2Model::set_continuous_inputs(const double* inputs) {
    const auto& references = moving_.references();
    if (references.empty()) return Status::ok;
    return fmu_.note(fmu_.functions().set_real(fmu_.instance(), references.data(),
                                               references.size(), moving_.pick(inputs).data()));
}

Status Fmi2Model::update_discrete(EventUpdate& update) {
    fmi2EventInfo info{};
    const auto status = fmu_.note(call_.new_discrete_states(fmu_.instance(), &info));
    update.again = info.newDiscreteStatesNeeded != 0;
    update.terminate = info.terminateSimulation != 0;
    update.nominals_changed = info.nominalsOfContinuousStatesChanged != 0;
    update.states_changed = info.valuesOfContinuousStatesChanged != 0;
    update.has_next = info.nextEventTimeDefined != 0;
    update.next = info.nextEventTime;
    return status;
}

Status Fmi2Model::jacobian_column(std::size_t j, double* column) {
    const double seed = 1.0;
    return fmu_.note(fmu_.functions().get_derivative(
        fmu_.instance(), derivatives_.data(), derivatives_.size(), &states_[j], 1, &seed, column));
}

}  // namespace softdock
