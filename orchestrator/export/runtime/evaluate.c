/* Calls of the generated functions, each at most once after a change. */
#include "instance.h"

static inline void derivatives(Instance* instance, double time, const double* x, double* dx) {
    const double* v = instance->state.values;
    double* z = instance->state.z;
    const double* u = inputs_at(instance, time);
    const double* arguments[] = {&time, u, x, v + AT_P, v + AT_C, instance->state.q, z};
    double sum = 0.0;
    for (int i = 0; i < N_X && N_Z + N_GUARDS > 0; ++i) sum += 0.0 * x[i];
    /* The solver sees that it cannot go there. A NaN in x is the trace of an earlier failure, which
     * keeps its message. */
    if (sum != 0.0 || !solve_running(instance, arguments, z)) {
        for (int i = 0; i < N_X; ++i) dx[i] = NAN;
        return;
    }
    instance->state.z_known = 1;
    double* results[] = {dx};
    model_ode(arguments, results, NULL, NULL, 0);
}

/* Calculated parameters and, until initialisation ends, start values that follow from parameters
 * and initial equations; false if those have no solution. */
static bool update_parameters(Instance* instance) {
    State* s = &instance->state;
    const double* arguments[] = {s->values + AT_P, s->values + AT_C};
    double* calculated[] = {s->values + AT_C};
    double* start[] = {instance->stage};
    model_calculated(arguments, calculated, NULL, NULL, 0);
    instance->fixed_known = false;
    if (s->mode & MODES_SETUP) {
        model_start(arguments, start, NULL, NULL, 0);
        for (int i = 0; i < N_X; ++i)
            if (!s->start_set[i]) s->values[AT_X + i] = instance->stage[i];
        s->z_known = 0;
#if HAS_EVENTS
        if (!start_modes(instance)) return false;
#else
        if (!solve_initial(instance)) return false;
#endif
#if IS_SAMPLED
        begin_memory(instance);
#endif
    }
    s->stale &= ~(uint32_t)STALE_PARAMETERS;
    return true;
}

/* Makes the value at a position agree with the present inputs, states and parameters; false if
 * implicit equations have no solution. */
static inline bool refresh(Instance* instance, Reference reference) {
    State* s = &instance->state;
    if (s->stale == 0) return true;
    if ((s->stale & STALE_PARAMETERS) && !update_parameters(instance)) return false;
    bool shows_discrete = (int)reference >= AT_D && (int)reference < AT_Y && s->event_due;
    if (IS_SAMPLED || ((int)reference < AT_Y && !shows_discrete)) return true;
    double *v = s->values, *z = instance->z_now;
    const double* arguments[] = {v + AT_TIME, v + AT_U, v + AT_X, v + AT_P, v + AT_C, s->q, z};
    bool outputs = (int)reference < AT_W;
    if (!(s->stale & (outputs ? STALE_OUTPUTS : STALE_LOCALS))) return true;
    bool solved = begin_preview(instance);
    memcpy(z, s->z, sizeof s->z); /* looking at values must not change what the solver does next */
    instance->far = true;         /* as the next step would */
    solved = solved && solve_running(instance, arguments, z);
    instance->far = false;
    if (solved && outputs) {
        double* results[] = {v + AT_Y};
        model_outputs(arguments, results, NULL, NULL, 0);
        s->stale &= ~(uint32_t)STALE_OUTPUTS;
    } else if (solved) {
        double* results[] = {v + AT_W, v + AT_DX};
        model_locals(arguments, results, NULL, NULL, 0);
        if (N_INDICATORS > 0 && (solved = compare(instance, v[AT_TIME], v + AT_X, z)))
            indicate(instance, v + AT_INDICATOR);
        s->stale &= ~(uint32_t)STALE_LOCALS;
    }
    end_preview(instance);
    return solved;
}
