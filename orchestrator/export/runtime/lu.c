/* Dense LU factors with scaled rows and partial pivoting; columns of a matrix follow each other. */
#include "instance.h"

/* Scales the rows of A and factors it in place, L below and U on the diagonal and above. */
static bool factor(double* a, double* scale, int* pivots, int n) {
    for (int i = 0; i < n; ++i) {
        scale[i] = 0.0;
        for (int j = 0; j < n; ++j) scale[i] = fmax(scale[i], fabs(a[i + j * n]));
        if (!(scale[i] > 0.0) || !isfinite(scale[i])) return false;
        for (int j = 0; j < n; ++j) a[i + j * n] /= scale[i];
    }
    for (int k = 0; k < n; ++k) {
        int pivot = k;
        for (int i = k + 1; i < n; ++i)
            if (fabs(a[i + k * n]) > fabs(a[pivot + k * n])) pivot = i;
        pivots[k] = pivot;
        if (!(fabs(a[pivot + k * n]) > 1e-14)) return false;
        for (int j = 0; j < n && pivot != k; ++j) {
            double keep = a[k + j * n];
            a[k + j * n] = a[pivot + j * n], a[pivot + j * n] = keep;
        }
        for (int i = k + 1; i < n; ++i) a[i + k * n] /= a[k + k * n];
        for (int j = k + 1; j < n; ++j) {
            double multiple = a[k + j * n];
            if (multiple == 0.0) continue; /* most elements of a network's matrix */
            for (int i = k + 1; i < n; ++i) a[i + j * n] -= multiple * a[i + k * n];
        }
    }
    return true;
}

/* b becomes the solution of A x = b. */
static void solve_factored(const double* a, const double* scale, const int* pivots, double* b,
                           int n) {
    for (int i = 0; i < n; ++i) b[i] /= scale[i];
    for (int k = 0; k < n; ++k) {
        double keep = b[k];
        b[k] = b[pivots[k]], b[pivots[k]] = keep;
    }
    for (int k = 0; k < n; ++k)
        for (int i = k + 1; i < n && b[k] != 0.0; ++i) b[i] -= a[i + k * n] * b[k];
    for (int k = n - 1; k >= 0; --k) {
        b[k] /= a[k + k * n];
        for (int i = 0; i < k; ++i) b[i] -= a[i + k * n] * b[k];
    }
}

/* b becomes the solution of A' x = b. */
__attribute__((unused)) static void solve_transposed(const double* a, const double* scale,
                                                     const int* pivots, double* b, int n) {
    for (int k = 0; k < n; ++k) {
        for (int i = 0; i < k; ++i) b[k] -= a[i + k * n] * b[i];
        b[k] /= a[k + k * n];
    }
    for (int k = n - 1; k >= 0; --k)
        for (int i = k + 1; i < n; ++i) b[k] -= a[i + k * n] * b[i];
    for (int k = n - 1; k >= 0; --k) {
        double keep = b[k];
        b[k] = b[pivots[k]], b[pivots[k]] = keep;
    }
    for (int i = 0; i < n; ++i) b[i] /= scale[i];
}
