/* FMI 2.0: values and derivatives, over the core. */
#include "fmi2.h"
#include "instance.h"

fmi2Status fmi2GetReal(fmi2Component component, const fmi2ValueReference references[], size_t count,
                       fmi2Real values[]) {
    return (fmi2Status)get_reals(component, references, count, values, __func__);
}

fmi2Status fmi2SetReal(fmi2Component component, const fmi2ValueReference references[], size_t count,
                       const fmi2Real values[]) {
    return (fmi2Status)set_reals(component, references, count, values, __func__);
}

fmi2Status fmi2GetInteger(fmi2Component component, const fmi2ValueReference references[],
                          size_t count, fmi2Integer values[]) {
    return (fmi2Status)get_integers(component, references, count, values, TYPE_INTEGER, __func__);
}

fmi2Status fmi2GetBoolean(fmi2Component component, const fmi2ValueReference references[],
                          size_t count, fmi2Boolean values[]) {
    return (fmi2Status)get_integers(component, references, count, values, TYPE_BOOLEAN, __func__);
}

fmi2Status fmi2SetInteger(fmi2Component component, const fmi2ValueReference references[],
                          size_t count, const fmi2Integer values[]) {
    return (fmi2Status)set_integers(component, references, count, values, TYPE_INTEGER, __func__);
}

fmi2Status fmi2SetBoolean(fmi2Component component, const fmi2ValueReference references[],
                          size_t count, const fmi2Boolean values[]) {
    return (fmi2Status)set_integers(component, references, count, values, TYPE_BOOLEAN, __func__);
}

fmi2Status fmi2GetString(fmi2Component component, const fmi2ValueReference references[],
                         size_t count, fmi2String values[]) {
    (void)references, (void)values;
    return (fmi2Status)no_variables(component, count, "String", __func__);
}

fmi2Status fmi2SetString(fmi2Component component, const fmi2ValueReference references[],
                         size_t count, const fmi2String values[]) {
    (void)references, (void)values;
    return (fmi2Status)no_variables(component, count, "String", __func__);
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component component, const fmi2ValueReference unknown[],
                                        size_t unknown_count, const fmi2ValueReference known[],
                                        size_t known_count, const fmi2Real known_differential[],
                                        fmi2Real unknown_differential[]) {
    return (fmi2Status)directional_derivative(component, unknown, unknown_count, known, known_count,
                                              known_differential, unknown_differential, __func__);
}
