/* The floor: a chain of FMI 2.0 Co-Simulation units stepped by a bare C loop (Jacobi).
 * usage: floor LIBRARY GUID RESOURCES N STEPS STEP_SECONDS INPUT_VR OUTPUT_VR
 * prints: seconds of the loop, and the last unit's output. */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef void* Component;
typedef void (*Logger)(void*, const char*, int, const char*, const char*, ...);
typedef struct {
    Logger logger;
    void* (*allocate)(size_t, size_t);
    void (*release)(void*);
    void (*finished)(void*, int);
    void* environment;
} Callbacks;

static void ignore(void* e, const char* n, int s, const char* c, const char* m, ...) {
    (void)e, (void)n, (void)s, (void)c, (void)m;
}

static void* find(void* library, const char* name) {
    void* function = dlsym(library, name);
    if (!function) {
        fprintf(stderr, "no %s: %s\n", name, dlerror());
        exit(1);
    }
    return function;
}

int main(int argc, char** argv) {
    if (argc != 9) return 2;
    void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
    const int n = atoi(argv[4]);
    const long steps = atol(argv[5]);
    const double h = atof(argv[6]);
    const unsigned input = (unsigned)atoi(argv[7]), output = (unsigned)atoi(argv[8]);
    Component (*instantiate)(const char*, int, const char*, const char*, const Callbacks*, int, int);
    int (*setup)(Component, int, double, double, int, double);
    int (*enter)(Component);
    int (*leave)(Component);
    int (*set)(Component, const unsigned*, size_t, const double*);
    int (*get)(Component, const unsigned*, size_t, double*);
    int (*step)(Component, double, double, int);
    *(void**)&instantiate = find(library, "fmi2Instantiate");
    *(void**)&setup = find(library, "fmi2SetupExperiment");
    *(void**)&enter = find(library, "fmi2EnterInitializationMode");
    *(void**)&leave = find(library, "fmi2ExitInitializationMode");
    *(void**)&set = find(library, "fmi2SetReal");
    *(void**)&get = find(library, "fmi2GetReal");
    *(void**)&step = find(library, "fmi2DoStep");

    Callbacks callbacks = {ignore, calloc, free, NULL, NULL};
    Component* unit = calloc((size_t)n, sizeof *unit);
    double* value = calloc((size_t)n + 1, sizeof *value);
    for (int i = 0; i < n; ++i) {
        unit[i] = instantiate("unit", 1, argv[2], argv[3], &callbacks, 0, 0);
        if (!unit[i] || setup(unit[i], 0, 0, 0, 0, 0) > 1) return 1;
        if (enter(unit[i]) > 1 || leave(unit[i]) > 1) return 1;
    }
    value[0] = 1.0;
    struct timespec began, ended;
    clock_gettime(CLOCK_MONOTONIC, &began);
    for (long k = 0; k < steps; ++k) {
        for (int i = 0; i < n; ++i) {
            if (set(unit[i], &input, 1, &value[i]) > 1) return 1;
            if (step(unit[i], (double)k * h, h, 1) > 1) return 1;
        }
        for (int i = 0; i < n; ++i) {
            if (get(unit[i], &output, 1, &value[i + 1]) > 1) return 1;
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    printf("%.9f %.17g\n",
           (double)(ended.tv_sec - began.tv_sec) + 1e-9 * (double)(ended.tv_nsec - began.tv_nsec),
           value[n]);
    return 0;
}
