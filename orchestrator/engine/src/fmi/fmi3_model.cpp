#include "fmi/fmi3_model.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace softdock {

fmi3::ExchangeFunctions Fmi3Model::find(Fmu3& fmu) {
    fmi3::ExchangeFunctions call;
    fmu.find("fmi3GetNumberOfContinuousStates", call.state_count);
    fmu.find("fmi3GetNumberOfEventIndicators", call.indicator_count);
    fmu.find("fmi3EnterEventMode", call.enter_event_mode);
    fmu.find("fmi3UpdateDiscreteStates", call.update_discrete);
    fmu.find("fmi3EnterContinuousTimeMode", call.enter_continuous_time_mode);
    fmu.find("fmi3CompletedIntegratorStep", call.completed_integrator_step);
    fmu.find("fmi3SetTime", call.set_time);
    fmu.find("fmi3SetContinuousStates", call.set_states);
    fmu.find("fmi3GetContinuousStates", call.get_states);
    fmu.find("fmi3GetContinuousStateDerivatives", call.get_derivatives);
    fmu.find("fmi3GetEventIndicators", call.get_indicators);
    fmu.find("fmi3GetNominalsOfContinuousStates", call.get_nominals);
    return call;
}

ModelSize Fmi3Model::count(Fmu3& fmu) {
    const auto call = find(fmu);
    ModelSize size;
    if (failed(fmu.note(call.state_count(fmu.instance(), &size.states))) ||
        failed(fmu.note(call.indicator_count(fmu.instance(), &size.indicators)))) {
        throw std::runtime_error("it does not tell the number of its states and indicators: " +
                                 fmu.failure());
    }
    return size;
}

Fmi3Model::Fmi3Model(Fmu3& fmu, References states, References derivatives,
                     std::vector<std::size_t> sizes, bool has_jacobian, bool tell_steps)
    : ExchangeModel(fmu, count(fmu), has_jacobian, tell_steps),
      states_(std::move(states)),
      derivatives_(std::move(derivatives)),
      sizes_(std::move(sizes)) {
    call_ = find(fmu);
    if (states_.size() != derivatives_.size() || states_.size() != sizes_.size()) {
        throw std::invalid_argument("one derivative and one size for each state");
    }
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
        for (std::size_t n = 0; n < sizes_[i]; ++n) places_.push_back({i, n});
    }
    if (places_.size() != this->states()) {
        throw std::runtime_error("it has " + std::to_string(this->states()) +
                                 " continuous states, but its description " +
                                 std::to_string(places_.size()));
    }
    seeds_.resize(places_.size());
}

Status Fmi3Model::completed_step(bool& event, bool& terminate) {
    event = terminate = false;
    if (!tell_steps_) return Status::ok;
    return fmu_.note(call_.completed_integrator_step(fmu_.instance(), false, &event, &terminate));
}

Status Fmi3Model::set_continuous_inputs(const double* inputs) {
    const auto& references = moving_.references();
    if (references.empty()) return Status::ok;
    const auto& values = moving_.pick(inputs);
    return fmu_.note(fmu_.functions().float64.set(fmu_.instance(), references.data(),
                                                  references.size(), values.data(), values.size()));
}

Status Fmi3Model::update_discrete(EventUpdate& update) {
    update = {};
    return fmu_.note(call_.update_discrete(fmu_.instance(), &update.again, &update.terminate,
                                           &update.nominals_changed, &update.states_changed,
                                           &update.has_next, &update.next));
}

Status Fmi3Model::jacobian_column(std::size_t j, double* column) {
    const auto [variable, element] = places_[j];
    seeds_[element] = 1.0;
    const auto status = fmu_.note(fmu_.functions().get_derivative(
        fmu_.instance(), derivatives_.data(), derivatives_.size(), &states_[variable], 1,
        seeds_.data(), sizes_[variable], column, places_.size()));
    seeds_[element] = 0.0;
    return status;
}

}  // namespace softdock
