/* FMI 2.0: co-simulation and model exchange, over the core. */
#include "fmi2.h"
#include "instance.h"

fmi2Status fmi2DoStep(fmi2Component component, fmi2Real time, fmi2Real step,
                      fmi2Boolean no_set_state_prior) {
    (void)no_set_state_prior;
    Instance* instance = component;
    fmi2Status status = (fmi2Status)do_step(instance, time, step, __func__);
    return status == fmi2OK && instance->state.terminated ? fmi2Discard : status;
}

fmi2Status fmi2CancelStep(fmi2Component component) {
    return component ? (fmi2Status)fail(component, "%s: steps are synchronous", __func__)
                     : fmi2Error;
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component component,
                                       const fmi2ValueReference references[], size_t count,
                                       const fmi2Integer order[], const fmi2Real values[]) {
    return (fmi2Status)set_input_derivatives(component, references, count, order, values, __func__);
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component component,
                                        const fmi2ValueReference references[], size_t count,
                                        const fmi2Integer order[], fmi2Real values[]) {
    return (fmi2Status)output_derivatives(component, references, count, order, values, __func__);
}

static fmi2Status no_status(const Instance* instance, const char* function) {
    if (instance == NULL) return fmi2Error;
    return (fmi2Status)discard(instance, "%s: steps are synchronous, there is no such status",
                               function);
}

fmi2Status fmi2GetStatus(fmi2Component component, const fmi2StatusKind kind, fmi2Status* value) {
    (void)kind, (void)value;
    return no_status(component, __func__);
}

fmi2Status fmi2GetRealStatus(fmi2Component component, const fmi2StatusKind kind, fmi2Real* value) {
    const Instance* instance = component;
    if (instance == NULL || kind != fmi2LastSuccessfulTime) return no_status(instance, __func__);
    *value = instance->state.values[AT_TIME];
    return fmi2OK;
}

fmi2Status fmi2GetIntegerStatus(fmi2Component component, const fmi2StatusKind kind,
                                fmi2Integer* value) {
    (void)kind, (void)value;
    return no_status(component, __func__);
}

fmi2Status fmi2GetBooleanStatus(fmi2Component component, const fmi2StatusKind kind,
                                fmi2Boolean* value) {
    if (component == NULL || kind != fmi2Terminated) return no_status(component, __func__);
    *value = ((const Instance*)component)->state.terminated != 0;
    return fmi2OK;
}

fmi2Status fmi2GetStringStatus(fmi2Component component, const fmi2StatusKind kind,
                               fmi2String* value) {
    (void)kind, (void)value;
    return no_status(component, __func__);
}

fmi2Status fmi2EnterEventMode(fmi2Component component) {
    return (fmi2Status)change_mode(component, MODES_EXCHANGE, MODE_EVENT, __func__);
}

fmi2Status fmi2NewDiscreteStates(fmi2Component component, fmi2EventInfo* info) {
    EventInfo found;
    Status status = update_discrete(component, &found, __func__);
    if (status != STATUS_OK) return (fmi2Status)status;
    memset(info, 0, sizeof *info); /* one call does it all: no further is needed */
    info->terminateSimulation = found.terminate;
    info->valuesOfContinuousStatesChanged = found.states_changed;
    info->nextEventTimeDefined = found.next_defined;
    info->nextEventTime = found.next;
    return fmi2OK;
}

fmi2Status fmi2EnterContinuousTimeMode(fmi2Component component) {
    return (fmi2Status)change_mode(component, MODE_EVENT, MODE_CONTINUOUS, __func__);
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component component, fmi2Boolean no_set_state_prior,
                                       fmi2Boolean* enter_event_mode,
                                       fmi2Boolean* terminate_simulation) {
    (void)no_set_state_prior;
    bool terminate = false;
    Status status = completed_step(component, &terminate, __func__);
    *enter_event_mode = fmi2False;
    *terminate_simulation = terminate;
    return (fmi2Status)status;
}

fmi2Status fmi2SetTime(fmi2Component component, fmi2Real time) {
    return (fmi2Status)set_time(component, time, __func__);
}

fmi2Status fmi2SetContinuousStates(fmi2Component component, const fmi2Real values[], size_t count) {
    return (fmi2Status)set_states(component, values, count, __func__);
}

fmi2Status fmi2GetDerivatives(fmi2Component component, fmi2Real values[], size_t count) {
    return (fmi2Status)get_derivatives(component, values, count, __func__);
}

fmi2Status fmi2GetEventIndicators(fmi2Component component, fmi2Real values[], size_t count) {
    return (fmi2Status)get_event_indicators(component, values, count, __func__);
}

fmi2Status fmi2GetContinuousStates(fmi2Component component, fmi2Real values[], size_t count) {
    return (fmi2Status)get_states(component, values, count, __func__);
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component component, fmi2Real values[],
                                             size_t count) {
    return (fmi2Status)get_nominals(component, values, count, __func__);
}
