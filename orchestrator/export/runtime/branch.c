/* Where a branch of solutions of the implicit equations ends: they go on at another one. */
#include "instance.h"

static void restart(Instance* instance); /* of the solver */

/* Solves at a moment from z, as `far` as is said. */
static bool solve_at(Instance* instance, double time, const double* x, double* z, bool far) {
    const double *v = instance->state.values, *u = inputs_at(instance, time);
    const double* arguments[] = {&time, u, x, v + AT_P, v + AT_C, instance->state.q, z};
    instance->far = far;
    bool solved = solve_running(instance, arguments, z);
    instance->far = false;
    return solved;
}

/* Whether two solutions are of two branches: rounding and steps that are this short move little. */
static bool are_apart(const double* one, const double* two) {
    for (int i = 0; i < N_Z; ++i)
        if (fabs(one[i] - two[i]) > 1e-9 + 1e-3 * fmax(fabs(one[i]), fabs(two[i]))) return true;
    return false;
}

/* If no solution can be followed beyond the present moment, z becomes that of another branch, and
 * the solver starts anew; time and states stay. False where that is not so. */
__attribute__((unused)) static bool jump(Instance* instance) {
    State* s = &instance->state;
    const double *x = s->values + AT_X, time = s->values[AT_TIME];
    double *slopes = instance->k[0], *ahead = instance->stage, *z = instance->z_now;
    const char* label = instance->failed_block;
    size_t bytes = sizeof s->z;
    if (label == NULL || instance->failure != NO_SOLUTION) return false;
    double h = 16.0 * DBL_EPSILON * fmax(fabs(time), instance->window_length);
    if (s->jumped && time - s->jump_time < 64.0 * h) return false; /* back and forth */
    memcpy(z, s->z, bytes);
    bool found = !solve_at(instance, time, x, z, false) && solve_at(instance, time, x, z, true);
    if (!found && !instance->failed_block) derivatives(instance, time, x, slopes);
    bool here = !found && !instance->failed_block;
    for (int count = 0; count < 24 && here && !found; ++count, h *= 2.0) {
        for (int i = 0; i < N_X; ++i) ahead[i] = x[i] + h * slopes[i];
        memcpy(z, s->z, bytes);
        if (solve_at(instance, time + h, ahead, z, false)) continue;
        found = solve_at(instance, time + h, ahead, z, true) &&
                solve_at(instance, time, x, z, false) && are_apart(z, s->z);
    }
    if (!found) {
        instance->failed_block = label, instance->failure = NO_SOLUTION;
        return false;
    }
    memcpy(s->z, z, bytes);
    s->jump_time = time;
    restart(instance);
    static const char text[] =
        "t = %.9g s: the branch of solutions of the equations for %s ends; they go on at another "
        "one";
    if (s->jumped++ == 0)
        warn(instance, text, time, label);
    else
        note(instance, text, time, label);
    return true;
}

/* A place in a step to which the solution could be followed, and how far to try from there. */
typedef struct {
    double time, x[ROOM(N_X)], length;
} Followed;

__attribute__((unused)) static void begin_piece(const Instance* instance, Followed* place) {
    place->time = instance->state.values[AT_TIME];
    if (N_Z > 0) memcpy(place->x, instance->state.values + AT_X, sizeof(double) * N_X);
    place->length *= 2.0;
}

/* Goes back there, since no solution can be followed to now; where now is next to it, to another
 * branch. */
__attribute__((unused)) static bool go_back(Instance* instance, Followed* place) {
    double *v = instance->state.values, tried = v[AT_TIME] - place->time;
    if (instance->failed_block == NULL || instance->failure != NO_SOLUTION) return false;
    v[AT_TIME] = place->time;
    memcpy(v + AT_X, place->x, sizeof(double) * N_X);
    if (N_X > 0) restart(instance);
    place->length = 0.25 * tried; /* begin_piece doubles it */
    if (tried > 4.0 * near(place->time)) return true;
    place->length = INFINITY;
    return jump(instance);
}
