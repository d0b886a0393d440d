/* State events inside a step: where relations change. */
#include "instance.h"

#if HAS_EVENTS

/* How far relation i is from changing; negative beyond. */
static double distance(const Instance* instance, int i, const double* margin, const double* band) {
    bool holds = instance->state.q[Q_RELATION + i] != 0.0;
    return (holds ? margin[i] : -margin[i]) + band[i];
}

/* Whether a relation that is not foreseen has changed at a point; -1: no solution there. */
static int any_crossed(Instance* instance, double time, const double* x) {
    memcpy(instance->z_now, instance->state.z, sizeof instance->state.z);
    if (!compare(instance, time, x, instance->z_now)) return -1;
    for (int i = 0; i < N_R; ++i)
        if (!model_foreseen[i] && distance(instance, i, instance->margin, instance->band) < 0.0)
            return 1;
    return 0;
}

/* As any_crossed, at points inside the step from `begin` to now as well; `place` is the first where
 * a relation has changed. After an event they begin close behind it: a ball that bounces low is
 * back before the step ends. */
static int crossed_inside(Instance* instance, double begin, bool after_event, double* place) {
    const State* s = &instance->state;
    double now = s->values[AT_TIME];
    if (N_INDICATORS == 0 || now - begin <= near(now)) return 0;
    for (double part = after_event ? 0x1p-20 : 0.5; part < 1.0; part *= part < 0.1 ? 16.0 : 2.0) {
        *place = begin + part * (now - begin);
        dense(instance, *place, instance->stage);
        int crossed = any_crossed(instance, *place, instance->stage);
        if (crossed) return crossed;
    }
    *place = now;
    return any_crossed(instance, now, s->values + AT_X);
}

/* The first moment after which a relation has changed, by secants that are kept in the bracket; the
 * states follow the solver's interpolation. */
static bool find_crossing(Instance* instance, double low, double high) {
    State* s = &instance->state;
    double* x = instance->stage;
    double width = 8.0 * DBL_EPSILON * fmax(fabs(high), high - low);
    dense(instance, high, instance->next);
    dense(instance, low, x);
    if (any_crossed(instance, low, x) < 0) return false;
    memcpy(instance->margin_before, instance->margin, sizeof instance->margin);
    memcpy(instance->band_before, instance->band, sizeof instance->band);
    if (any_crossed(instance, high, instance->next) < 0) return false;
    for (int count = 0; count < 200 && high - low > width; ++count) {
        double middle = high;
        for (int i = 0; i < N_R && count % 3 != 2; ++i) {
            if (model_foreseen[i]) continue;
            double after = distance(instance, i, instance->margin, instance->band);
            double before = distance(instance, i, instance->margin_before, instance->band_before);
            if (after < 0.0 && before > 0.0)
                middle = fmin(middle, low + (high - low) * before / (before - after));
        }
        if (!(middle < high)) middle = 0.5 * (low + high);
        middle = fmin(fmax(middle, low + 0.5 * width), high - 0.5 * width);
        double keep_margin[ROOM(N_R)], keep_band[ROOM(N_R)];
        memcpy(keep_margin, instance->margin, sizeof keep_margin);
        memcpy(keep_band, instance->band, sizeof keep_band);
        dense(instance, middle, x);
        int crossed = any_crossed(instance, middle, x);
        if (crossed < 0) return false;
        if (crossed) {
            high = middle;
            memcpy(instance->next, x, sizeof(double) * N_X);
        } else {
            low = middle;
            memcpy(instance->margin_before, instance->margin, sizeof keep_margin);
            memcpy(instance->band_before, instance->band, sizeof keep_band);
            memcpy(instance->margin, keep_margin, sizeof keep_margin);
            memcpy(instance->band, keep_band, sizeof keep_band);
        }
    }
    s->values[AT_TIME] = high;
    memcpy(s->values + AT_X, instance->next, sizeof(double) * N_X);
    return true;
}

static const char* changed_relation(const Instance* instance) {
    for (int i = 0; i < N_R; ++i)
        if (!model_foreseen[i] && distance(instance, i, instance->margin, instance->band) < 0.0)
            return model_relation_labels[i];
    return "";
}

/* The relation that has changed at the present point, if any. */
static const char* pending_relation(Instance* instance) {
    const State* s = &instance->state;
    int crossed = any_crossed(instance, s->values[AT_TIME], s->values + AT_X);
    return crossed > 0 ? changed_relation(instance) : NULL;
}

#endif
