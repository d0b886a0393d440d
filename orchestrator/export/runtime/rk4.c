/* Runge-Kutta's classical method of fourth order, H / ceil(H / max step) at a time: the same work
 * in every communication step, as real time needs it. */
#include "instance.h"

static void rk4(Instance* instance, double time, double h) {
    double* x = instance->state.values + AT_X;
    double *k1 = instance->k[0], *k2 = instance->k[1], *k3 = instance->k[2], *k4 = instance->k[3];
    double* stage = instance->stage;
    derivatives(instance, time, x, k1);
    for (int i = 0; i < N_X; ++i) stage[i] = x[i] + 0.5 * h * k1[i];
    derivatives(instance, time + 0.5 * h, stage, k2);
    for (int i = 0; i < N_X; ++i) stage[i] = x[i] + 0.5 * h * k2[i];
    derivatives(instance, time + 0.5 * h, stage, k3);
    for (int i = 0; i < N_X; ++i) stage[i] = x[i] + h * k3[i];
    derivatives(instance, time + h, stage, k4);
    for (int i = 0; i < N_X; ++i) x[i] += h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]);
}

static Status report_divergence(Instance* instance, double time, const char* function) {
    const double* v = instance->state.values;
    int culprit = AT_X;
    while (culprit < AT_P - 1 && isfinite(v[culprit])) ++culprit;
    for (int i = AT_U; i < AT_X; ++i)
        if (!isfinite(v[i])) culprit = i;
    instance->state.mode = MODE_ERROR;
    if (culprit >= AT_X && instance->failed_block) return report_block(instance, function);
    return fail(
        instance, "%s: '%s' is %g in the step from t = %.9g s%s", function, model_names[culprit],
        v[culprit], time,
        culprit < AT_X ? "" : "; the internal step may be too long, or the model divides by 0");
}

static inline Status integrate(Instance* instance, double time, double step, const char* function) {
    const double* x = instance->state.values + AT_X;
    if (step != instance->last_step) {
        double wanted = ceil(step / MODEL_MAX_STEP * (1.0 - 1e-12));
        if (!(wanted <= 1e9))
            return fail(instance, "%s: a step of %.17g s needs %g internal steps of %g s", function,
                        step, wanted, MODEL_MAX_STEP);
        instance->substeps = wanted > 1.0 ? (int)wanted : 1;
        instance->last_step = step;
    }
    double h = step / instance->substeps, sum = 0.0;
    for (int n = 0; n < instance->substeps; ++n) rk4(instance, time + n * h, h);
    for (int i = 0; i < N_X; ++i) sum += 0.0 * x[i];
    /* 0 * NaN and 0 * inf are NaN */
    return sum == 0.0 ? STATUS_OK : report_divergence(instance, time, function);
}
