/* Directional and adjoint derivatives by the functions that CasADi generated: exact, no
 * differences.
 */
#include "instance.h"

static bool is_known(const Instance* instance, Reference reference, const char* function) {
    int place = place_of(reference);
    if (within(place, AT_U, AT_P) && model_types[place] == TYPE_REAL) return true;
    fail(instance, "%s: known %u ('%s') is neither a Real input nor a state", function, reference,
         place < 0 ? "?" : model_names[place]);
    return false;
}

/* Discrete variables are among them: between events they do not change, so theirs are 0. */
static bool is_unknown(const Instance* instance, Reference reference, const char* function) {
    int place = place_of(reference);
    const bool has_derivative = within(place, AT_X, AT_P) || within(place, AT_D, AT_TIME);
    if (has_derivative && model_types[place] == TYPE_REAL) return true;
    fail(instance, "%s: unknown %u ('%s') is no Real output, local or derivative", function,
         reference, place < 0 ? "?" : model_names[place]);
    return false;
}

static bool prepare_derivative(Instance* instance, const Reference unknowns[], size_t unknown_count,
                               const Reference knowns[], size_t known_count, const char* function) {
    if (IS_SAMPLED && instance != NULL) {
        fail(instance, "%s: the model has no derivatives: it changes at steps only", function);
        return false;
    }
    int modes = MODES_READ & ~MODE_ERROR;
    if (!allowed(instance, modes, function)) return false;
    for (size_t i = 0; i < known_count; ++i)
        if (!is_known(instance, knowns[i], function)) return false;
    for (size_t i = 0; i < unknown_count; ++i)
        if (!is_unknown(instance, unknowns[i], function)) return false;
    State* s = &instance->state;
    if ((s->stale & STALE_PARAMETERS) && !update_parameters(instance)) {
        report_block(instance, function);
        return false;
    }
    memset(instance->tangent, 0, sizeof instance->tangent);
    return true;
}

/* From the seeds of time, inputs and states in `tangent` to everything else in it. */
static bool apply_tangent(Instance* instance) {
    double *d = instance->tangent, *v = instance->state.values, *z = instance->z_now;
    double* dz = instance->tangent_z;
    const double* q = instance->state.q;
    const double* arguments[] = {v + AT_TIME, v + AT_U, v + AT_X, v + AT_P,    v + AT_C, q,
                                 z,           d + AT_U, d + AT_X, d + AT_TIME, dz};
    memcpy(z, instance->state.z, sizeof instance->state.z);
    if (!solve_running(instance, arguments, z) || !linearize(instance, arguments)) return false;
    propagate(instance, arguments, dz);
    double* results[] = {d + AT_Y, d + AT_W, d + AT_DX};
    model_tangent(arguments, results, NULL, NULL, 0);
    return true;
}

/* Time derivatives of outputs: along the solution, and along the derivatives of the inputs. */
static Status output_derivatives(Instance* instance, const Reference references[], size_t count,
                                 const int32_t orders[], double values[], const char* function) {
    if (!allowed(instance, MODES_READ & ~MODE_ERROR, function)) return STATUS_ERROR;
    if (IS_SAMPLED)
        return fail(instance, "%s: the model has no derivatives: it changes at steps only",
                    function);
    State* s = &instance->state;
    double* d = instance->tangent;
    for (size_t i = 0; i < count; ++i) {
        int place = place_of(references[i]);
        bool output = place >= 0 && model_types[place] == TYPE_REAL && model_outputs_listed[place];
        if (!output)
            return fail(instance, "%s: the value reference %u is no Real output", function,
                        references[i]);
        if (orders[i] != 1)
            return fail(instance, "%s: the derivative of order %d of '%s'; only order 1 is given",
                        function, orders[i], model_names[place]);
    }
    if (!refresh(instance, AT_DX)) return report_block(instance, function);
    memset(d, 0, sizeof instance->tangent);
    memcpy(d + AT_U, s->moves, sizeof(double) * N_U);
    memcpy(d + AT_X, s->values + AT_DX, sizeof(double) * N_X);
    d[AT_TIME] = 1.0;
    if (!apply_tangent(instance)) return report_block(instance, function);
    for (size_t i = 0; i < count; ++i)
        for (Reference at = references[i], end = at + MODEL_EXTENT(at); at < end; ++at)
            *values++ = d[at];
    return STATUS_OK;
}

static Status directional_derivative(Instance* instance, const Reference unknowns[],
                                     size_t unknown_count, const Reference knowns[],
                                     size_t known_count, const double seed[], double sensitivity[],
                                     const char* function) {
    if (!prepare_derivative(instance, unknowns, unknown_count, knowns, known_count, function))
        return STATUS_ERROR;
    double* d = instance->tangent;
    for (size_t i = 0; i < known_count; ++i)
        for (Reference at = knowns[i], end = at + MODEL_EXTENT(at); at < end; ++at)
            d[at] += *seed++;
    if (!apply_tangent(instance)) return report_block(instance, function);
    for (size_t i = 0; i < unknown_count; ++i)
        for (Reference at = unknowns[i], end = at + MODEL_EXTENT(at); at < end; ++at)
            *sensitivity++ = d[at];
    return STATUS_OK;
}

#if MODEL_FMI == 3
static Status adjoint_derivative(Instance* instance, const Reference unknowns[],
                                 size_t unknown_count, const Reference knowns[], size_t known_count,
                                 const double seed[], double sensitivity[], const char* function) {
    if (!prepare_derivative(instance, unknowns, unknown_count, knowns, known_count, function))
        return STATUS_ERROR;
    double *d = instance->tangent, *v = instance->state.values, *z = instance->z_now;
    double u[ROOM(N_U)] = {0}, x[ROOM(N_X)] = {0};
    for (size_t i = 0; i < unknown_count; ++i)
        for (Reference at = unknowns[i], end = at + MODEL_EXTENT(at); at < end; ++at)
            d[at] += *seed++;
    const double* arguments[] = {v + AT_TIME,       v + AT_U, v + AT_X, v + AT_P, v + AT_C,
                                 instance->state.q, z,        d + AT_Y, d + AT_W, d + AT_DX};
    double* results[] = {u, x, instance->tangent_z};
    memcpy(z, instance->state.z, sizeof instance->state.z);
    if (!solve_running(instance, arguments, z) || !linearize(instance, arguments))
        return report_block(instance, function);
    model_adjoint(arguments, results, NULL, NULL, 0);
    propagate_back(instance, arguments, instance->tangent_z, u, x);
    for (size_t i = 0; i < known_count; ++i) {
        int place = (int)knowns[i], end = place + (int)MODEL_EXTENT(knowns[i]);
        for (; place < end; ++place) /* a state that is itself an unknown adds its own seed */
            *sensitivity++ = place < AT_X ? u[place - AT_U] : x[place - AT_X] + d[place];
    }
    return STATUS_OK;
}
#endif
