/* An FMU's own sources with functions that measure them; built by exporter.py as a library. */
#define _POSIX_C_SOURCE 199309L
#include <time.h>

#include "fmu.c"

#define VISIBLE __attribute__((visibility("default")))

static void show(fmi2ComponentEnvironment e, fmi2String n, fmi2Status s, fmi2String c, fmi2String m,
                 ...) {
    (void)e, (void)n, (void)s, (void)c;
    fprintf(stderr, "%s\n", m);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

VISIBLE int bench_states(void) { return N_X; }
VISIBLE int bench_inputs(void) { return N_U; }

/* An initialised instance with constant inputs; NULL on failure. */
VISIBLE void* bench_create(const double* inputs) {
    static const fmi2CallbackFunctions callbacks = {show, calloc, free, NULL, NULL};
    Instance* instance =
        fmi2Instantiate("unit", fmi2CoSimulation, MODEL_GUID, "", &callbacks, 0, 0);
    if (instance == NULL || fmi2SetupExperiment(instance, 0, 0.0, 0.0, 0, 0.0) ||
        fmi2EnterInitializationMode(instance) || fmi2ExitInitializationMode(instance))
        return NULL;
    memcpy(instance->state.values + AT_U, inputs, sizeof(double) * N_U);
    return instance;
}

VISIBLE void bench_get(const Instance* instance, double* x) {
    memcpy(x, instance->state.values + AT_X, sizeof(double) * N_X);
}

VISIBLE void bench_rhs(Instance* instance, double time, const double* x, double* dx) {
    derivatives(instance, time, x, dx);
}

/* Seconds of `count` right-hand sides, each at states that the one before has moved a little. */
VISIBLE double bench_rhs_seconds(Instance* instance, long count) {
    double x[ROOM(N_X)], dx[ROOM(N_X)];
    bench_get(instance, x);
    double began = now();
    for (long n = 0; n < count; ++n) {
        derivatives(instance, 0.0, x, dx);
        x[0] += 1e-12 * dx[0];
        __asm__ volatile("" : : "r"(x), "r"(dx) : "memory"); /* nothing is moved out of the loop */
    }
    return now() - began;
}

/* Seconds of `count` communication steps; negative if one failed. */
VISIBLE double bench_step_seconds(Instance* instance, long count, double step) {
    double began = now();
    for (long n = 0; n < count; ++n)
        if (fmi2DoStep(instance, (double)n * step, step, 1) != fmi2OK) return -1.0;
    return now() - began;
}
