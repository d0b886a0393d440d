/* Saving, restoring and serialising the whole state, bit by bit. */
#include "instance.h"

/* The serialised form: this header, then State. The GUID keeps states of other builds out. */
typedef struct {
    char guid[48];
    uint64_t size;
} StateHeader;

fmi2Status fmi2GetFMUstate(fmi2Component component, fmi2FMUstate* saved) {
    Instance* instance = component;
    if (!allowed(instance, MODES_ALL, __func__)) return fmi2Error;
    if (saved == NULL) return fail(instance, "%s: no place for the state", __func__);
    if (*saved == NULL) *saved = malloc(sizeof(State));
    if (*saved == NULL) return fail(instance, "%s: out of memory", __func__);
    memcpy(*saved, &instance->state, sizeof(State));
    return fmi2OK;
}

fmi2Status fmi2SetFMUstate(fmi2Component component, fmi2FMUstate saved) {
    Instance* instance = component;
    if (!allowed(instance, MODES_ALL, __func__)) return fmi2Error;
    if (saved == NULL) return fail(instance, "%s: the state is NULL", __func__);
    memcpy(&instance->state, saved, sizeof(State));
    return fmi2OK;
}

fmi2Status fmi2FreeFMUstate(fmi2Component component, fmi2FMUstate* saved) {
    if (component == NULL) return fmi2Error;
    if (saved == NULL) return fmi2OK;
    free(*saved);
    *saved = NULL;
    return fmi2OK;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component component, fmi2FMUstate saved, size_t* size) {
    (void)saved;
    if (component == NULL || size == NULL) return fmi2Error;
    *size = sizeof(StateHeader) + sizeof(State);
    return fmi2OK;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component component, fmi2FMUstate saved, fmi2Byte bytes[],
                                 size_t size) {
    Instance* instance = component;
    StateHeader header = {.guid = MODEL_GUID, .size = sizeof(State)};
    if (!allowed(instance, MODES_ALL, __func__)) return fmi2Error;
    if (saved == NULL || size < sizeof header + sizeof(State))
        return fail(instance, "%s: no state, or %zu bytes where %zu are needed", __func__, size,
                    sizeof header + sizeof(State));
    memcpy(bytes, &header, sizeof header);
    memcpy(bytes + sizeof header, saved, sizeof(State));
    return fmi2OK;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component component, const fmi2Byte bytes[], size_t size,
                                   fmi2FMUstate* saved) {
    Instance* instance = component;
    StateHeader header;
    if (!allowed(instance, MODES_ALL, __func__)) return fmi2Error;
    if (saved == NULL || size != sizeof header + sizeof(State))
        return fail(instance, "%s: %zu bytes where %zu are expected", __func__, size,
                    sizeof header + sizeof(State));
    memcpy(&header, bytes, sizeof header);
    if (strncmp(header.guid, MODEL_GUID, sizeof header.guid) != 0 || header.size != sizeof(State))
        return fail(instance, "%s: the bytes are a state of another model or build", __func__);
    if (*saved == NULL) *saved = malloc(sizeof(State));
    if (*saved == NULL) return fail(instance, "%s: out of memory", __func__);
    memcpy(*saved, bytes + sizeof header, sizeof(State));
    return fmi2OK;
}
