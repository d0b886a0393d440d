/* FMI 3.0: co-simulation and model exchange, over the core. */
#include "fmi3.h"
#include "instance.h"

fmi3Status fmi3DoStep(fmi3Instance instance, fmi3Float64 time, fmi3Float64 step,
                      fmi3Boolean no_set_state_prior, fmi3Boolean* event_handling_needed,
                      fmi3Boolean* terminate_simulation, fmi3Boolean* early_return,
                      fmi3Float64* last_successful_time) {
    (void)no_set_state_prior;
    if (instance == NULL) return fmi3Error;
    Instance* stepped = instance;
    fmi3Status status = (fmi3Status)do_step(stepped, time, step, __func__);
    if (event_handling_needed) *event_handling_needed = stepped->event_needed;
    if (terminate_simulation) *terminate_simulation = stepped->state.terminated != 0;
    if (early_return) *early_return = stepped->early_return;
    if (last_successful_time) *last_successful_time = stepped->state.values[AT_TIME];
    return status;
}

fmi3Status fmi3EnterStepMode(fmi3Instance instance) {
    if (instance == NULL) return fmi3Error;
    if (!((const Instance*)instance)->event_mode_used)
        return unsupported(instance, "co-simulation without event mode is always in step mode",
                           __func__);
    return (fmi3Status)change_mode(instance, MODE_EVENT, MODE_STEP, __func__);
}

fmi3Status fmi3GetOutputDerivatives(fmi3Instance instance, const fmi3ValueReference references[],
                                    size_t count, const fmi3Int32 orders[], fmi3Float64 values[],
                                    size_t value_count) {
    if (!room_fits(instance, references, count, value_count, __func__)) return fmi3Error;
    return (fmi3Status)output_derivatives(instance, references, count, orders, values, __func__);
}

fmi3Status fmi3EnterEventMode(fmi3Instance instance) {
    if (instance == NULL) return fmi3Error;
    int from = ((const Instance*)instance)->event_mode_used ? MODE_STEP : MODES_EXCHANGE;
    return (fmi3Status)change_mode(instance, from, MODE_EVENT, __func__);
}

fmi3Status fmi3EvaluateDiscreteStates(fmi3Instance instance) {
    return unsupported(instance, "not provided (providesEvaluateDiscreteStates is false)",
                       __func__);
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance instance, fmi3Boolean* need_update,
                                    fmi3Boolean* terminate_simulation,
                                    fmi3Boolean* nominals_changed, fmi3Boolean* values_changed,
                                    fmi3Boolean* next_event_time_defined,
                                    fmi3Float64* next_event_time) {
    EventInfo found;
    Status status = update_discrete(instance, &found, __func__);
    if (status != STATUS_OK) return (fmi3Status)status;
    *need_update = *nominals_changed = false; /* one call does it all */
    *terminate_simulation = found.terminate;
    *values_changed = found.states_changed;
    *next_event_time_defined = found.next_defined;
    *next_event_time = found.next;
    return fmi3OK;
}

fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance instance) {
    return (fmi3Status)change_mode(instance, MODE_EVENT, MODE_CONTINUOUS, __func__);
}

fmi3Status fmi3CompletedIntegratorStep(fmi3Instance instance, fmi3Boolean no_set_state_prior,
                                       fmi3Boolean* enter_event_mode,
                                       fmi3Boolean* terminate_simulation) {
    (void)no_set_state_prior;
    *enter_event_mode = false;
    return (fmi3Status)completed_step(instance, terminate_simulation, __func__);
}

fmi3Status fmi3SetTime(fmi3Instance instance, fmi3Float64 time) {
    return (fmi3Status)set_time(instance, time, __func__);
}

fmi3Status fmi3SetContinuousStates(fmi3Instance instance, const fmi3Float64 values[],
                                   size_t count) {
    return (fmi3Status)set_states(instance, values, count, __func__);
}

fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance instance, fmi3Float64 values[],
                                             size_t count) {
    return (fmi3Status)get_derivatives(instance, values, count, __func__);
}

fmi3Status fmi3GetEventIndicators(fmi3Instance instance, fmi3Float64 values[], size_t count) {
    return (fmi3Status)get_event_indicators(instance, values, count, __func__);
}

fmi3Status fmi3GetContinuousStates(fmi3Instance instance, fmi3Float64 values[], size_t count) {
    return (fmi3Status)get_states(instance, values, count, __func__);
}

fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance instance, fmi3Float64 values[],
                                             size_t count) {
    return (fmi3Status)get_nominals(instance, values, count, __func__);
}

fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance instance, size_t* count) {
    if (instance == NULL) return fmi3Error;
    *count = N_INDICATORS;
    return fmi3OK;
}

fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance instance, size_t* count) {
    if (instance == NULL) return fmi3Error;
    *count = N_X;
    return fmi3OK;
}
