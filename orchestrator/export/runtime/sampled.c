/* Models that change at the ends of communication steps only. Outputs and locals are what they
 * remember: model_first gives them at the start, model_next after a step with the inputs held. */
#include "instance.h"

enum { N_MEMORY = N_Y + N_W };

/* What is remembered at the start, from the present inputs and parameters. */
static void begin_memory(Instance* instance) {
    double* v = instance->state.values;
    double first[ROOM(N_MEMORY)];
    const double* arguments[] = {v + AT_TIME, v + AT_U, v + AT_P, model_start_values + AT_Y};
    double* results[] = {first};
    model_first(arguments, results, NULL, NULL, 0);
    memcpy(v + AT_Y, first, sizeof(double) * N_MEMORY);
}

static Status take_step(Instance* instance, double time, double step, const char* function) {
    double* v = instance->state.values;
    double next[ROOM(N_MEMORY)];
    const double* arguments[] = {&time, &step, v + AT_U, v + AT_P, v + AT_Y};
    double* results[] = {next};
    (void)function;
    model_next(arguments, results, NULL, NULL, 0);
    memcpy(v + AT_Y, next, sizeof(double) * N_MEMORY);
    return STATUS_OK;
}
