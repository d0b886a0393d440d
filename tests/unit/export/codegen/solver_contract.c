/* Drives the solver of an FMU's sources as a communication step does, but with an interruption.
 * usage: solver_contract LENGTH INTERRUPTION
 * prints, for each internal step and 11 times inside it: beginning, end, time, states. */
#include "fmu.c"

static void ignore(fmi2ComponentEnvironment e, fmi2String n, fmi2Status s, fmi2String c,
                   fmi2String m, ...) {
    (void)e, (void)n, (void)s, (void)c;
    fprintf(stderr, "%s\n", m);
}

static void print_step(Instance* instance) {
    double x[ROOM(N_X)], begin = instance->t_before, end = instance->state.values[AT_TIME];
    for (int part = 0; part <= 10; ++part) {
        double t = part < 10 ? begin + part * 0.1 * (end - begin) : end;
        dense(instance, t, x);
        printf("%.17g %.17g %.17g", begin, end, t);
        for (int i = 0; i < N_X; ++i) printf(" %.17g", x[i]);
        printf("\n");
    }
}

int main(int argc, char** argv) {
    const fmi2CallbackFunctions callbacks = {ignore, calloc, free, NULL, NULL};
    if (argc != 3) return 2;
    double length = atof(argv[1]), interruption = atof(argv[2]);
    Instance* instance =
        fmi2Instantiate("unit", fmi2CoSimulation, MODEL_GUID, "", &callbacks, 0, 0);
    if (instance == NULL || fmi2SetupExperiment(instance, 0, 0.0, 0.0, 0, 0.0) ||
        fmi2EnterInitializationMode(instance) || fmi2ExitInitializationMode(instance))
        return 1;
    double *values = instance->state.values, *now = values + AT_TIME;
    instance->window_length = length;
    while (*now < length) {
        if (advance(instance, length, "advance")) return 1;
        print_step(instance);
        if (instance->t_before < interruption && interruption < *now) {
            dense(instance, interruption, values + AT_X);
            *now = interruption;
            restart(instance);
        }
    }
    fmi2FreeInstance(instance);
    return 0;
}
