/* FMI 3.0: values and derivatives, over the core. An array is one variable. */
#include "fmi3.h"
#include "instance.h"

/* Whether the caller's array has room for exactly the elements of all variables. */
static bool room_fits(const Instance* instance, const fmi3ValueReference references[], size_t count,
                      size_t values, const char* function) {
    size_t needed = 0;
    if (instance == NULL) return false;
    for (size_t i = 0; i < count; ++i) {
        int place = place_of(references[i]);
        if (place < 0) {
            fail(instance, "%s: no variable has the value reference %u", function, references[i]);
            return false;
        }
        needed += MODEL_EXTENT(place);
    }
    if (needed == values) return true;
    fail(instance, "%s: %zu values for %zu variables of %zu elements", function, values, count,
         needed);
    return false;
}

fmi3Status fmi3GetFloat64(fmi3Instance instance, const fmi3ValueReference references[],
                          size_t count, fmi3Float64 values[], size_t value_count) {
    if (!room_fits(instance, references, count, value_count, __func__)) return fmi3Error;
    return (fmi3Status)get_reals(instance, references, count, values, __func__);
}

fmi3Status fmi3SetFloat64(fmi3Instance instance, const fmi3ValueReference references[],
                          size_t count, const fmi3Float64 values[], size_t value_count) {
    if (!room_fits(instance, references, count, value_count, __func__)) return fmi3Error;
    if (((Instance*)instance)->state.mode == MODE_INTERMEDIATE)
        return (fmi3Status)answer(instance, references, count, values, __func__);
    return (fmi3Status)set_reals(instance, references, count, values, __func__);
}

fmi3Status fmi3GetInt32(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                        fmi3Int32 values[], size_t value_count) {
    if (!room_fits(instance, references, count, value_count, __func__)) return fmi3Error;
    return (fmi3Status)get_integers(instance, references, count, values, TYPE_INTEGER, __func__);
}

fmi3Status fmi3SetInt32(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                        const fmi3Int32 values[], size_t value_count) {
    if (!room_fits(instance, references, count, value_count, __func__)) return fmi3Error;
    return (fmi3Status)set_integers(instance, references, count, values, TYPE_INTEGER, __func__);
}

fmi3Status fmi3GetBoolean(fmi3Instance instance, const fmi3ValueReference references[],
                          size_t count, fmi3Boolean values[], size_t value_count) {
    if (!room_fits(instance, references, count, value_count, __func__)) return fmi3Error;
    int32_t numbers[ROOM(MODEL_LARGEST_EXTENT)];
    for (size_t i = 0; i < count; ++i) {
        Status status = get_integers(instance, references + i, 1, numbers, TYPE_BOOLEAN, __func__);
        if (status != STATUS_OK) return (fmi3Status)status;
        for (size_t e = 0; e < MODEL_EXTENT(references[i]); ++e) *values++ = numbers[e] != 0;
    }
    return fmi3OK;
}

fmi3Status fmi3SetBoolean(fmi3Instance instance, const fmi3ValueReference references[],
                          size_t count, const fmi3Boolean values[], size_t value_count) {
    if (!room_fits(instance, references, count, value_count, __func__)) return fmi3Error;
    int32_t numbers[ROOM(MODEL_LARGEST_EXTENT)];
    for (size_t i = 0; i < count; ++i) {
        for (size_t e = 0; e < MODEL_EXTENT(references[i]); ++e) numbers[e] = *values++;
        Status status = set_integers(instance, references + i, 1, numbers, TYPE_BOOLEAN, __func__);
        if (status != STATUS_OK) return (fmi3Status)status;
    }
    return fmi3OK;
}

/* Enumerations; there are no Integers of 64 bits. */
fmi3Status fmi3GetInt64(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                        fmi3Int64 values[], size_t value_count) {
    if (!room_fits(instance, references, count, value_count, __func__)) return fmi3Error;
    int32_t numbers[ROOM(MODEL_LARGEST_EXTENT)];
    for (size_t i = 0; i < count; ++i) {
        Status status =
            get_integers(instance, references + i, 1, numbers, TYPE_ENUMERATION, __func__);
        if (status != STATUS_OK) return (fmi3Status)status;
        for (size_t e = 0; e < MODEL_EXTENT(references[i]); ++e) *values++ = numbers[e];
    }
    return fmi3OK;
}

fmi3Status fmi3SetInt64(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                        const fmi3Int64 values[], size_t value_count) {
    if (!room_fits(instance, references, count, value_count, __func__)) return fmi3Error;
    int32_t numbers[ROOM(MODEL_LARGEST_EXTENT)];
    for (size_t i = 0; i < count; ++i) {
        for (size_t e = 0; e < MODEL_EXTENT(references[i]); ++e, ++values) {
            bool fits = *values >= INT32_MIN && *values <= INT32_MAX;
            numbers[e] = fits ? (int32_t)*values : INT32_MAX; /* which is no literal either */
        }
        Status status =
            set_integers(instance, references + i, 1, numbers, TYPE_ENUMERATION, __func__);
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
    return unsupported(instance, "not provided (providesPerElementDependencies is false)",
                       __func__);
}

fmi3Status fmi3GetVariableDependencies(fmi3Instance instance, fmi3ValueReference reference,
                                       size_t dependent_elements[],
                                       fmi3ValueReference independents[],
                                       size_t independent_elements[], fmi3DependencyKind kinds[],
                                       size_t count) {
    (void)reference, (void)dependent_elements, (void)independents, (void)independent_elements;
    (void)kinds, (void)count;
    return unsupported(instance, "not provided (providesPerElementDependencies is false)",
                       __func__);
}

fmi3Status fmi3GetDirectionalDerivative(fmi3Instance instance, const fmi3ValueReference unknowns[],
                                        size_t unknown_count, const fmi3ValueReference knowns[],
                                        size_t known_count, const fmi3Float64 seed[],
                                        size_t seed_count, fmi3Float64 sensitivity[],
                                        size_t sensitivity_count) {
    if (!room_fits(instance, knowns, known_count, seed_count, __func__) ||
        !room_fits(instance, unknowns, unknown_count, sensitivity_count, __func__))
        return fmi3Error;
    return (fmi3Status)directional_derivative(instance, unknowns, unknown_count, knowns,
                                              known_count, seed, sensitivity, __func__);
}

fmi3Status fmi3GetAdjointDerivative(fmi3Instance instance, const fmi3ValueReference unknowns[],
                                    size_t unknown_count, const fmi3ValueReference knowns[],
                                    size_t known_count, const fmi3Float64 seed[], size_t seed_count,
                                    fmi3Float64 sensitivity[], size_t sensitivity_count) {
    if (!room_fits(instance, unknowns, unknown_count, seed_count, __func__) ||
        !room_fits(instance, knowns, known_count, sensitivity_count, __func__))
        return fmi3Error;
    return (fmi3Status)adjoint_derivative(instance, unknowns, unknown_count, knowns, known_count,
                                          seed, sensitivity, __func__);
}
