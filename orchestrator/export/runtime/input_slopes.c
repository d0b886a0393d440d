/* Inputs that move during a communication step (FMI 2.0, fmi2SetRealInputDerivatives, order 1):
 * u(t) = u0 + u1 (t - t0) from the beginning t0 of the step. A slope holds for one step; then the
 * input stays where it has got to. Setting the input anew ends its slope. */
#include "instance.h"

enum { SLOPES_NONE, SLOPES_SET, SLOPES_SPENT };

/* The inputs at a time within the present step. */
static inline const double* inputs_at(Instance* instance, double time) {
    const State* s = &instance->state;
    const double* u = s->values + AT_U;
    if (N_U == 0 || s->slopes_are != SLOPES_SET) return u;
    for (int i = 0; i < N_U; ++i)
        instance->u_now[i] = u[i] + s->slopes[i] * (time - s->slopes_since);
    return instance->u_now;
}

/* Slopes of the step before are still good for output derivatives, not for the next step. */
static inline void forget_slopes(State* s) {
    if (s->slopes_are == SLOPES_SPENT) {
        memset(s->slopes, 0, sizeof s->slopes);
        s->slopes_are = SLOPES_NONE;
    }
}

static inline void begin_step(State* s, double time) {
    forget_slopes(s);
    s->slopes_since = time;
}

/* Lets the inputs be those of a time within the step. */
static inline void move_inputs(State* s, double time) {
    if (s->slopes_are != SLOPES_SET) return;
    for (int i = 0; i < N_U; ++i) s->values[AT_U + i] += s->slopes[i] * (time - s->slopes_since);
    s->slopes_since = time;
}

static inline void end_step(State* s, double time) {
    move_inputs(s, time);
    if (s->slopes_are == SLOPES_SET) s->slopes_are = SLOPES_SPENT;
}

/* FMI 3.0 has no such function. */
__attribute__((unused)) static Status set_slopes(Instance* instance, const Reference references[],
                                                 size_t count, const int32_t orders[],
                                                 const double values[], const char* function) {
    if (!allowed(instance, MODE_INITIALIZATION | MODE_STEP, function)) return STATUS_ERROR;
    State* s = &instance->state;
    if (s->interface != CO_SIMULATION)
        return fail(instance, "%s: only for co-simulation", function);
    for (size_t i = 0; i < count; ++i) {
        Reference at = references[i];
        int64_t place = at;
        if (place < AT_U || place >= AT_X || model_types[place] != TYPE_REAL)
            return fail(instance, "%s: the value reference %u is no Real input", function, at);
        if (orders[i] != 1)
            return fail(instance, "%s: the derivative of order %d of '%s'; only order 1 is used",
                        function, orders[i], model_names[at]);
        if (!isfinite(values[i]))
            return fail(instance, "%s: the derivative of '%s' would be %g", function,
                        model_names[at], values[i]);
    }
    forget_slopes(s);
    for (size_t i = 0; i < count; ++i) s->slopes[references[i] - AT_U] = values[i];
    if (count > 0) s->slopes_are = SLOPES_SET, s->slopes_since = s->values[AT_TIME];
    return STATUS_OK;
}
