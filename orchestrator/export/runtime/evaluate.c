/* Calls of the generated functions, each at most once after a change. */
#include "instance.h"

static inline void derivatives(const Instance* instance, double time, const double* x, double* dx) {
    const double* v = instance->state.values;
    const double* arguments[] = {&time, v + AT_U, x, v + AT_P, v + AT_C};
    double* results[] = {dx};
    model_ode(arguments, results, NULL, NULL, 0);
}

/* Calculated parameters and, until initialisation ends, start values that follow parameters. */
static void update_parameters(Instance* instance) {
    State* s = &instance->state;
    const double* arguments[] = {s->values + AT_P, s->values + AT_C};
    double* calculated[] = {s->values + AT_C};
    double* start[] = {instance->stage};
    model_calculated(arguments, calculated, NULL, NULL, 0);
    if (s->mode & MODES_SETUP) {
        model_start(arguments, start, NULL, NULL, 0);
        for (int i = 0; i < N_X; ++i)
            if (!s->start_set[i]) s->values[AT_X + i] = instance->stage[i];
    }
    s->stale &= ~(uint32_t)STALE_PARAMETERS;
}

/* Makes the value at a position agree with the present inputs, states and parameters. */
static inline void refresh(Instance* instance, Reference reference) {
    State* s = &instance->state;
    if (s->stale == 0) return;
    if (s->stale & STALE_PARAMETERS) update_parameters(instance);
    if ((int)reference < AT_Y) return;
    double* v = s->values;
    const double* arguments[] = {v + AT_TIME, v + AT_U, v + AT_X, v + AT_P, v + AT_C};
    if ((int)reference < AT_W) {
        if (!(s->stale & STALE_OUTPUTS)) return;
        double* results[] = {v + AT_Y};
        model_outputs(arguments, results, NULL, NULL, 0);
        s->stale &= ~(uint32_t)STALE_OUTPUTS;
    } else if (s->stale & STALE_LOCALS) {
        double* results[] = {v + AT_W, v + AT_DX};
        model_locals(arguments, results, NULL, NULL, 0);
        s->stale &= ~(uint32_t)STALE_LOCALS;
    }
}
