/* Velocity Verlet (Swope, Andersen, Berens and Wilson, 1982) for states that are positions, whose
 * derivative is another state, and Heun's method for all others. The derivatives at the end of a
 * step are taken once, at predicted states, and are those that the next one begins with: second
 * order with one evaluation a step, stable up to h = 2 / omega without damping. */
#include "instance.h"
#include "loops.h"

/* In line where there are few states. */
#if N_X >= 32
VECTORISED
#endif
static void integrate(Instance* instance, double time, double h) {
    double *x = instance->state.values + AT_X, *predicted = instance->stage;
    double *first = instance->k[0], *last = instance->k[4];
    if (instance->slopes_known)
        memcpy(first, last, sizeof(double) * N_X);
    else
        derivatives(instance, time, x, first);
    for (int i = 0; i < N_X; ++i) predicted[i] = x[i] + h * first[i];
    for (int i = 0; i < N_POSITIONS; ++i) {
        int q = model_positions[i], v = model_velocities[i];
        predicted[q] = x[q] + h * (x[v] + 0.5 * h * first[v]);
    }
    derivatives(instance, time + h, predicted, last);
    for (int i = 0; i < N_X; ++i) x[i] += 0.5 * h * (first[i] + last[i]);
    for (int i = 0; i < N_POSITIONS; ++i) x[model_positions[i]] = predicted[model_positions[i]];
    instance->slopes_known = true;
}

#include "fixed_step.c"
