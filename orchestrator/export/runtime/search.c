/* A solution of a nonlinear block where Newton's method finds none from its guess: by a path that
 * begins there (homotopy), by least squares, and from nominal values. */
#include "instance.h"

#if LARGEST_NONLINEAR > 0

#define SHORTEST 1e-8

enum { MAX_STEPS = 1000, MAX_CORRECTIONS = 6, MAX_TRIALS = 200, N_BEGINNINGS = 4 };

/* Residual and Jacobian at z = w y; the unit w_j of unknown j is its nominal or its first value. */
static bool evaluate_scaled(Instance* instance, const Block* block, const double** arguments,
                            double* z, const double* y) {
    Search* s = &instance->search;
    double sum = 0.0;
    int n = block->size;
    for (int j = 0; j < n; ++j) z[j] = s->unit[j] * y[j];
    evaluate_block(instance, block, arguments, s->residual, instance->jacobian);
    for (int i = 0; i < n; ++i) sum += 0.0 * s->residual[i];
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) sum += 0.0 * (instance->jacobian[i + j * n] *= s->unit[j]);
    return sum == 0.0;
}

/* Factors the Jacobian of F(z) - F(z0) + s way by y and s, with a last row; returns the sign of its
 * determinant, 0 if it is singular. */
static int factor_bordered(Instance* instance, const Block* block, const double* last_row) {
    Search* s = &instance->search;
    int n = block->size, m = n + 1, sign = 1;
    for (int j = 0; j < n; ++j)
        memcpy(s->matrix + j * m, instance->jacobian + j * n, sizeof(double) * (size_t)n);
    memcpy(s->matrix + n * m, s->way, sizeof(double) * (size_t)n);
    for (int j = 0; j < m; ++j) s->matrix[n + j * m] = last_row[j];
    if (!factor(s->matrix, s->row_scale, s->pivots, m)) return 0;
    for (int k = 0; k < m; ++k)
        if ((s->pivots[k] != k) != (s->matrix[k + k * m] < 0.0)) sign = -sign;
    return sign;
}

/* From the point and tangent to a point of the path near point + length * tangent. */
static bool correct(Instance* instance, const Block* block, const double** arguments, double* z,
                    double length, int* count) {
    Search* s = &instance->search;
    int n = block->size, m = n + 1;
    double* next = s->next;
    for (int j = 0; j < m; ++j) next[j] = s->point[j] + length * s->tangent[j];
    for (*count = 1; *count <= MAX_CORRECTIONS; ++*count) {
        double size = 0.0;
        if (!evaluate_scaled(instance, block, arguments, z, next)) return false;
        if (factor_bordered(instance, block, s->tangent) == 0) return false;
        for (int i = 0; i < n; ++i)
            s->step[i] = s->residual[i] - s->first_residual[i] + next[n] * s->way[i];
        s->step[n] = 0.0;
        solve_factored(s->matrix, s->row_scale, s->pivots, s->step, m);
        for (int j = 0; j < m; ++j) {
            next[j] -= s->step[j];
            size = fmax(size, fabs(s->step[j]) / (1.0 + fabs(next[j])));
        }
        if (!(size < 1.0)) return false;
        if (size < 1e-10) return evaluate_scaled(instance, block, arguments, z, next);
    }
    return false;
}

/* Points `way` along the first residual, as long as a unit of the unknowns moves the equations;
 * returns how far along it no residual is left, NaN where that is not known. */
static double choose_way(Instance* instance, int n) {
    Search* s = &instance->search;
    double most = 0.0;
    memcpy(s->first_residual, s->residual, sizeof(double) * (size_t)n);
    for (int i = 0; i < n; ++i) {
        double moved = 0.0;
        for (int j = 0; j < n; ++j) moved = fmax(moved, fabs(instance->jacobian[i + j * n]));
        if (s->residual[i] != 0.0) most = fmax(most, fabs(s->residual[i]) / moved);
    }
    for (int i = 0; i < n; ++i) s->way[i] = s->residual[i] / most;
    return isfinite(most) && most > 0.0 ? most : NAN;
}

/* The direction of the path where the Jacobian was evaluated last. The sign of the determinant
 * stays along a path, also where it has a corner. */
static bool point_tangent(Instance* instance, const Block* block, int* first_sign) {
    Search* s = &instance->search;
    int n = block->size, m = n + 1, sign = factor_bordered(instance, block, s->tangent);
    double *t = s->tangent, square = 0.0;
    if (sign == 0) return false;
    if (*first_sign == 0) *first_sign = sign;
    memset(t, 0, sizeof(double) * (size_t)n);
    t[n] = sign * *first_sign;
    solve_factored(s->matrix, s->row_scale, s->pivots, t, m);
    for (int j = 0; j < m; ++j) square += t[j] * t[j];
    for (int j = 0; j < m; ++j) t[j] /= sqrt(square);
    return isfinite(square);
}

/* Follows the solutions of F(z) = F(z0) - s way from s = 0, which z0 solves, to where the right
 * side is 0, by the length of the path, so that it may turn back (pseudo-arclength continuation; E.
 * L. Allgower, K. Georg, Introduction to Numerical Continuation Methods, 2003, chapters 2 and 7).
 * Where no step is short enough the path may have a corner, which is looked around. */
static bool follow_path(Instance* instance, const Block* block, const double** arguments,
                        double* all) {
    Search* s = &instance->search;
    int n = block->size, m = n + 1, first_sign = 0, count;
    double *z = all + block->first, *t = s->tangent, length = 0.05;
    for (int j = 0; j < n; ++j) {
        s->unit[j] = fmax(fabs(z[j]), block->nominals[j]);
        s->point[j] = z[j] / s->unit[j];
        t[j] = 0.0;
    }
    s->point[n] = 0.0, t[n] = 1.0;
    if (!evaluate_scaled(instance, block, arguments, z, s->point)) return false;
    const double end = choose_way(instance, n);
    if (isnan(end)) return false;
    for (int steps = 0; steps < MAX_STEPS; ++steps) {
        bool at_corner = false;
        if (!point_tangent(instance, block, &first_sign)) return false;
        while (!correct(instance, block, arguments, z, length, &count)) {
            if ((length *= 0.5) > SHORTEST) continue;
            for (int j = 0; j < m; ++j) s->next[j] = s->point[j] + 64.0 * SHORTEST * t[j];
            if (at_corner || !evaluate_scaled(instance, block, arguments, z, s->next) ||
                !point_tangent(instance, block, &first_sign))
                return false;
            at_corner = true, length = 1e-3;
        }
        bool passed = (s->point[n] - end) * (s->next[n] - end) <= 0.0;
        if (passed) {
            double part = (end - s->point[n]) / (s->next[n] - s->point[n]);
            for (int j = 0; j < n; ++j)
                z[j] = s->unit[j] * (s->point[j] + part * (s->next[j] - s->point[j]));
            if (solve_newton(instance, block, arguments, all)) return true;
            if (!evaluate_scaled(instance, block, arguments, z, s->next)) return false;
        }
        memcpy(s->point, s->next, sizeof(double) * (size_t)m);
        if (count <= 3) length *= 2.0;
    }
    return false;
}

/* Shortens the residuals step by step, which also leaves points where the Jacobian is singular
 * (Levenberg-Marquardt), then Newton's method. */
static bool shorten(Instance* instance, const Block* block, const double** arguments, double* all) {
    Search* s = &instance->search;
    int n = block->size;
    double *z = all + block->first, *y = s->point, damping = 1e-3, before = INFINITY;
    const double* a = instance->jacobian;
    for (int j = 0; j < n; ++j) {
        s->unit[j] = fmax(fabs(z[j]), block->nominals[j]);
        s->next[j] = z[j] / s->unit[j];
        s->first_residual[j] = 0.0; /* units of the equations, before they are known */
    }
    for (int trial = 0; trial < MAX_TRIALS; ++trial) {
        double now = 0.0;
        bool finite = evaluate_scaled(instance, block, arguments, z, s->next);
        for (int i = 0; i < n && before == INFINITY; ++i)
            for (int j = 0; j < n; ++j)
                s->first_residual[i] = fmax(s->first_residual[i], fabs(a[i + j * n]));
        for (int i = 0; i < n; ++i) {
            double unit = s->first_residual[i] > 0.0 ? s->first_residual[i] : 1.0;
            now += (s->residual[i] / unit) * (s->residual[i] / unit);
        }
        if (!finite && before == INFINITY) return false;
        if (finite && now < before) {
            before = now;
            memcpy(y, s->next, sizeof(double) * (size_t)n);
            if (now < 1e-20) break;
            damping = fmax(0.2 * damping, 1e-15);
        } else if ((damping *= 10.0) > 1e12) {
            break;
        } else if (!evaluate_scaled(instance, block, arguments, z, y)) {
            return false;
        }
        for (int j = 0; j < n; ++j) {
            s->step[j] = 0.0;
            for (int k = 0; k < n; ++k) s->matrix[k + j * n] = k == j ? damping : 0.0;
            for (int i = 0; i < n; ++i) {
                double unit = s->first_residual[i] > 0.0 ? s->first_residual[i] : 1.0;
                s->step[j] += a[i + j * n] / unit * (s->residual[i] / unit);
                for (int k = 0; k < n; ++k)
                    s->matrix[k + j * n] += a[i + j * n] / unit * (a[i + k * n] / unit);
            }
        }
        if (!factor(s->matrix, s->row_scale, s->pivots, n)) return false;
        solve_factored(s->matrix, s->row_scale, s->pivots, s->step, n);
        for (int j = 0; j < n; ++j) s->next[j] = y[j] - s->step[j];
    }
    for (int j = 0; j < n; ++j) z[j] = s->unit[j] * y[j];
    return solve_newton(instance, block, arguments, all);
}

/* Where to begin: the guess, nominal values for what is 0 in it, and nominal values for all. */
static void put_beginning(Instance* instance, const Block* block, double* z, int number) {
    for (int j = 0; j < block->size; ++j) {
        double guess = instance->search.guess[j], nominal = block->nominals[j];
        z[j] = number == 0 || (number == 1 && guess != 0.0) ? guess
               : number == 3                                ? -nominal
                                                            : nominal;
    }
}

static bool search(Instance* instance, const Block* block, const double** arguments, double* all) {
    double* z = all + block->first;
    size_t bytes = sizeof(double) * (size_t)block->size;
    memcpy(instance->search.guess, z, bytes);
    for (int number = 0; number < N_BEGINNINGS; ++number) {
        put_beginning(instance, block, z, number);
        if (number > 0 && solve_newton(instance, block, arguments, all)) return true;
        put_beginning(instance, block, z, number);
        if (follow_path(instance, block, arguments, all)) return true;
        put_beginning(instance, block, z, number);
        if (shorten(instance, block, arguments, all)) return true;
    }
    memcpy(z, instance->search.guess, bytes);
    return false;
}

#else

static bool search(Instance* instance, const Block* block, const double** arguments, double* all) {
    (void)instance, (void)block, (void)arguments, (void)all;
    return false;
}

#endif
