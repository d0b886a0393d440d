/* Methods of fixed steps, H / ceil(H / max step) at a time: the same work in every communication
 * step, as real time needs it. The file that includes this one defines `integrate`: one step, with
 * the derivatives at its begin in k[0] and, if it says `slopes_known`, those at its end in k[4]. */
#include "instance.h"

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

static bool jump(Instance* instance);

/* A step without a solution is tried again with half its length; where none is short enough, the
 * branch of solutions ends. */
static bool shorten_step(Instance* instance, double t, double h) {
    double *x = instance->state.values + AT_X, *now = instance->state.values + AT_TIME;
    const char* label = instance->failed_block;
    const double shortest = 16.0 * DBL_EPSILON * fmax(fabs(t), instance->window_length);
    while ((h *= 0.5) > shortest) {
        memcpy(x, instance->x_before, sizeof(double) * N_X);
        instance->slopes_known = false;
        instance->failed_block = NULL;
        integrate(instance, t, h);
        *now = t + h;
        if (instance->failed_block == NULL) return true;
    }
    memcpy(x, instance->x_before, sizeof(double) * N_X);
    *now = t;
    instance->slopes_known = false;
    instance->failed_block = label;
    return jump(instance);
}

static bool divide(Instance* instance, const char* function) {
    double length = instance->window_length, wanted = ceil(length / MODEL_MAX_STEP * (1.0 - 1e-12));
    if (!(wanted <= 1e9)) {
        fail(instance, "%s: a step of %.17g s needs %g internal steps of %g s", function, length,
             wanted, MODEL_MAX_STEP);
        return false;
    }
    instance->substeps = wanted > 1.0 ? (int)wanted : 1;
    instance->last_step = length;
    return true;
}

/* To the next point of the grid; from one, unless an event has interrupted the step before. */
static inline Status advance(Instance* instance, double end, const char* function) {
    State* s = &instance->state;
    double *x = s->values + AT_X, *now = s->values + AT_TIME, t = *now, sum = 0.0;
    if (instance->window_length != instance->last_step && !divide(instance, function))
        return STATUS_ERROR;
    const double begin = instance->window_begin;
    double h = instance->window_length / instance->substeps;
    if (t == begin) instance->substep = 0;
    int n = instance->substep;
    while (n > 0 && begin + n * h > t) --n;
    double target =
        n + 1 < instance->substeps ? begin + (n + 1) * h : begin + instance->window_length;
    if (t != begin + n * h) h = target - t;
    if (target > end) h = end - t, target = end;
    instance->substep = n + 1;
    instance->t_before = t;
    memcpy(instance->x_before, x, sizeof(double) * N_X);
    if (N_Z > 0) instance->failed_block = NULL;
    integrate(instance, t, h);
    if (N_Z > 0 && instance->failed_block && instance->failure == NO_SOLUTION) {
        if (shorten_step(instance, t, h)) return STATUS_OK;
        return report_divergence(instance, instance->window_begin, function);
    }
    *now = target;
    if (target < end) return STATUS_OK; /* what is not finite stays so until the end */
    for (int i = 0; i < N_X; ++i) sum += 0.0 * x[i];
    /* 0 * NaN and 0 * inf are NaN */
    return sum == 0.0 ? STATUS_OK : report_divergence(instance, instance->window_begin, function);
}

/* The cubic through the states and derivatives at both ends (Hermite). */
__attribute__((unused)) static void dense(Instance* instance, double t, double* x) {
    const double *before = instance->x_before, *now = instance->state.values + AT_X;
    const double *first = instance->k[0], *last = instance->k[4];
    double end = instance->state.values[AT_TIME], h = end - instance->t_before;
    double done = (t - instance->t_before) / h, left = 1.0 - done;
    if (!instance->slopes_known) derivatives(instance, end, now, instance->k[4]);
    instance->slopes_known = true;
    for (int i = 0; i < N_X; ++i) {
        double way = now[i] - before[i], bend = h * first[i] - way;
        x[i] = before[i] + done * (way + left * (bend * left + done * (way - h * last[i])));
    }
}

__attribute__((unused)) static void restart(Instance* instance) { instance->slopes_known = false; }
