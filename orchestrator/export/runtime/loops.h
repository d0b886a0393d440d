/* What functions with loops over arrays are made of. The compiler makes two versions of each, and
 * the loader takes the one for the processor at hand; both round alike, as nothing is contracted.
 */
#ifndef SOFTDOCK_LOOPS_H
#define SOFTDOCK_LOOPS_H

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__TINYC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define VECTORISED __attribute__((target_clones("avx2", "default")))
#else
#define VECTORISED
#endif

static inline double square(double x) { return x * x; }

/* fmin and fmax, without the call that no vector instruction stands for: a NaN counts as absent,
 * and of two zeros the second is taken, as in glibc. */
static inline double smaller(double x, double y) { return ((x < y) | (y != y)) ? x : y; }
static inline double larger(double x, double y) { return ((x > y) | (y != y)) ? x : y; }

static inline double chosen(double condition, double x) { return condition != 0.0 ? x : 0.0; }

#endif
