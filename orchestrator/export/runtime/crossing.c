/* State events inside a step: where relations change, and whether that ever ends. */
#include "instance.h"

#if HAS_EVENTS

enum { CROWD = 100, BLOCK = 4 };

static const double zeno_ratio = 1e-6; /* gaps between events that shrink this far never end */

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
 * a relation has changed. After an event they begin close behind it: a ball that bounces low is back
 * before the step ends. */
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

/* Events that crowd at one moment, or ever faster (counted by blocks, since each bounce of a ball
 * is two events), never let time pass on. */
static bool is_chattering(Instance* instance, double step) {
    Events* e = &instance->state.events;
    double time = instance->state.values[AT_TIME];
    if (time - e->crowd_since > 1e-6 * fmax(step, 1e-3)) e->crowd = 0, e->crowd_since = time;
    if (++e->crowd >= CROWD) return true;
    if (++e->in_block < BLOCK) return false;
    double block = time - e->block_since;
    bool shrinks = block < 0.999 * e->last_block && block > 0.01 * e->last_block;
    if (!shrinks) e->shrinking = 0, e->first_block = block;
    e->shrinking += shrinks;
    e->in_block = 0, e->block_since = time, e->last_block = block;
    return e->shrinking >= 3 && block < zeno_ratio * e->first_block;
}

static Status report_chattering(Instance* instance, const char* label, const char* function) {
    State* s = &instance->state;
    const Events* e = &s->events;
    s->mode = MODE_ERROR;
    if (e->crowd >= CROWD)
        return fail(instance,
                    "%s: chattering at t = %.9g s: %d events within %.3g s, the last at '%s'; give "
                    "the switching a hysteresis, or write the sliding motion as a state of its own",
                    function, s->values[AT_TIME], e->crowd, s->values[AT_TIME] - e->crowd_since,
                    label);
    return fail(instance,
                "%s: events accumulate before t = %.9g s at '%s', closer than can be told apart; let "
                "the motion come to rest below some speed",
                function, s->values[AT_TIME], label);
}

/* Which relation, if any, just crossed but moves back after the event, as the height of a ball that
 * bounces: it must change again. */
static bool expect_rebound(Instance* instance) {
    State* s = &instance->state;
    const double *x = s->values + AT_X, time = s->values[AT_TIME];
    double *slope = instance->next, *ahead = instance->stage;
    s->events.rebound = 0;
    if (!instance->states_changed) return true;
    if (any_crossed(instance, time, x) < 0) return false;
    memcpy(instance->margin_before, instance->margin, sizeof instance->margin);
    derivatives(instance, time, x, slope);
    for (int i = 0; i < N_X; ++i) ahead[i] = x[i] + 1e-3 * instance->window_length * slope[i];
    if (any_crossed(instance, time, ahead) < 0) return true;
    for (int i = 0; i < N_R; ++i) {
        double before = instance->margin_before[i], after = instance->margin[i];
        bool holds = s->q[Q_RELATION + i] != 0.0;
        if (!model_foreseen[i] && fabs(before) <= 2.0 * instance->band[i] &&
            (holds ? after < before : after > before))
            s->events.rebound = i + 1;
    }
    return true;
}

/* Whether that relation has gone on as if there had been no event: its rebound was too low to be
 * seen, and the states that follow are wrong. */
static const char* missed_rebound(Instance* instance) {
    const State* s = &instance->state;
    int i = s->events.rebound - 1;
    if (i < 0 || any_crossed(instance, s->values[AT_TIME], s->values + AT_X) != 0) return NULL;
    double depth = distance(instance, i, instance->margin, instance->band);
    return depth > 5.0 * instance->band[i] ? model_relation_labels[i] : NULL;
}

/* An event at the present time, between two pieces of a communication step. */
static Status happen_inside(Instance* instance, const char* relation, double step,
                            const char* function) {
    move_inputs(&instance->state, instance->state.values[AT_TIME]);
    bool chatters = relation != NULL && is_chattering(instance, step);
    if (chatters) return report_chattering(instance, relation, function);
    mark_samplers(instance);
    Status status = happen(instance, function);
    if (status == STATUS_OK && !expect_rebound(instance)) return report_modes(instance, function);
    return status;
}

static Status go_on(Instance* instance, double end, const char* function) {
    double now = instance->state.values[AT_TIME];
    if (N_X > 0 && end - now > near(end)) return advance(instance, end, function);
    instance->t_before = now;
    memcpy(instance->x_before, instance->state.values + AT_X, sizeof(double) * N_X);
    instance->state.values[AT_TIME] = N_X > 0 ? end : fmin(end, now + MODEL_MAX_STEP);
    return STATUS_OK;
}

/* Goes on to `end`, from event to event. With event mode an event that may end the step does. */
static Status step_through_events(Instance* instance, double end, const char* function) {
    State* s = &instance->state;
    double* time = &s->values[AT_TIME];
    double begin = *time;
    bool may_return = instance->event_mode_used && instance->early_return_allowed;
    if (s->event_due && may_return && pending_relation(instance)) {
        instance->event_needed = instance->early_return = true;
        return STATUS_OK;
    }
    if (s->event_due) {
        if (follow_samplers(instance, false, function) != STATUS_OK) return STATUS_ERROR;
        Status status = happen(instance, function);
        if (status != STATUS_OK) return status;
    }
    while (!s->terminated) {
        double next = next_instant(instance), before = *time;
        const char* relation = NULL;
        if (before < end) {
            double stop = next > end + near(end) ? end : fmax(next, before);
            Status status = go_on(instance, stop, function);
            if (status != STATUS_OK) return status;
            double place = before;
            bool after_event = s->events.after_event != 0;
            int crossed = crossed_inside(instance, before, after_event, &place);
            s->events.after_event = 0;
            if (crossed < 0 || (crossed && !find_crossing(instance, before, place)))
                return report_modes(instance, function);
            if (crossed) relation = changed_relation(instance);
        }
        if (relation || instant_has_come(instance, next)) {
            bool early = *time < end && instance->early_return_allowed;
            if (instance->event_mode_used && (early || *time >= end)) {
                instance->event_needed = true;
                instance->early_return = early;
                s->stale |= STALE_OUTPUTS | STALE_LOCALS;
                return STATUS_OK;
            }
            Status status = happen_inside(instance, relation, end - begin, function);
            if (status != STATUS_OK) return status;
        } else if ((relation = missed_rebound(instance))) {
            return report_chattering(instance, relation, function);
        } else if (check_assertions(instance, false, function) != STATUS_OK) {
            return STATUS_ERROR;
        }
        if (*time >= end && next_instant(instance) > *time + near(*time)) return STATUS_OK;
    }
    return STATUS_OK;
}

#endif
