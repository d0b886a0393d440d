/* fmi2DoStep: Runge-Kutta's classical method of fourth order, H / ceil(H / max step) at a time. */
#include "instance.h"

static void rk4(Instance* instance, double time, double h) {
    double* x = instance->state.values + AT_X;
    double *k1 = instance->k1, *k2 = instance->k2, *k3 = instance->k3, *k4 = instance->k4;
    double* stage = instance->stage;
    derivatives(instance, time, x, k1);
    for (int i = 0; i < N_X; ++i) stage[i] = x[i] + 0.5 * h * k1[i];
    derivatives(instance, time + 0.5 * h, stage, k2);
    for (int i = 0; i < N_X; ++i) stage[i] = x[i] + 0.5 * h * k2[i];
    derivatives(instance, time + 0.5 * h, stage, k3);
    for (int i = 0; i < N_X; ++i) stage[i] = x[i] + h * k3[i];
    derivatives(instance, time + h, stage, k4);
    for (int i = 0; i < N_X; ++i) x[i] += h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]);
}

static fmi2Status report_divergence(Instance* instance, double time) {
    const double* v = instance->state.values;
    int culprit = AT_X;
    if (instance->failed_block) {
        instance->state.mode = MODE_ERROR;
        return report_block(instance, "fmi2DoStep");
    }
    while (culprit < AT_P - 1 && isfinite(v[culprit])) ++culprit;
    for (int i = AT_U; i < AT_X; ++i)
        if (!isfinite(v[i])) culprit = i;
    instance->state.mode = MODE_ERROR;
    return fail(
        instance, "fmi2DoStep: '%s' is %g in the step from t = %.9g s%s", model_names[culprit],
        v[culprit], time,
        culprit < AT_X ? "" : "; the internal step may be too long, or the model divides by 0");
}

static bool step_is_valid(const Instance* instance, double time, double step) {
    const State* s = &instance->state;
    double slack = 1e-9 * fmax(1.0, fabs(time));
    if (!(step >= 0.0) || !isfinite(step)) {
        fail(instance, "fmi2DoStep: the communication step is %.17g s", step);
        return false;
    }
    if (!(fabs(time - s->time) <= slack)) {
        fail(instance, "fmi2DoStep: the step starts at t = %.17g s, but the FMU is at t = %.17g s",
             time, s->time);
        return false;
    }
    if (s->stop_time_defined && time + step > s->stop_time + slack) {
        fail(instance, "fmi2DoStep: the step ends at t = %.17g s, after the stop time %.17g s",
             time + step, s->stop_time);
        return false;
    }
    return true;
}

fmi2Status fmi2DoStep(fmi2Component component, fmi2Real time, fmi2Real step,
                      fmi2Boolean no_set_state_prior) {
    Instance* instance = component;
    (void)no_set_state_prior;
    if (!allowed(instance, MODE_STEP, __func__)) return fmi2Error;
    if (!step_is_valid(instance, time, step)) return fmi2Error;
    State* s = &instance->state;
    if (s->stale & STALE_PARAMETERS) update_parameters(instance);
    if (N_X > 0 && step > 0.0) {
        if (step != instance->last_step) {
            double wanted = ceil(step / MODEL_MAX_STEP * (1.0 - 1e-12));
            if (!(wanted <= 1e9))
                return fail(instance,
                            "fmi2DoStep: a step of %.17g s needs %g internal steps of %g s", step,
                            wanted, MODEL_MAX_STEP);
            instance->substeps = wanted > 1.0 ? (int)wanted : 1;
            instance->last_step = step;
        }
        double h = step / instance->substeps, sum = 0.0;
        for (int n = 0; n < instance->substeps; ++n) rk4(instance, time + n * h, h);
        for (int i = AT_X; i < AT_P; ++i) sum += 0.0 * s->values[i];
        if (sum != 0.0) return report_divergence(instance, time); /* 0 * NaN and 0 * inf are NaN */
    }
    s->time = time + step;
    if (!settle(instance)) {
        s->mode = MODE_ERROR;
        return report_block(instance, __func__);
    }
    s->stale |= STALE_OUTPUTS | STALE_LOCALS;
    return fmi2OK;
}

fmi2Status fmi2CancelStep(fmi2Component component) {
    return component ? fail(component, "%s: steps are synchronous", __func__) : fmi2Error;
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component component,
                                       const fmi2ValueReference references[], size_t count,
                                       const fmi2Integer order[], const fmi2Real values[]) {
    (void)references, (void)count, (void)order, (void)values;
    return component ? fail(component, "%s: inputs are held, not interpolated", __func__)
                     : fmi2Error;
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component component,
                                        const fmi2ValueReference references[], size_t count,
                                        const fmi2Integer order[], fmi2Real values[]) {
    (void)references, (void)count, (void)order, (void)values;
    return component ? fail(component, "%s: output derivatives are not provided", __func__)
                     : fmi2Error;
}

static fmi2Status no_status(const Instance* instance, const char* function) {
    return instance
               ? (fail(instance, "%s: steps are synchronous, there is no such status", function),
                  fmi2Discard)
               : fmi2Error;
}

fmi2Status fmi2GetStatus(fmi2Component component, const fmi2StatusKind kind, fmi2Status* value) {
    (void)kind, (void)value;
    return no_status(component, __func__);
}

fmi2Status fmi2GetRealStatus(fmi2Component component, const fmi2StatusKind kind, fmi2Real* value) {
    const Instance* instance = component;
    if (instance == NULL || kind != fmi2LastSuccessfulTime) return no_status(instance, __func__);
    *value = instance->state.time;
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
    *value = fmi2False;
    return fmi2OK;
}

fmi2Status fmi2GetStringStatus(fmi2Component component, const fmi2StatusKind kind,
                               fmi2String* value) {
    (void)kind, (void)value;
    return no_status(component, __func__);
}
