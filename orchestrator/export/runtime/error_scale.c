/* For solvers with error control: what an error means, and what to say when none is small enough.
 */
#include "instance.h"

/* What an error of one means for a state; a hundredth of the nominal value is the floor. */
static inline double scale_of(const State* s, int i, double one, double other) {
    return s->tolerance * (0.01 * model_nominals[i] + fmax(fabs(one), fabs(other)));
}

static bool jump(Instance* instance);

static Status report_failure(Instance* instance, double time, double h, const char* function) {
    State* s = &instance->state;
    int culprit = -1;
    for (int i = AT_U; i < AT_X; ++i)
        if (!isfinite(s->values[i])) culprit = i;
    if (culprit < 0 && jump(instance)) return STATUS_OK;
    s->mode = MODE_ERROR;
    if (culprit >= 0)
        return fail(instance, "%s: '%s' is %g in the step from t = %.9g s", function,
                    model_names[culprit], s->values[culprit], time);
    if (instance->failed_block) return report_block(instance, function);
    for (int i = N_X - 1; i >= 0; --i)
        if (!isfinite(instance->k[0][i])) culprit = i;
    if (culprit >= 0)
        return fail(instance,
                    "%s: '%s' is %g and its derivative %g at t = %.9g s; the model divides by 0 or "
                    "has left its domain",
                    function, model_names[AT_X + culprit], s->values[AT_X + culprit],
                    instance->k[0][culprit], time);
    double worst = -1.0;
    for (int i = 0; i < N_X; ++i) {
        double slope = fabs(instance->k[0][i]) / scale_of(s, i, s->values[AT_X + i], 0.0);
        if (slope > worst) worst = slope, culprit = i;
    }
    return fail(instance,
                "%s: the internal step has fallen to %.3g s at t = %.17g s: '%s' (now %g) changes "
                "too fast there, or the model is singular",
                function, h, time, model_names[AT_X + culprit], s->values[AT_X + culprit]);
}
