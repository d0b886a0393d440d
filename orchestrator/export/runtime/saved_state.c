/* Saving, restoring and serialising the whole state, bit by bit; that of the solver included. */
#include "instance.h"

/* The serialised form: this header, then State. The GUID keeps states of other builds out. */
typedef struct {
    char guid[48];
    uint64_t size;
} StateHeader;

enum { SERIALIZED_SIZE = sizeof(StateHeader) + sizeof(State) };

static Status save_state(Instance* instance, void** saved, const char* function) {
    if (!allowed(instance, MODES_ALL, function)) return STATUS_ERROR;
    if (saved == NULL) return fail(instance, "%s: no place for the state", function);
    if (*saved == NULL) *saved = malloc(sizeof(State));
    if (*saved == NULL) return fail(instance, "%s: out of memory", function);
    /* The memory of a multistep solver is not saved: this instance and the restored one both begin
     * anew here, so that they stay equal bit by bit. */
    instance->state.controller.history = 0;
    memcpy(*saved, &instance->state, sizeof(State));
    return STATUS_OK;
}

static Status restore_state(Instance* instance, const void* saved, const char* function) {
    if (!allowed(instance, MODES_ALL, function)) return STATUS_ERROR;
    if (saved == NULL) return fail(instance, "%s: the state is NULL", function);
    if (((const State*)saved)->interface != instance->state.interface)
        return fail(instance,
                    "%s: the state was saved by the other interface type (model exchange"
                    " or co-simulation)",
                    function);
    memcpy(&instance->state, saved, sizeof(State));
    instance->fixed_known = false;
    return STATUS_OK;
}

static Status free_state(const Instance* instance, void** saved) {
    if (instance == NULL) return STATUS_ERROR;
    if (saved == NULL) return STATUS_OK;
    free(*saved);
    *saved = NULL;
    return STATUS_OK;
}

static Status serialized_size(const Instance* instance, size_t* size) {
    if (instance == NULL || size == NULL) return STATUS_ERROR;
    *size = SERIALIZED_SIZE;
    return STATUS_OK;
}

static Status serialize(const Instance* instance, const void* saved, void* bytes, size_t size,
                        const char* function) {
    StateHeader header = {.guid = MODEL_GUID, .size = sizeof(State)};
    if (!allowed(instance, MODES_ALL, function)) return STATUS_ERROR;
    if (saved == NULL || size < SERIALIZED_SIZE)
        return fail(instance, "%s: no state, or %zu bytes where %zu are needed", function, size,
                    (size_t)SERIALIZED_SIZE);
    memcpy(bytes, &header, sizeof header);
    memcpy((char*)bytes + sizeof header, saved, sizeof(State));
    return STATUS_OK;
}

static Status deserialize(const Instance* instance, const void* bytes, size_t size, void** saved,
                          const char* function) {
    StateHeader header;
    if (!allowed(instance, MODES_ALL, function)) return STATUS_ERROR;
    if (saved == NULL || size != SERIALIZED_SIZE)
        return fail(instance, "%s: %zu bytes where %zu are expected", function, size,
                    (size_t)SERIALIZED_SIZE);
    memcpy(&header, bytes, sizeof header);
    if (strncmp(header.guid, MODEL_GUID, sizeof header.guid) != 0 || header.size != sizeof(State))
        return fail(instance, "%s: the bytes are a state of another model or build", function);
    if (*saved == NULL) *saved = malloc(sizeof(State));
    if (*saved == NULL) return fail(instance, "%s: out of memory", function);
    memcpy(*saved, (const char*)bytes + sizeof header, sizeof(State));
    return STATUS_OK;
}
