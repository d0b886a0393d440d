/* The explicit Runge-Kutta pair of Dormand and Prince, order 5(4), with error control.
 *
 * E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd ed., 1993:
 * step-size control (II.4) with the PI term of DOPRI5, starting step
 * II.4, stiffness detection IV.2 of volume II. Changed: steps end at communication points, where
 * the first stage is computed anew (inputs may have jumped); a step that was cut there does not
 * shorten the next one. What the controller remembers is part of the FMU state. */
#include "dopri5.h"

#include "error_scale.c"
#include "instance.h"

enum { NOT_STIFF_STEPS = 6 };

static const double stage_times[7] = DOPRI5_TIMES;
static const double stage_weights[7][6] = DOPRI5_STAGES;
static const double error_weights[7] = DOPRI5_ERRORS;

static double scaled_norm(const State* s, const double* values, const double* x) {
    double sum = 0.0;
    for (int i = 0; i < N_X; ++i) {
        double ratio = values[i] / scale_of(s, i, x[i], x[i]);
        sum += ratio * ratio;
    }
    return sqrt(sum / ROOM(N_X));
}

static double starting_step(Instance* instance, double time, double longest) {
    const State* s = &instance->state;
    const double* x = s->values + AT_X;
    double *k1 = instance->k[0], *k2 = instance->k[1], *stage = instance->stage;
    double size = scaled_norm(s, x, x), slope = scaled_norm(s, k1, x);
    double h = size < 1e-5 || slope < 1e-5 ? 1e-6 : 0.01 * size / slope;
    /* Of states that are almost 0 while their slopes are not, only rounding would speak. */
    h = fmin(fmax(h, 1024.0 * DBL_EPSILON * fmax(fabs(time), longest)), longest);
    for (int i = 0; i < N_X; ++i) stage[i] = x[i] + h * k1[i];
    derivatives(instance, time + h, stage, k2);
    for (int i = 0; i < N_X; ++i) stage[i] = k2[i] - k1[i];
    double steepest = fmax(slope, scaled_norm(s, stage, x) / h);
    double second = steepest <= 1e-15 ? fmax(1e-6, h * 1e-3) : pow(0.01 / steepest, 0.2);
    return isfinite(second) ? fmin(fmin(100.0 * h, second), longest) : h;
}

/* One trial step from `time`: the new states in `next`; returns the scaled error. */
static double try_step(Instance* instance, double time, double h, double* stiffness) {
    const State* s = &instance->state;
    const double* x = s->values + AT_X;
    double *stage = instance->stage, *next = instance->next;
    double (*k)[ROOM(N_X)] = instance->k;
    *stiffness = 0.0;
#pragma GCC unroll 7
    for (int n = 1; n < 7; ++n) {
        double* target = n == 6 ? next : stage; /* the last stage is the solution */
        for (int i = 0; i < N_X; ++i) {
            double slope = 0.0;
#pragma GCC unroll 7
            for (int m = 0; m < n; ++m) slope += stage_weights[n][m] * k[m][i];
            target[i] = x[i] + h * slope;
        }
        derivatives(instance, time + stage_times[n] * h, target, k[n]);
        if (instance->failed_block) return NAN; /* a shorter step may get there */
    }
    double error = 0.0, bend = 0.0, distance = 0.0;
    for (int i = 0; i < N_X; ++i) {
        double sum = 0.0;
        for (int n = 0; n < 7; ++n) sum += error_weights[n] * k[n][i];
        double ratio = h * sum / scale_of(s, i, x[i], next[i]);
        error += ratio * ratio;
        bend += (k[6][i] - k[5][i]) * (k[6][i] - k[5][i]);
        distance += (next[i] - stage[i]) * (next[i] - stage[i]);
    }
    *stiffness = distance > 0.0 ? h * sqrt(bend / distance) : 0.0;
    return sqrt(error / ROOM(N_X));
}

/* Hairer's test: h times the dominant eigenvalue stays at the border of stability. */
static void watch_stiffness(Instance* instance, double time, double h, double stiffness) {
    Controller* c = &instance->state.controller;
    if (stiffness > 3.25) {
        c->not_stiff = 0;
        if (c->reported || ++c->stiff < STIFF_STEPS) return;
        c->reported = 1;
        warn(instance,
             "the model is stiff near t = %.9g s: stability, not accuracy, keeps the internal step "
             "at %.3g s; results stay within the tolerance, but an implicit solver would be faster",
             time, h);
    } else if (c->stiff > 0 && ++c->not_stiff >= NOT_STIFF_STEPS) {
        c->stiff = 0;
    }
}

/* The next proposal. A step that was cut at a communication point says little about longer ones. */
static double proposal(Controller* c, double h, double error, bool cut, bool after_rejection) {
    double factor = 0.9 * pow(fmax(error, 1e-10), -0.17) * pow(fmax(c->last_error, 1e-4), 0.04);
    double grown = h * fmin(fmax(factor, 0.1), after_rejection ? 1.0 : 5.0);
    c->last_error = fmax(error, 1e-4);
    return cut && factor >= 5.0 ? fmax(grown, c->step) : grown;
}

/* The derivatives at the beginning of a step are the last stage of the one before. */
static bool first_stage(Instance* instance, double time) {
    double *x = instance->state.values + AT_X, *k1 = instance->k[0], sum = 0.0;
    if (instance->slopes_known) {
        memcpy(k1, instance->k[6], sizeof(double) * N_X);
        return true;
    }
    derivatives(instance, time, x, k1);
    for (int i = 0; i < N_X; ++i) sum += 0.0 * k1[i] + 0.0 * x[i];
    return sum == 0.0; /* 0 * NaN and 0 * inf are NaN */
}

static Status advance(Instance* instance, double end, const char* function) {
    State* s = &instance->state;
    Controller* c = &s->controller;
    double *x = s->values + AT_X, t = s->values[AT_TIME], length = instance->window_length;
    if (!first_stage(instance, t)) return report_failure(instance, t, 0.0, function);
    if (c->step == 0.0) c->step = starting_step(instance, t, fmin(length, MODEL_MAX_STEP));
    for (bool rejected = false;; rejected = true) {
        double h = fmin(c->step, MODEL_MAX_STEP), stiffness;
        bool last = 1.01 * h >= end - t;
        bool cut = last && end - t < h;
        if (last) h = end - t;
        if (!last && !(h > 8.0 * DBL_EPSILON * fmax(fabs(t), length)))
            return report_failure(instance, t, h, function);
        double error = try_step(instance, t, h, &stiffness);
        if (!(error <= 1.0)) {
            c->step = h * (isfinite(error) ? fmax(0.2, 0.9 * pow(error, -0.2)) : 0.1);
            continue;
        }
        watch_stiffness(instance, t, h, stiffness);
        c->step = proposal(c, h, error, cut, rejected);
        instance->t_before = t;
        memcpy(instance->x_before, x, sizeof(double) * N_X);
        memcpy(x, instance->next, sizeof(double) * N_X);
        s->values[AT_TIME] = last ? end : t + h;
        instance->slopes_known = true;
        return STATUS_OK;
    }
}

/* The continuous extension of fourth order. */
__attribute__((unused)) static void dense(const Instance* instance, double t, double* x) {
    static const double weights[7] = DOPRI5_QUARTIC;
    const double (*k)[ROOM(N_X)] = instance->k;
    const double *before = instance->x_before, *now = instance->state.values + AT_X;
    double h = instance->state.values[AT_TIME] - instance->t_before;
    double done = (t - instance->t_before) / h, left = 1.0 - done;
    for (int i = 0; i < N_X; ++i) {
        double last = 0.0, way = now[i] - before[i], bend = h * k[0][i] - way;
        for (int n = 0; n < 7; ++n) last += weights[n] * k[n][i];
        double end = way - h * k[6][i] - bend;
        x[i] = before[i] + done * (way + left * (bend + done * (end + left * h * last)));
    }
}

__attribute__((unused)) static void restart(Instance* instance) {
    instance->slopes_known = false;
    instance->state.controller.step = instance->state.controller.last_error = 0.0;
    instance->state.controller.stiff = instance->state.controller.not_stiff = 0;
}
