/* Saving, restoring and serialising the whole state, bit by bit; that of the solver included. */
#include "instance.h"

/* The serialised form: this header, then State. The GUID keeps states of other builds out, the sum
 * damaged ones. */
typedef struct {
    char guid[48];
    uint64_t size;
    uint64_t sum;
} StateHeader;

enum { SERIALIZED_SIZE = sizeof(StateHeader) + sizeof(State) };

/* FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/ */
static uint64_t sum_of(const void* bytes, size_t size) {
    const unsigned char* byte = bytes;
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; ++i) sum = (sum ^ byte[i]) * 0x100000001b3u;
    return sum;
}

/* What is wrong with a state that came as bytes; NULL: nothing. Whatever is an index, a count or a
 * choice is looked at here, and trusted where it is used. Values of variables may be any. */
static const char* flaw_of(const State* s) {
    const Controller* c = &s->controller;
    const Events* e = &s->events;
    const uint32_t mode = (uint32_t)s->mode;
    if (mode == 0 || mode > MODES_ALL || (mode & (mode - 1)) != 0) return "its mode is none";
    if (s->interface != CO_SIMULATION && s->interface != MODEL_EXCHANGE)
        return "its interface is none";
    if (s->stale > STALE_ALL || (uint64_t)s->z_known > 1 || (uint64_t)s->moves_are > MOVES_SPENT)
        return "a flag is none";
    if (!(s->tolerance > 0.0 && s->tolerance < 1.0)) return "its tolerance is none";
    if (!isfinite(s->values[AT_TIME])) return "its time is no number";
    if ((uint32_t)c->stiff > STIFF_STEPS || (uint32_t)c->not_stiff > STIFF_STEPS || c->history)
        return "the memory of its solver is none";
    if ((uint32_t)e->crowd > CROWD || (uint32_t)e->in_block > BLOCK ||
        (uint32_t)e->shrinking > MOST_SHRINKING || (uint32_t)e->rebound > N_R)
        return "its memory of events is none";
    for (int i = 0; i < N_S; ++i) {
        const double start = s->samples[2 * i], interval = s->samples[2 * i + 1];
        const double tick = start + s->ticks[i] * interval, least = near(fabs(start) + fabs(tick));
        if (!(s->ticks[i] >= 0.0) || !isfinite(least) ||
            !(interval > least || (s->mode & MODES_SETUP)))
            return "a sampler has no next instant";
    }
#if N_ROOM > 0
    return flaw_of_room(s);
#else
    return NULL;
#endif
}

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
    if (!allowed(instance, MODES_ALL, function)) return STATUS_ERROR;
    if (saved == NULL || size < SERIALIZED_SIZE)
        return fail(instance, "%s: no state, or %zu bytes where %zu are needed", function, size,
                    (size_t)SERIALIZED_SIZE);
    const StateHeader header = {MODEL_GUID, sizeof(State), sum_of(saved, sizeof(State))};
    memcpy(bytes, &header, sizeof header);
    memcpy((char*)bytes + sizeof header, saved, sizeof(State));
    return STATUS_OK;
}

static Status deserialize(const Instance* instance, const void* bytes, size_t size, void** saved,
                          const char* function) {
    const StateHeader own = {.guid = MODEL_GUID, .size = sizeof(State)};
    StateHeader header;
    if (!allowed(instance, MODES_ALL, function)) return STATUS_ERROR;
    if (saved == NULL || size != SERIALIZED_SIZE)
        return fail(instance, "%s: %zu bytes where %zu are expected", function, size,
                    (size_t)SERIALIZED_SIZE);
    memcpy(&header, bytes, sizeof header);
    if (memcmp(header.guid, own.guid, sizeof own.guid) != 0 || header.size != own.size)
        return fail(instance, "%s: the bytes are a state of another model or build", function);
    State* state = malloc(sizeof(State));
    if (state == NULL) return fail(instance, "%s: out of memory", function);
    memcpy(state, (const char*)bytes + sizeof header, sizeof(State));
    const bool whole = header.sum == sum_of(state, sizeof(State));
    const char* flaw = whole ? flaw_of(state) : NULL;
    if (!whole || flaw) {
        free(state);
        return whole
                   ? fail(instance, "%s: the bytes are no state of this model: %s", function, flaw)
                   : fail(instance, "%s: the bytes are damaged: their sum does not fit", function);
    }
    free(*saved);
    *saved = state;
    return STATUS_OK;
}
