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
    if (!(fabs(time - s->values[AT_TIME]) <= slack)) {
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

static inline Status do_step(Instance* instance, double time, double step, const char* function) {
    if (!allowed(instance, MODE_STEP, function)) return STATUS_ERROR;
    if (!step_is_valid(instance, time, step, function)) return STATUS_ERROR;
    State* s = &instance->state;
    if ((s->stale & STALE_PARAMETERS) && !update_parameters(instance))
        return report_block(instance, function);
    if (s->terminated) return fail(instance, "%s: the model has ended the simulation", function);
    const double end = time + step, now = s->values[AT_TIME];
    instance->event_needed = instance->early_return = false;
    /* An event at the end may have been at an instant that lies beyond by rounding. */
    bool ahead = HAS_EVENTS && now > time && now - time <= near(now);
    s->values[AT_TIME] = instance->window_begin = ahead ? now : time;
    begin_step(s, s->values[AT_TIME]);
    instance->window_length = step;
    instance->slopes_known = false;
#if HAS_EVENTS
    Status status = step_through_events(instance, end, function);
    if (status != STATUS_OK || instance->event_needed || s->terminated) return status;
#else
    while (N_X > 0 && s->values[AT_TIME] < end) {
        Status status = advance(instance, end, function);
        if (status != STATUS_OK) return status;
    }
#endif
    s->values[AT_TIME] = fmax(end, s->values[AT_TIME]);
    end_step(s, s->values[AT_TIME]);
    if (!settle(instance)) {
        s->mode = MODE_ERROR;
        return report_block(instance, function);
    }
    s->stale |= STALE_OUTPUTS | STALE_LOCALS;
    return STATUS_OK;
}
