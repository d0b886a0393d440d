/* Damped Newton iteration on the implicit blocks, one after the other, each from its last solution.
 */
#include "instance.h"

enum { MAX_ITERATIONS = 60, MAX_HALVINGS = 12 };

/* Solves A d = b in place by Gaussian elimination; columns of A follow each other. Scaled rows. */
static bool factor_and_solve(double* a, double* b, int n) {
    for (int i = 0; i < n; ++i) {
        double largest = 0.0;
        for (int j = 0; j < n; ++j) largest = fmax(largest, fabs(a[i + j * n]));
        if (!(largest > 0.0) || !isfinite(largest)) return false;
        for (int j = 0; j < n; ++j) a[i + j * n] /= largest;
        b[i] /= largest;
    }
    for (int k = 0; k < n; ++k) {
        int pivot = k;
        for (int i = k + 1; i < n; ++i)
            if (fabs(a[i + k * n]) > fabs(a[pivot + k * n])) pivot = i;
        if (!(fabs(a[pivot + k * n]) > 1e-14)) return false;
        if (pivot != k) {
            for (int j = k; j < n; ++j) {
                double keep = a[k + j * n];
                a[k + j * n] = a[pivot + j * n], a[pivot + j * n] = keep;
            }
            double keep = b[k];
            b[k] = b[pivot], b[pivot] = keep;
        }
        for (int i = k + 1; i < n; ++i) {
            double factor = a[i + k * n] / a[k + k * n];
            if (factor == 0.0) continue;
            for (int j = k + 1; j < n; ++j) a[i + j * n] -= factor * a[k + j * n];
            b[i] -= factor * b[k];
        }
    }
    for (int k = n - 1; k >= 0; --k) {
        for (int j = k + 1; j < n; ++j) b[k] -= a[k + j * n] * b[j];
        b[k] /= a[k + k * n];
    }
    return true;
}

/* Norm of the Newton step in units of the solution: the measure of progress is affine invariant. */
static double step_size(const double* step, const double* z, int n) {
    double norm = 0.0;
    for (int i = 0; i < n; ++i) {
        double part = fabs(step[i]) / (1.0 + fabs(z[i]));
        if (!(part <= norm)) norm = part; /* a NaN gets through */
    }
    return norm;
}

static bool newton_direction(Instance* instance, const Block* block, const double** arguments,
                             double* step) {
    double* results[] = {step, instance->jacobian};
    block->function(arguments, results, NULL, NULL, 0);
    return factor_and_solve(instance->jacobian, step, block->size);
}

static bool solve_block(Instance* instance, const Block* block, const double** arguments,
                        double* all) {
    int n = block->size;
    double *z = all + block->first, *step = instance->step, *next = instance->next_step;
    double* from = instance->from;
    if (!newton_direction(instance, block, arguments, step)) return false;
    double size = step_size(step, z, n);
    for (int iteration = 0; iteration < MAX_ITERATIONS && isfinite(size); ++iteration) {
        double damping = 1.0, after = 0.0;
        bool accepted = false, small = size <= 1e-9;
        memcpy(from, z, sizeof(double) * (size_t)n);
        for (int halving = 0; halving < MAX_HALVINGS && !accepted; ++halving) {
            for (int i = 0; i < n; ++i) z[i] = from[i] - damping * step[i];
            if (small) return true; /* the error left is of the order of the square */
            accepted = newton_direction(instance, block, arguments, next);
            after = accepted ? step_size(next, z, n) : 0.0;
            accepted = accepted && after <= (1.0 - 0.25 * damping) * size;
            damping *= 0.5;
        }
        if (!accepted) {
            memcpy(z, from, sizeof(double) * (size_t)n);
            return false;
        }
        memcpy(step, next, sizeof(double) * (size_t)n);
        size = after;
    }
    return false;
}

static bool solve_blocks(Instance* instance, const Block* blocks, int count,
                         const double** arguments, double* z) {
    instance->failed_block = NULL;
    for (int k = 0; k < count; ++k)
        if (!solve_block(instance, blocks + k, arguments, z)) {
            instance->failed_block = blocks[k].label;
            return false;
        }
    return true;
}

/* Brings z into agreement with the other arguments, from where it is now. If that fails, z is left
 * alone: no other guess is tried, since that could lead to another branch of solutions. */
static bool solve_running(Instance* instance, const double** arguments, double* z) {
    if (N_Z == 0) return true;
    double* guess[] = {instance->guess};
    if (instance->state.z_known)
        memcpy(instance->guess, z, sizeof(double) * N_Z);
    else {
        model_guess(arguments, guess, NULL, NULL, 0);
        memcpy(z, instance->guess, sizeof(double) * N_Z);
    }
    if (solve_blocks(instance, model_blocks, N_BLOCKS, arguments, z)) return true;
    memcpy(z, instance->guess, sizeof(double) * N_Z);
    return false;
}

/* States, parameters and z that follow from the initial system. */
static bool solve_initial(Instance* instance) {
#if HAS_INITIAL_SYSTEM
    State* s = &instance->state;
    double* v = s->values;
    double* z = instance->initial_z;
    const double* arguments[] = {&s->time, v + AT_U, v + AT_X, v + AT_P, v + AT_C, z};
    double* guess[] = {z};
    model_initial_guess(arguments, guess, NULL, NULL, 0);
    if (!solve_blocks(instance, model_initial_blocks, N_INITIAL_BLOCKS, arguments, z)) return false;
    double* results[] = {instance->initial_x, instance->initial_c, s->z, instance->checks};
    model_initial(arguments, results, NULL, NULL, 0);
    memcpy(v + AT_X, instance->initial_x, sizeof(double) * N_X);
    memcpy(v + AT_C, instance->initial_c, sizeof(double) * N_C);
    s->z_known = 1;
#else
    (void)instance;
#endif
    return true;
}

/* After initialisation: the superfluous equations must hold as well. */
static bool consistent(Instance* instance, const char* function) {
    for (int i = 0; i < N_CHECKS; ++i) {
        if (fabs(instance->checks[i]) <= 1e-7) continue;
        fail(instance,
             "%s: the initial values contradict each other: %s is violated by %g (relative)",
             function, model_checks[i], instance->checks[i]);
        return false;
    }
    return true;
}

static fmi2Status report_block(Instance* instance, const char* function) {
    return fail(instance,
                "%s: t = %.9g s: Newton's method finds no solution of the equations for %s; try "
                "other start values, or the equations have none or are singular here",
                function, instance->state.time, instance->failed_block);
}
