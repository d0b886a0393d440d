/* A communication step. The solver, from the file that model.h names, defines three functions:
 *
 * advance: one accepted internal step from values[AT_TIME] and values[AT_X] towards `end` and never
 *     beyond; the new time and states stand there after it.
 * dense: the states at a time inside the step that `advance` has just made, as long as time, states
 *     and inputs are those it left; `x` may be values + AT_X.
 * restart: inputs, parameters or states have jumped, nothing of the past may be used. At the
 *     beginning of a communication step the solvers expect such a jump without being told. */
#include "instance.h"

static bool step_is_valid(const Instance* instance, double time, double step,
                          const char* function) {
    const State* s = &instance->state;
    double slack = 1e-9 * fmax(1.0, fabs(time));
    if (!(step >= 0.0) || !isfinite(step)) {
        fail(instance, "%s: the communication step is %.17g s", function, step);
        return false;
    }
#if IS_SAMPLED
    if (step > MODEL_LONGEST_STEP * (1.0 + 1e-9)) {
        fail(instance,
             "%s: the communication step is %.17g s; the longest that the model takes is "
             "%.17g s",
             function, step, MODEL_LONGEST_STEP);
        return false;
    }
#endif
    if (!isfinite(time) || !(fabs(time - s->values[AT_TIME]) <= slack)) {
        fail(instance, "%s: the step starts at t = %.17g s, but the FMU is at t = %.17g s",
             function, time, s->values[AT_TIME]);
        return false;
    }
    if (s->stop_time_defined && time + step > s->stop_time + slack) {
        fail(instance, "%s: the step ends at t = %.17g s, after the stop time %.17g s", function,
             time + step, s->stop_time);
        return false;
    }
    return true;
}

#if HAS_EVENTS

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
    Followed piece = {.length = INFINITY};
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
            begin_piece(instance, &piece);
            stop = fmin(stop, before + piece.length);
            Status status = go_on(instance, stop, function);
            if (status != STATUS_OK) return status;
            double place = before;
            bool after_event = s->events.after_event != 0;
            int crossed = crossed_inside(instance, before, after_event, &place);
            s->events.after_event = 0;
            if (crossed < 0 || (crossed && !find_crossing(instance, before, place))) {
                if (!go_back(instance, &piece)) return report_modes(instance, function);
                s->events.after_event |= after_event;
                continue;
            }
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

#if !HAS_EVENTS && !IS_SAMPLED

/* Goes on to `end`, also from one branch of solutions to another. */
static inline Status step_without_events(Instance* instance, double end, const char* function) {
    State* s = &instance->state;
    double *time = &s->values[AT_TIME], *x = s->values + AT_X;
    Followed piece = {.length = INFINITY};
    do {
        begin_piece(instance, &piece);
        double stop = fmin(end, piece.time + piece.length);
        while (N_X > 0 && *time < stop) {
            Status status = advance(instance, stop, function);
            if (status != STATUS_OK) return status;
        }
        *time = fmax(stop, *time);
        bool solved = solve_at(instance, *time, x, s->z, false);
        s->z_known |= solved;
        if (solved && *time >= end) return STATUS_OK;
        if (solved) continue;
        if (!go_back(instance, &piece)) break;
    } while (true);
    s->mode = MODE_ERROR;
    return report_block(instance, function);
}

#endif

static inline Status do_step(Instance* instance, double time, double step, const char* function) {
    if (!allowed(instance, MODE_STEP, function)) return STATUS_ERROR;
    if (!step_is_valid(instance, time, step, function)) return STATUS_ERROR;
    State* s = &instance->state;
    if ((s->stale & STALE_PARAMETERS) && !update_parameters(instance))
        return report_block(instance, function);
    const double end = time + step, now = s->values[AT_TIME];
    instance->event_needed = instance->early_return = false;
    if (s->terminated) return STATUS_OK; /* at the start: only a step can tell it */
    /* An event at the end may have been at an instant that lies beyond by rounding. */
    bool ahead = HAS_EVENTS && now > time && now - time <= near(now);
    s->values[AT_TIME] = instance->window_begin = ahead ? now : time;
    begin_step(s, s->values[AT_TIME]);
    ask_for_inputs(instance, end - s->values[AT_TIME]);
    instance->window_length = step;
    instance->slopes_known = false;
#if IS_SAMPLED
    Status status = take_step(instance, time, step, function);
    if (status != STATUS_OK) return status;
#elif HAS_EVENTS
    Status status = step_through_events(instance, end, function);
    if (status == STATUS_OK && instance->event_needed) end_step(s, s->values[AT_TIME]);
    if (status != STATUS_OK || instance->event_needed || s->terminated) return status;
#else
    Status status = step_without_events(instance, end, function);
    if (status != STATUS_OK) return status;
#endif
    s->values[AT_TIME] = fmax(end, s->values[AT_TIME]);
    end_step(s, s->values[AT_TIME]);
    if (HAS_EVENTS && !settle(instance)) {
        s->mode = MODE_ERROR;
        return report_block(instance, function);
    }
    s->stale |= STALE_OUTPUTS | STALE_LOCALS;
    return STATUS_OK;
}
