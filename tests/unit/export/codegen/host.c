/* An importer in C that drives one FMU library through legal and illegal calls; for valgrind.
 *
 * host LIBRARY TOKEN INPUT OUTPUT THREADS: value references of a Real input and output; prints the
 * output after each kind of run in hexadecimal. Compile with -DFMI=2 or 3, the FMU's sources on the
 * include path. The exit code is 1 where a call does not do what the standard says. */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if FMI == 2
#include "fmi2.h"
#define F(name) ((__typeof__(fmi2##name)*)function("fmi2" #name))
typedef fmi2Component Unit;
typedef fmi2FMUstate Saved;
typedef fmi2Byte Byte;
#else
#include "fmi3.h"
#define F(name) ((__typeof__(fmi3##name)*)function("fmi3" #name))
typedef fmi3Instance Unit;
typedef fmi3FMUState Saved;
typedef fmi3Byte Byte;
#endif

enum { STEPS = 20, STATES_MOST = 16 };
static void* library;
static const char* token;
static unsigned input, output;

static void* function(const char* name) {
    void* found = dlsym(library, name);
    if (!found) printf("no function %s\n", name), exit(1);
    return found;
}

#define EXPECT(condition) \
    ((condition) ? (void)0 : (printf("line %d: %s\n", __LINE__, #condition), exit(1)))

#if FMI == 2
static void log_message(void* environment, const char* name, fmi2Status status,
                        const char* category, const char* text, ...) {
    (void)name, (void)status, (void)category;
    *(size_t*)environment += strlen(text);
}

static Unit make(int exchange, const char* guid, size_t* said) {
    fmi2CallbackFunctions callbacks = {log_message, NULL, NULL, NULL, said};
    return F(Instantiate)("host", exchange ? fmi2ModelExchange : fmi2CoSimulation, guid, NULL,
                          &callbacks, 0, 0);
}
static void initialize(Unit unit) {
    EXPECT(F(SetupExperiment)(unit, 0, 0.0, 0.0, 0, 0.0) == fmi2OK);
    EXPECT(F(EnterInitializationMode)(unit) == fmi2OK);
    EXPECT(F(ExitInitializationMode)(unit) == fmi2OK);
}
static int set(Unit unit, unsigned at, double value) { return F(SetReal)(unit, &at, 1, &value); }
static int get(Unit unit, unsigned at, double* value) { return F(GetReal)(unit, &at, 1, value); }
static int step(Unit unit, double time, double size) { return F(DoStep)(unit, time, size, 1); }
static size_t states(Unit unit) {
    double room[STATES_MOST];
    size_t count = 0;
    while (count < STATES_MOST && F(GetContinuousStates)(unit, room, count) != fmi2OK) ++count;
    return count;
}
static void enter_continuous(Unit unit) {
    fmi2EventInfo info;
    EXPECT(F(NewDiscreteStates)(unit, &info) == fmi2OK);
    EXPECT(F(EnterContinuousTimeMode)(unit) == fmi2OK);
}
#define SAVE F(GetFMUstate)
#define RESTORE F(SetFMUstate)
#define FORGET F(FreeFMUstate)
#define SIZE F(SerializedFMUstateSize)
#define PACK F(SerializeFMUstate)
#define UNPACK F(DeSerializeFMUstate)
#define DERIVATIVES F(GetDerivatives)
#else
static void log_message(void* environment, fmi3Status status, const char* category,
                        const char* text) {
    (void)status, (void)category;
    *(size_t*)environment += strlen(text);
}

static Unit make(int exchange, const char* guid, size_t* said) {
    if (exchange)
        return F(InstantiateModelExchange)("host", guid, NULL, false, false, said, log_message);
    return F(InstantiateCoSimulation)("host", guid, NULL, false, false, false, false, NULL, 0, said,
                                      log_message, NULL);
}
static void initialize(Unit unit) {
    EXPECT(F(EnterInitializationMode)(unit, false, 0.0, 0.0, false, 0.0) == fmi3OK);
    EXPECT(F(ExitInitializationMode)(unit) == fmi3OK);
}
static int set(Unit unit, unsigned at, double v) { return F(SetFloat64)(unit, &at, 1, &v, 1); }
static int get(Unit unit, unsigned at, double* v) { return F(GetFloat64)(unit, &at, 1, v, 1); }
static int step(Unit unit, double time, double size) {
    bool event, end, early;
    double reached;
    return F(DoStep)(unit, time, size, true, &event, &end, &early, &reached);
}
static size_t states(Unit unit) {
    size_t count;
    EXPECT(F(GetNumberOfContinuousStates)(unit, &count) == fmi3OK);
    return count;
}
static void enter_continuous(Unit unit) {
    bool again, end, nominals, values, timed;
    double next;
    EXPECT(F(UpdateDiscreteStates)(unit, &again, &end, &nominals, &values, &timed, &next) ==
           fmi3OK);
    EXPECT(F(EnterContinuousTimeMode)(unit) == fmi3OK);
}
#define SAVE F(GetFMUState)
#define RESTORE F(SetFMUState)
#define FORGET F(FreeFMUState)
#define SIZE F(SerializedFMUStateSize)
#define PACK F(SerializeFMUState)
#define UNPACK F(DeserializeFMUState)
#define DERIVATIVES F(GetContinuousStateDerivatives)
#endif

/* Twenty steps; at the half the state is saved, serialised, restored and the rest done twice. */
static double simulate(void) {
    size_t said = 0, size = 0;
    Unit unit = make(0, token, &said);
    EXPECT(unit != NULL);
    initialize(unit);
    double first = 0.0, value = 0.0;
    Saved saved = NULL, copy = NULL;
    for (int n = 0; n < STEPS; ++n) {
        if (n == STEPS / 2) EXPECT(SAVE(unit, &saved) == 0);
        EXPECT(set(unit, input, sin(0.7 * n)) == 0);
        EXPECT(step(unit, 0.05 * n, 0.05) == 0);
    }
    EXPECT(get(unit, output, &first) == 0);
    EXPECT(SIZE(unit, saved, &size) == 0);
    Byte* bytes = malloc(size);
    EXPECT(PACK(unit, saved, bytes, size) == 0);
    EXPECT(PACK(unit, saved, bytes, size - 1) == 3);
    EXPECT(UNPACK(unit, bytes, size - 1, &copy) == 3);
    EXPECT(UNPACK(unit, bytes, size, &copy) == 0);
    bytes[0] ^= 1;
    EXPECT(UNPACK(unit, bytes, size, &copy) == 3);
    EXPECT(RESTORE(unit, copy) == 0);
    for (int n = STEPS / 2; n < STEPS; ++n) {
        EXPECT(set(unit, input, sin(0.7 * n)) == 0);
        EXPECT(step(unit, 0.05 * n, 0.05) == 0);
    }
    EXPECT(get(unit, output, &value) == 0 && value == first);
    free(bytes);
    EXPECT(FORGET(unit, &saved) == 0 && FORGET(unit, &copy) == 0 && copy == NULL);
    EXPECT(F(Terminate)(unit) == 0 && F(Reset)(unit) == 0);
    initialize(unit);
    F(FreeInstance)(unit);
    EXPECT(said > 0);
    return value;
}

/* Errors leave nothing behind: refused instances, wrong references, NaN, calls in wrong states. */
static void misuse(void) {
    size_t said = 0;
    EXPECT(make(0, "{of another build}", &said) == NULL);
    F(FreeInstance)(NULL);
    Unit unit = make(0, token, &said);
    EXPECT(step(unit, 0.0, 0.1) == 3);
    initialize(unit);
    double value;
    EXPECT(get(unit, 1000000u, &value) == 3 && set(unit, 0xffffffffu, 1.0) == 3);
    EXPECT(set(unit, input, NAN) == 3 && set(unit, output, 1.0) == 3);
    EXPECT(step(unit, 0.0, -1.0) == 3 && step(unit, 5.0, 0.1) == 3);
    EXPECT(RESTORE(unit, NULL) == 3);
    EXPECT(set(unit, input, 1e308) == 0);
    for (int n = 0; n < 3; ++n) step(unit, 0.1 * n, 0.1); /* it may fail, but not crash */
    F(FreeInstance)(unit);
}

/* Model exchange: explicit Euler steps. */
static double integrate(void) {
    size_t said = 0;
    Unit unit = make(1, token, &said);
    initialize(unit);
    enter_continuous(unit);
    double x[STATES_MOST], slopes[STATES_MOST], value = 0.0;
    size_t count = states(unit);
    for (int n = 0; n < STEPS; ++n) {
        EXPECT(F(SetTime)(unit, 0.05 * n) == 0 && set(unit, input, sin(0.7 * n)) == 0);
        EXPECT(F(GetContinuousStates)(unit, x, count) == 0);
        EXPECT(DERIVATIVES(unit, slopes, count) == 0);
        for (size_t i = 0; i < count; ++i) x[i] += 0.05 * slopes[i];
        EXPECT(F(SetContinuousStates)(unit, x, count) == 0);
    }
    EXPECT(get(unit, output, &value) == 0);
    F(FreeInstance)(unit);
    return value;
}

static void* in_thread(void* results) {
    double* pair = results;
    pair[0] = simulate(), pair[1] = integrate();
    return NULL;
}

int main(int count, char** arguments) {
    EXPECT(count == 6);
    library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    EXPECT(library != NULL);
    token = arguments[2];
    input = (unsigned)atoi(arguments[3]), output = (unsigned)atoi(arguments[4]);
    double alone[2], together[8][2];
    in_thread(alone);
    misuse();
    int threads = atoi(arguments[5]);
    pthread_t running[8];
    EXPECT(threads <= 8);
    for (int i = 0; i < threads; ++i)
        EXPECT(pthread_create(&running[i], NULL, in_thread, together[i]) == 0);
    for (int i = 0; i < threads; ++i) pthread_join(running[i], NULL);
    for (int i = 0; i < threads; ++i) EXPECT(memcmp(together[i], alone, sizeof alone) == 0);
    printf("%a %a\n", alone[0], alone[1]);
    dlclose(library);
    return 0;
}
