/* Inputs that the importer gives while a step is made (FMI 3.0, intermediate update). It is asked
 * at four moments of the communication step, and the inputs move along the cubic through its
 * answers, as if it had given their derivatives (input_derivatives.c): so solver, events and saved
 * states know of one way only. */
#include "instance.h"

enum { ASKED = INPUT_ORDER + 1 };

/* Whether the importer will answer for these variables; only Real inputs are asked for. FMI 2.0 has
 * no such thing. */
__attribute__((unused)) static bool require_inputs(Instance* instance, const Reference references[],
                                                   size_t count) {
    for (size_t i = 0; i < count; ++i) {
        int place = place_of(references[i]);
        if (!within(place, AT_U, AT_X) || model_types[place] != TYPE_REAL) return false;
        memset(instance->is_asked + place - AT_U, 1, MODEL_EXTENT(place));
    }
    return true;
}

/* What the importer sets while it is asked. */
__attribute__((unused)) static Status answer(Instance* instance, const Reference references[],
                                             size_t count, const double values[],
                                             const char* function) {
    for (size_t i = 0; i < count; ++i) {
        Reference at = references[i];
        int place = place_of(at);
        if (!within(place, AT_U, AT_X) || !instance->is_asked[place - AT_U])
            return fail(instance, "%s: '%s' was not required for intermediate update", function,
                        place < 0 ? "?" : model_names[place]);
        for (size_t e = 0; e < MODEL_EXTENT(place); ++e, ++values) {
            if (!isfinite(*values))
                return fail(instance, "%s: the value for '%s' would be %g", function,
                            model_names[at + e], *values);
            instance->u_now[place - AT_U + (int)e] = *values;
        }
    }
    return STATUS_OK;
}

/* The cubic through four values at 0, 1/3, 2/3 and 1 of a step: in powers of the time since its
 * begin. */
static void move_through(State* s, int i, const double value[ASKED], double step) {
    const double d1 = value[1] - value[0], d2 = value[2] - value[1], d3 = value[3] - value[2];
    const double dd1 = d2 - d1, dd2 = d3 - d2, ddd = dd2 - dd1, h = step / INPUT_ORDER;
    if (s->values[AT_U + i] != value[0]) s->event_due = HAS_EVENTS;
    s->values[AT_U + i] = value[0];
    s->moves[i] = (d1 - dd1 / 2.0 + ddd / 3.0) / h;
    s->moves[N_U + i] = (dd1 - ddd) / (2.0 * h * h);
    s->moves[2 * N_U + i] = ddd / (6.0 * h * h * h);
}

static void ask_for_inputs(Instance* instance, double step) {
    State* s = &instance->state;
    if (N_U == 0 || instance->ask == NULL || !(step > 0.0)) return;
    double values[ROOM(N_U)][ASKED];
    memcpy(instance->u_now, s->values + AT_U, sizeof(double) * N_U);
    const int mode = s->mode;
    s->mode = MODE_INTERMEDIATE;
    for (int k = 0; k < ASKED; ++k) {
        instance->ask(instance, s->values[AT_TIME] + step * k / INPUT_ORDER);
        for (int i = 0; i < N_U; ++i) values[i][k] = instance->u_now[i];
    }
    s->mode = mode;
    for (int i = 0; i < N_U; ++i)
        if (instance->is_asked[i]) move_through(s, i, values[i], step);
    s->stale |= STALE_OUTPUTS | STALE_LOCALS;
    s->moves_are = MOVES_SET;
}
