/* Inputs that move during a communication step (FMI 2.0, fmi2SetRealInputDerivatives, orders 1 to
 * 3): u(t) = u0 + u1 (t - t0) + u2 (t - t0)^2 / 2 + u3 (t - t0)^3 / 6 from the beginning t0 of the
 * step. Derivatives hold for one step; then the input stays where it has got to. Setting the input
 * anew ends them. They are kept as coefficients of the powers of t - t0. */
#include "instance.h"

enum { MOVES_NONE, MOVES_SET, MOVES_SPENT };

/* A value that moves: one that does not keeps its sign where it is -0.0, which + 0.0 would lose. */
static inline double moved(double value, double change) {
    return change == 0.0 ? value : value + change;
}

/* What an input has moved by after a while. */
static inline double moved_by(const State* s, int i, double h) {
    const double *u1 = s->moves + i, *u2 = u1 + N_U, *u3 = u2 + N_U;
    return h * (*u1 + h * (*u2 + h * *u3));
}

/* The inputs at a time within the present step. */
static inline const double* inputs_at(Instance* instance, double time) {
    const State* s = &instance->state;
    const double* u = s->values + AT_U;
    if (N_U == 0 || s->moves_are != MOVES_SET) return u;
    for (int i = 0; i < N_U; ++i)
        instance->u_now[i] = moved(u[i], moved_by(s, i, time - s->moves_since));
    return instance->u_now;
}

/* Derivatives of the step before are still good for those of outputs, not for the next step. */
static inline void forget_moves(State* s) {
    if (s->moves_are == MOVES_SPENT) {
        static const double none[ROOM(INPUT_ORDER * N_U)]; /* a copy of few is faster than memset */
        memcpy(s->moves, none, sizeof s->moves);
        s->moves_are = MOVES_NONE;
    }
}

static inline void stop_moving(State* s, int i) {
    for (int k = 0; k < INPUT_ORDER; ++k) s->moves[k * N_U + i] = 0.0;
}

static inline void begin_step(State* s, double time) {
    forget_moves(s);
    s->moves_since = time;
}

/* Lets the inputs, and their derivatives, be those of a time within the step. */
static inline void move_inputs(State* s, double time) {
    if (s->moves_are != MOVES_SET) return;
    double h = time - s->moves_since;
    for (int i = 0; i < N_U; ++i) {
        double *u1 = s->moves + i, *u2 = u1 + N_U, *u3 = u2 + N_U;
        s->values[AT_U + i] = moved(s->values[AT_U + i], moved_by(s, i, h));
        *u1 += h * (2.0 * *u2 + 3.0 * h * *u3);
        *u2 += 3.0 * h * *u3;
    }
    s->moves_since = time;
}

static inline void end_step(State* s, double time) {
    move_inputs(s, time);
    if (s->moves_are == MOVES_SET) s->moves_are = MOVES_SPENT;
}

static inline bool is_real_input(int place) {
    return within(place, AT_U, AT_X) && model_types[place] == TYPE_REAL;
}

__attribute__((unused)) static Status refuse_derivative(const Instance* instance, Reference at,
                                                        int order, double value,
                                                        const char* function) {
    if (!is_real_input(at))
        return fail(instance, "%s: the value reference %u is no Real input", function, at);
    if (order < 1 || order > INPUT_ORDER)
        return fail(instance, "%s: the derivative of order %d of '%s'; expected 1 to %d", function,
                    order, model_names[at], INPUT_ORDER);
    return fail(instance, "%s: the derivative of '%s' would be %g", function, model_names[at],
                value);
}

/* FMI 3.0 has no such function. */
__attribute__((unused)) static Status set_input_derivatives(Instance* instance,
                                                            const Reference references[],
                                                            size_t count, const int32_t orders[],
                                                            const double values[],
                                                            const char* function) {
    static const double share[] = {1.0, 1.0, 1.0 / 2.0, 1.0 / 6.0};
    if (!allowed(instance, MODE_INITIALIZATION | MODE_STEP, function)) return STATUS_ERROR;
    State* s = &instance->state;
    if (s->interface != CO_SIMULATION)
        return fail(instance, "%s: only for co-simulation", function);
    for (size_t i = 0; i < count; ++i) {
        Reference at = references[i];
        int order = orders[i];
        if (!is_real_input(at) || order < 1 || order > INPUT_ORDER || !isfinite(values[i]))
            return refuse_derivative(instance, at, order, values[i], function);
    }
    forget_moves(s);
    for (size_t i = 0; i < count; ++i)
        s->moves[(orders[i] - 1) * N_U + (int)references[i] - AT_U] = values[i] * share[orders[i]];
    if (count > 0) s->moves_are = MOVES_SET, s->moves_since = s->values[AT_TIME];
    return STATUS_OK;
}
