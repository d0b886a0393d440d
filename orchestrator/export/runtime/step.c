/* A communication step; `integrate` is the solver's, from the file that model.h names. */
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
    begin_step(s);
    if (N_X > 0 && step > 0.0) {
        Status status = integrate(instance, time, step, function);
        if (status != STATUS_OK) return status;
    }
    move_inputs(s, step);
    s->values[AT_TIME] = time + step;
    if (!settle(instance)) {
        s->mode = MODE_ERROR;
        return report_block(instance, function);
    }
    s->stale |= STALE_OUTPUTS | STALE_LOCALS;
    return STATUS_OK;
}
