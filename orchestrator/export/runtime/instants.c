/* Instants that are known beforehand: those of samplers, and moments at which relations change. */
#include "instance.h"

/* How far time may be off the instant that was asked for and still count as that. */
static inline double near(double time) { return 4.0 * DBL_EPSILON * fabs(time); }

#if HAS_EVENTS

static void read_moments(Instance* instance) {
    const double* v = instance->state.values;
    const double* arguments[] = {v + AT_P, v + AT_C, instance->state.q};
    double* results[] = {instance->moments};
    if (N_MOMENTS > 0) model_moments(arguments, results, NULL, NULL, 0);
}

/* Relations that change at a moment known beforehand follow the moment itself: rounding may keep
 * time - a - b below zero at the time a + b. */
static void follow_moments(Instance* instance, double* truth) {
    read_moments(instance);
    for (int i = 0, n = 0; i < N_R && n < N_MOMENTS; ++i) {
        if (model_foreseen[i] == NOT_FORESEEN) continue;
        bool passed = instance->state.values[AT_TIME] >= instance->moments[n++];
        truth[i] = passed == (model_foreseen[i] == TRUE_FROM);
    }
}

static double tick(const Instance* instance, int i) {
    const State* s = &instance->state;
    return s->samples[2 * i] + s->ticks[i] * s->samples[2 * i + 1];
}

/* Lets the next instant of a sampler be its first one after a time. */
static void seek(Instance* instance, int i, double time) {
    State* s = &instance->state;
    double guess = floor((time - s->samples[2 * i]) / s->samples[2 * i + 1]) - 1.0;
    s->ticks[i] = fmax(guess, 0.0);
    for (int n = 0; n < 4 && tick(instance, i) <= time; ++n) s->ticks[i] += 1.0;
}

/* Reads start and interval of the samplers, at the start or after parameters have changed: the
 * instants are start + i * interval of the present values, past ones do not come again. */
static Status follow_samplers(Instance* instance, bool at_start, const char* function) {
    State* s = &instance->state;
    const double *v = s->values, time = v[AT_TIME];
    const double* arguments[] = {v + AT_P, v + AT_C};
    double* results[] = {instance->samples};
    if (N_S > 0) model_samples(arguments, results, NULL, NULL, 0);
    for (int i = 0; i < N_S; ++i) {
        double *known = s->samples + 2 * i, *now = instance->samples + 2 * i;
        if (!at_start && known[0] == now[0] && known[1] == now[1]) continue;
        if (!(now[1] > near(time)) || !isfinite(now[1]) || !isfinite(now[0])) {
            s->mode = MODE_ERROR;
            return fail(instance,
                        "%s: sample(%g, %g): the interval must be positive, and beyond rounding",
                        function, now[0], now[1]);
        }
        bool due = at_start || tick(instance, i) <= time + near(time);
        memcpy(known, now, 2 * sizeof(double));
        seek(instance, i, due ? nextafter(time - near(time), -INFINITY) : time + near(time));
    }
    return STATUS_OK;
}

/* Marks the samplers whose instant has come; whether there is one. */
static bool mark_samplers(Instance* instance) {
    State* s = &instance->state;
    double now = s->values[AT_TIME] + near(s->values[AT_TIME]);
    bool any = false;
    for (int i = 0; i < N_S; ++i) {
        if (tick(instance, i) > now) continue;
        seek(instance, i, now);
        s->q[Q_SAMPLE + i] = 1.0;
        note(instance, "t = %.9g s: time event: sample(%.9g, %.9g)", s->values[AT_TIME],
             s->samples[2 * i], s->samples[2 * i + 1]);
        any = true;
    }
    return any;
}

/* The next instant that is known beforehand; infinite if there is none. */
static double next_instant(Instance* instance) {
    const State* s = &instance->state;
    double next = INFINITY, time = s->values[AT_TIME];
    for (int i = 0; i < N_S; ++i) next = fmin(next, tick(instance, i));
    read_moments(instance);
    for (int i = 0, n = 0; i < N_R && n < N_MOMENTS; ++i) {
        if (model_foreseen[i] == NOT_FORESEEN) continue;
        /* A moment that is passed may not have been noticed: the importer's times are rounded. */
        double moment = instance->moments[n++];
        bool noticed = s->q[Q_RELATION + i] == (model_foreseen[i] == TRUE_FROM);
        if (moment > time || !noticed) next = fmin(next, moment);
    }
    return next;
}

static bool instant_has_come(Instance* instance, double next) {
    double time = instance->state.values[AT_TIME];
    return time >= next - near(time);
}

#endif
