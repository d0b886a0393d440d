/* A small importer in C for Linux and Windows.
 *
 * importer LIBRARY TOKEN RESOURCES COUNT INPUTS REFERENCE..: steps a Co-Simulation unit COUNT times by
 * 1/64 s, sets its first INPUTS references (all Real) to something new before each, and prints the
 * others after it with 17 digits. Compile with -DFMI=2 or 3, fmi2.h and fmi3.h on the include path. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef _WIN32
#include <windows.h>
#define LOAD(path) ((void*)LoadLibraryA(path))
#define FIND(name) ((void*)GetProcAddress((HMODULE)library, name))
#else
#include <dlfcn.h>
#define LOAD(path) dlopen(path, RTLD_NOW)
#define FIND(name) dlsym(library, name)
#endif
#if FMI == 2
#include "fmi2.h"
#define F(name) ((__typeof__(fmi2##name)*)function("fmi2" #name))
#else
#include "fmi3.h"
#define F(name) ((__typeof__(fmi3##name)*)function("fmi3" #name))
#endif

enum { MOST = 64 };
static const double size = 1.0 / 64;
static void* library;

static void* function(const char* name) {
    void* found = FIND(name);
    if (!found) printf("no function %s\n", name), exit(1);
    return found;
}

#define EXPECT(condition) \
    ((condition) ? (void)0 : (printf("line %d: %s\n", __LINE__, #condition), exit(1)))

#if FMI == 2
static void log_message(void* environment, const char* name, fmi2Status status,
                        const char* category, const char* text, ...) {
    (void)environment, (void)status, (void)category;
    printf("%s: %s\n", name, text);
}

static void* make(const char* token, const char* resources) {
    static const fmi2CallbackFunctions callbacks = {log_message, NULL, NULL, NULL, NULL};
    void* unit = F(Instantiate)("unit", fmi2CoSimulation, token, resources, &callbacks, 0, 0);
    EXPECT(unit != NULL);
    EXPECT(F(SetupExperiment)(unit, 0, 0.0, 0.0, 0, 0.0) == fmi2OK);
    EXPECT(F(EnterInitializationMode)(unit) == fmi2OK);
    EXPECT(F(ExitInitializationMode)(unit) == fmi2OK);
    return unit;
}
static void set(void* unit, const unsigned* at, size_t count, const double* values) {
    EXPECT(F(SetReal)(unit, at, count, values) == fmi2OK);
}
static void get(void* unit, const unsigned* at, size_t count, double* values) {
    EXPECT(F(GetReal)(unit, at, count, values) == fmi2OK);
}
static void step(void* unit, double time) { EXPECT(F(DoStep)(unit, time, size, 1) == fmi2OK); }
#else
static void log_message(void* environment, fmi3Status status, const char* category,
                        const char* text) {
    (void)environment, (void)status, (void)category;
    printf("%s\n", text);
}

static void* make(const char* token, const char* resources) {
    void* unit = F(InstantiateCoSimulation)("unit", token, resources, false, false, false, false,
                                            NULL, 0, NULL, log_message, NULL);
    EXPECT(unit != NULL);
    EXPECT(F(EnterInitializationMode)(unit, false, 0.0, 0.0, false, 0.0) == fmi3OK);
    EXPECT(F(ExitInitializationMode)(unit) == fmi3OK);
    return unit;
}
static void set(void* unit, const unsigned* at, size_t count, const double* values) {
    EXPECT(F(SetFloat64)(unit, at, count, values, count) == fmi3OK);
}
static void get(void* unit, const unsigned* at, size_t count, double* values) {
    EXPECT(F(GetFloat64)(unit, at, count, values, count) == fmi3OK);
}
static void step(void* unit, double time) {
    bool event, end, early;
    double reached;
    EXPECT(F(DoStep)(unit, time, size, true, &event, &end, &early, &reached) == fmi3OK);
}
#endif

int main(int argc, char** argv) {
    EXPECT(argc > 6 && argc <= 6 + MOST);
    library = LOAD(argv[1]);
    EXPECT(library != NULL);
    unsigned references[MOST];
    double values[MOST];
    const size_t all = (size_t)argc - 6, inputs = strtoul(argv[5], NULL, 10);
    for (size_t i = 0; i < all; ++i) references[i] = (unsigned)strtoul(argv[6 + i], NULL, 10);
    void* unit = make(argv[2], argv[3]);
    for (int n = 0; n < atoi(argv[4]); ++n) {
        for (size_t i = 0; i < inputs; ++i) values[i] = 0.125 * ((n + (int)i) % 7 - 3);
        if (inputs) set(unit, references, inputs, values);
        step(unit, n * size);
        get(unit, references + inputs, all - inputs, values);
        for (size_t i = 0; i < all - inputs; ++i) printf("%.17g\n", values[i]);
    }
    F(FreeInstance)(unit);
    return 0;
}
