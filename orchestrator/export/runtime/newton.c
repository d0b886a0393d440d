/* Solution of one implicit block: a linear one by one factorisation, any other by damped Newton
 * iteration from its last solution. */
#include "instance.h"
#include "lu.c"

enum { MAX_ITERATIONS = 60, MAX_HALVINGS = 12 };

/* From structural nonzeros to a full matrix. */
static void assemble(const Block* block, const double* entries, double* matrix) {
    memset(matrix, 0, sizeof(double) * (size_t)(block->size * block->size));
    for (int i = 0; i < block->entries; ++i) matrix[block->places[i]] = entries[i];
}

static void evaluate_block(Instance* instance, const Block* block, const double** arguments,
                           double* residual, double* matrix) {
    double* results[] = {residual, instance->entries};
    block->function(arguments, results, NULL, NULL, 0);
    if (block->kind != BLOCK_FIXED) assemble(block, instance->entries, matrix);
}

/* Length of a step in units of the solution; NaN gets through. */
static double length(const double* step, const double* z, int n) {
    double norm = 0.0;
    for (int i = 0; i < n; ++i) {
        double part = fabs(step[i]) / (1.0 + fabs(z[i]));
        if (!(part <= norm)) norm = part;
    }
    return norm;
}

/* Newton's method with the natural monotonicity test: a damped step is taken if the simplified
 * correction after it, with the same Jacobian, is shorter (Deuflhard, Newton Methods for Nonlinear
 * Problems, section 3.3; halving instead of his estimate of the damping). */
static bool solve_newton(Instance* instance, const Block* block, const double** arguments,
                         double* all) {
    int n = block->size;
    size_t bytes = sizeof(double) * (size_t)n;
    double *z = all + block->first, *step = instance->step, *next = instance->next_step;
    double *from = instance->from, *matrix = instance->jacobian, *scale = instance->row_scale;
    evaluate_block(instance, block, arguments, step, matrix);
    for (int iteration = 0; iteration < MAX_ITERATIONS; ++iteration) {
        if (!factor(matrix, scale, instance->pivots, n)) return false;
        memcpy(from, z, bytes);
        solve_factored(matrix, scale, instance->pivots, step, n);
        double size = length(step, z, n), damping = 1.0;
        if (!isfinite(size)) return false;
        for (int halving = 0;; ++halving, damping *= 0.5) {
            if (halving == MAX_HALVINGS) {
                memcpy(z, from, bytes);
                return false;
            }
            for (int i = 0; i < n; ++i) z[i] = from[i] - damping * step[i];
            if (size <= 1e-9) return true; /* the error left is of the order of the square */
            evaluate_block(instance, block, arguments, next, instance->next_jacobian);
            memcpy(instance->correction, next, bytes);
            solve_factored(matrix, scale, instance->pivots, instance->correction, n);
            if (length(instance->correction, z, n) <= (1.0 - 0.25 * damping) * size) break;
        }
        memcpy(step, next, bytes);
        memcpy(matrix, instance->next_jacobian, bytes * (size_t)n);
    }
    return false;
}

static bool solve_linear(Instance* instance, const Block* block, const double** arguments,
                         double* all) {
    int n = block->size;
    double *z = all + block->first, *right = instance->step, *matrix = instance->jacobian;
    double* scale = instance->row_scale;
    int* pivots = instance->pivots;
    evaluate_block(instance, block, arguments, right, matrix);
    if (block->kind == BLOCK_FIXED) {
        matrix = instance->factors + block->factors;
        scale = instance->factor_scales + block->first;
        pivots = instance->factor_pivots + block->first;
    } else if (!factor(matrix, scale, pivots, n))
        return false;
    solve_factored(matrix, scale, pivots, right, n);
    double sum = 0.0;
    for (int i = 0; i < n; ++i) sum += 0.0 * (z[i] = -right[i]);
    return sum == 0.0;
}
