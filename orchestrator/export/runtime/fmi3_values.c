/* FMI 3.0: values and derivatives, over the core. Every variable is a scalar. */
#include "fmi3.h"
#include "instance.h"

static bool one_value_each(const Instance* instance, size_t references, size_t values,
                           const char* function) {
    if (instance == NULL || references == values) return instance != NULL;
    fail(instance, "%s: %zu values for %zu scalar variables", function, values, references);
    return false;
}

fmi3Status fmi3GetFloat64(fmi3Instance instance, const fmi3ValueReference references[],
                          size_t count, fmi3Float64 values[], size_t value_count) {
    if (!one_value_each(instance, count, value_count, __func__)) return fmi3Error;
    return (fmi3Status)get_reals(instance, references, count, values, __func__);
}

fmi3Status fmi3SetFloat64(fmi3Instance instance, const fmi3ValueReference references[],
                          size_t count, const fmi3Float64 values[], size_t value_count) {
    if (!one_value_each(instance, count, value_count, __func__)) return fmi3Error;
    return (fmi3Status)set_reals(instance, references, count, values, __func__);
}

fmi3Status fmi3GetInt32(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                        fmi3Int32 values[], size_t value_count) {
    if (!one_value_each(instance, count, value_count, __func__)) return fmi3Error;
    return (fmi3Status)get_integers(instance, references, count, values, TYPE_INTEGER, __func__);
}

fmi3Status fmi3SetInt32(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                        const fmi3Int32 values[], size_t value_count) {
    if (!one_value_each(instance, count, value_count, __func__)) return fmi3Error;
    return (fmi3Status)set_integers(instance, references, count, values, TYPE_INTEGER, __func__);
}

fmi3Status fmi3GetBoolean(fmi3Instance instance, const fmi3ValueReference references[],
                          size_t count, fmi3Boolean values[], size_t value_count) {
    if (!one_value_each(instance, count, value_count, __func__)) return fmi3Error;
    for (size_t i = 0; i < count; ++i) {
        int32_t value = 0;
        Status status = get_integers(instance, references + i, 1, &value, TYPE_BOOLEAN, __func__);
        if (status != STATUS_OK) return (fmi3Status)status;
        values[i] = value != 0;
    }
    return fmi3OK;
}

fmi3Status fmi3SetBoolean(fmi3Instance instance, const fmi3ValueReference references[],
                          size_t count, const fmi3Boolean values[], size_t value_count) {
    if (!one_value_each(instance, count, value_count, __func__)) return fmi3Error;
    for (size_t i = 0; i < count; ++i) {
        int32_t value = values[i];
        Status status = set_integers(instance, references + i, 1, &value, TYPE_BOOLEAN, __func__);
        if (status != STATUS_OK) return (fmi3Status)status;
    }
    return fmi3OK;
}

#define NO_VARIABLES(Type)                                                                  \
    fmi3Status fmi3Get##Type(fmi3Instance instance, const fmi3ValueReference references[],  \
                             size_t count, fmi3##Type values[], size_t value_count) {       \
        (void)references, (void)values, (void)value_count;                                  \
        return (fmi3Status)no_variables(instance, count, #Type, __func__);                  \
    }                                                                                       \
    fmi3Status fmi3Set##Type(fmi3Instance instance, const fmi3ValueReference references[],  \
                             size_t count, const fmi3##Type values[], size_t value_count) { \
        (void)references, (void)values, (void)value_count;                                  \
        return (fmi3Status)no_variables(instance, count, #Type, __func__);                  \
    }
NO_VARIABLES(Float32)
NO_VARIABLES(Int8)
NO_VARIABLES(UInt8)
NO_VARIABLES(Int16)
NO_VARIABLES(UInt16)
NO_VARIABLES(UInt32)
NO_VARIABLES(Int64)
NO_VARIABLES(UInt64)
NO_VARIABLES(String)

fmi3Status fmi3GetBinary(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                         size_t sizes[], fmi3Binary values[], size_t value_count) {
    (void)references, (void)sizes, (void)values, (void)value_count;
    return (fmi3Status)no_variables(instance, count, "Binary", __func__);
}

fmi3Status fmi3SetBinary(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                         const size_t sizes[], const fmi3Binary values[], size_t value_count) {
    (void)references, (void)sizes, (void)values, (void)value_count;
    return (fmi3Status)no_variables(instance, count, "Binary", __func__);
}

fmi3Status fmi3GetNumberOfVariableDependencies(fmi3Instance instance, fmi3ValueReference reference,
                                               size_t* count) {
    (void)reference, (void)count;
    return unsupported(instance, "every variable is a scalar: ModelStructure has its dependencies",
                       __func__);
}

fmi3Status fmi3GetVariableDependencies(fmi3Instance instance, fmi3ValueReference reference,
                                       size_t dependent_elements[],
                                       fmi3ValueReference independents[],
                                       size_t independent_elements[], fmi3DependencyKind kinds[],
                                       size_t count) {
    (void)reference, (void)dependent_elements, (void)independents, (void)independent_elements;
    (void)kinds, (void)count;
    return unsupported(instance, "every variable is a scalar: ModelStructure has its dependencies",
                       __func__);
}

fmi3Status fmi3GetDirectionalDerivative(fmi3Instance instance, const fmi3ValueReference unknowns[],
                                        size_t unknown_count, const fmi3ValueReference knowns[],
                                        size_t known_count, const fmi3Float64 seed[],
                                        size_t seed_count, fmi3Float64 sensitivity[],
                                        size_t sensitivity_count) {
    if (!one_value_each(instance, known_count, seed_count, __func__) ||
        !one_value_each(instance, unknown_count, sensitivity_count, __func__))
        return fmi3Error;
    return (fmi3Status)directional_derivative(instance, unknowns, unknown_count, knowns,
                                              known_count, seed, sensitivity, __func__);
}

fmi3Status fmi3GetAdjointDerivative(fmi3Instance instance, const fmi3ValueReference unknowns[],
                                    size_t unknown_count, const fmi3ValueReference knowns[],
                                    size_t known_count, const fmi3Float64 seed[], size_t seed_count,
                                    fmi3Float64 sensitivity[], size_t sensitivity_count) {
    if (!one_value_each(instance, unknown_count, seed_count, __func__) ||
        !one_value_each(instance, known_count, sensitivity_count, __func__))
        return fmi3Error;
#ifdef MODEL_HAS_ADJOINT
    return (fmi3Status)adjoint_derivative(instance, unknowns, unknown_count, knowns, known_count,
                                          seed, sensitivity, __func__);
#else
    (void)unknowns, (void)knowns, (void)seed, (void)sensitivity;
    return unsupported(instance,
                       "not provided (providesAdjointDerivatives is false): the model has implicit "
                       "equations",
                       __func__);
#endif
}
