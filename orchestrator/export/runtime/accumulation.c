/* Events that never end: chattering, gaps that shrink to nothing, rebounds too low to be seen. */
#include "instance.h"

#if HAS_EVENTS

static const double zeno_ratio = 1e-6; /* gaps between events that shrink this far never end */

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
    return fail(
        instance,
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

#endif
