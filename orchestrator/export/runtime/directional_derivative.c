/* Directional derivatives by the tangent function that CasADi generated: exact, no differences. */
#include "instance.h"

fmi2Status fmi2GetDirectionalDerivative(fmi2Component component, const fmi2ValueReference unknown[],
                                        size_t unknown_count, const fmi2ValueReference known[],
                                        size_t known_count, const fmi2Real known_differential[],
                                        fmi2Real unknown_differential[]) {
    Instance* instance = component;
    if (!allowed(instance, MODE_INITIALIZATION | MODE_STEP | MODE_TERMINATED, __func__))
        return fmi2Error;
    if ((instance->state.stale & STALE_PARAMETERS) && !update_parameters(instance))
        return report_block(instance, __func__);
    double* d = instance->tangent;
    memset(d, 0, sizeof instance->tangent);
    for (size_t i = 0; i < known_count; ++i) {
        int place = known[i] < (fmi2ValueReference)N_VALUES ? (int)known[i] : -1;
        if (place < AT_U || place >= AT_P)
            return fail(instance, "%s: known %zu ('%s') is neither an input nor a state", __func__,
                        i, place < 0 ? "?" : model_names[place]);
        d[place] += known_differential[i];
    }
    double *v = instance->state.values, *z = instance->z_now;
    const double* arguments[] = {
        &instance->state.time, v + AT_U, v + AT_X, v + AT_P, v + AT_C, z, d + AT_U, d + AT_X};
    memcpy(z, instance->state.z, sizeof instance->state.z);
    if (!solve_running(instance, arguments, z)) return report_block(instance, __func__);
    double* results[] = {d + AT_Y, d + AT_W, d + AT_DX};
    model_tangent(arguments, results, NULL, NULL, 0);
    for (size_t i = 0; i < unknown_count; ++i) {
        int place = unknown[i] < (fmi2ValueReference)N_VALUES ? (int)unknown[i] : -1;
        if (place < AT_X || (place >= AT_P && place < AT_Y) || model_types[place] != TYPE_REAL)
            return fail(instance, "%s: unknown %zu ('%s') is no Real output, local or derivative",
                        __func__, i, place < 0 ? "?" : model_names[place]);
        unknown_differential[i] = d[place];
    }
    return fmi2OK;
}
