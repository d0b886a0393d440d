/* Runge-Kutta's classical method of fourth order. */
#include "instance.h"
#include "loops.h"

/* In line where there are few states. */
#if N_X >= 32
VECTORISED
#endif
static void integrate(Instance* instance, double time, double h) {
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
    instance->slopes_known = false;
}

#include "fixed_step.c"
