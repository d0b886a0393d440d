/* The floor: a chain of FMI 2.0 Co-Simulation units stepped by a bare C loop (Jacobi).
 * As a program: floor LIBRARY GUID RESOURCES N STEPS STEP_SECONDS INPUT_VR OUTPUT_VR
 * prints: seconds of the loop, and the last unit's output.
 * As a library (gcc -shared -fPIC): floor_create() and floor_run(). */
#ifdef _WIN32
#include <windows.h>
#define dlopen(path, flags) ((void*)LoadLibraryA(path))
#define dlsym(library, name) ((void*)GetProcAddress(library, name))
#define dlerror() "an error of Windows"
#else
#include <dlfcn.h>
#endif
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

typedef struct {
    int n;
    long done;
    double h;
    unsigned input, output;
    Component* unit;
    double* value; /* value[0] feeds the first unit, value[i + 1] is the output of unit i */
    int (*set)(Component, const unsigned*, size_t, const double*);
    int (*get)(Component, const unsigned*, size_t, double*);
    int (*step)(Component, double, double, int);
} Floor;

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

/* NULL if a unit does not initialise. The chain lives as long as the process. */
Floor* floor_create(const char* path, const char* guid, const char* resources, int n, double h,
                    unsigned input, unsigned output) {
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), NULL;
    Component (*instantiate)(const char*, int, const char*, const char*, const Callbacks*, int, int);
    int (*setup)(Component, int, double, double, int, double);
    int (*enter)(Component);
    int (*leave)(Component);
    Floor* f = calloc(1, sizeof *f);
    *(void**)&instantiate = find(library, "fmi2Instantiate");
    *(void**)&setup = find(library, "fmi2SetupExperiment");
    *(void**)&enter = find(library, "fmi2EnterInitializationMode");
    *(void**)&leave = find(library, "fmi2ExitInitializationMode");
    *(void**)&f->set = find(library, "fmi2SetReal");
    *(void**)&f->get = find(library, "fmi2GetReal");
    *(void**)&f->step = find(library, "fmi2DoStep");
    f->n = n, f->h = h, f->input = input, f->output = output;
    f->unit = calloc((size_t)n, sizeof *f->unit);
    f->value = calloc((size_t)n + 1, sizeof *f->value);

    static const Callbacks callbacks = {ignore, calloc, free, NULL, NULL};
    for (int i = 0; i < n; ++i) {
        Component unit = instantiate("unit", 1, guid, resources, &callbacks, 0, 0);
        if (!unit || setup(unit, 0, 0, 0, 0, 0) > 1) return NULL;
        if (enter(unit) > 1 || leave(unit) > 1) return NULL;
        f->unit[i] = unit;
    }
    f->value[0] = 1.0;
    return f;
}

/* 0, or 1 if a unit fails. `rows` takes the n outputs after every step, or is NULL. */
int floor_run(Floor* f, long steps, double* rows) {
    const int n = f->n;
    const double h = f->h;
    const unsigned input = f->input, output = f->output;
    Component* unit = f->unit;
    double* value = f->value;
    for (const long end = f->done + steps; f->done < end; ++f->done) {
        for (int i = 0; i < n; ++i) {
            if (f->set(unit[i], &input, 1, &value[i]) > 1) return 1;
            if (f->step(unit[i], (double)f->done * h, h, 1) > 1) return 1;
        }
        for (int i = 0; i < n; ++i) {
            if (f->get(unit[i], &output, 1, &value[i + 1]) > 1) return 1;
        }
        if (rows) {
            memcpy(rows, value + 1, (size_t)n * sizeof *rows);
            rows += n;
        }
    }
    return 0;
}

const double* floor_outputs(const Floor* f) { return f->value + 1; }

int main(int argc, char** argv) {
    if (argc != 9) return 2;
    const int n = atoi(argv[4]);
    Floor* f = floor_create(argv[1], argv[2], argv[3], n, atof(argv[6]), (unsigned)atoi(argv[7]),
                            (unsigned)atoi(argv[8]));
    if (!f) return 1;
    struct timespec began, ended;
    clock_gettime(CLOCK_MONOTONIC, &began);
    if (floor_run(f, atol(argv[5]), NULL)) return 1;
    clock_gettime(CLOCK_MONOTONIC, &ended);
    printf("%.9f %.17g\n",
           (double)(ended.tv_sec - began.tv_sec) + 1e-9 * (double)(ended.tv_nsec - began.tv_nsec),
           f->value[n]);
    return 0;
}
