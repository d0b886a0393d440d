/* Model exchange: the importer integrates and finds the events. */
#include "instance.h"

static Status set_time(Instance* instance, double time, const char* function) {
    if (!allowed(instance, MODES_EXCHANGE, function)) return STATUS_ERROR;
    if (!isfinite(time)) return fail(instance, "%s: the time is %g", function, time);
    instance->state.values[AT_TIME] = time;
    instance->state.stale |= STALE_OUTPUTS | STALE_LOCALS;
    return STATUS_OK;
}

static bool counts_agree(const Instance* instance, size_t given, size_t right, const char* what,
                         const char* function) {
    if (given == right) return true;
    fail(instance, "%s: room for %zu values; the model has %zu %s", function, given, right, what);
    return false;
}

static Status set_states(Instance* instance, const double values[], size_t count,
                         const char* function) {
    if (!allowed(instance, MODE_CONTINUOUS, function)) return STATUS_ERROR;
    if (!counts_agree(instance, count, N_X, "continuous states", function)) return STATUS_ERROR;
    for (size_t i = 0; i < count; ++i)
        if (!isfinite(values[i]))
            return discard(instance, "%s: '%s' would be %g", function, model_names[AT_X + i],
                           values[i]);
    if (count > 0) memcpy(instance->state.values + AT_X, values, sizeof(double) * count);
    instance->state.stale |= STALE_OUTPUTS | STALE_LOCALS;
    return STATUS_OK;
}

static Status get_states(Instance* instance, double values[], size_t count, const char* function) {
    if (!allowed(instance, MODES_READ, function)) return STATUS_ERROR;
    if (!counts_agree(instance, count, N_X, "continuous states", function)) return STATUS_ERROR;
    if ((instance->state.stale & STALE_PARAMETERS) && !update_parameters(instance))
        return discard_block(instance, function);
    if (count > 0) memcpy(values, instance->state.values + AT_X, sizeof(double) * count);
    return STATUS_OK;
}

static Status get_nominals(const Instance* instance, double values[], size_t count,
                           const char* function) {
    if (!allowed(instance, MODES_READ, function)) return STATUS_ERROR;
    if (!counts_agree(instance, count, N_X, "continuous states", function)) return STATUS_ERROR;
    for (size_t i = 0; i < count; ++i) values[i] = model_nominals[i];
    return STATUS_OK;
}

static Status get_derivatives(Instance* instance, double values[], size_t count,
                              const char* function) {
    if (!allowed(instance, MODES_READ, function)) return STATUS_ERROR;
    if (!counts_agree(instance, count, N_X, "continuous states", function)) return STATUS_ERROR;
    if (count == 0) return STATUS_OK;
    State* s = &instance->state;
    if ((s->stale & STALE_PARAMETERS) && !update_parameters(instance))
        return discard_block(instance, function);
    instance->failed_block = NULL;
    derivatives(instance, s->values[AT_TIME], s->values + AT_X, values);
    if (instance->failed_block) return discard_block(instance, function);
    for (size_t i = 0; i < count; ++i)
        if (!isfinite(values[i]))
            return discard(instance, "%s: the derivative of '%s' is %g at t = %.9g s", function,
                           model_names[AT_X + i], values[i], s->values[AT_TIME]);
    return STATUS_OK;
}

static Status get_event_indicators(Instance* instance, double values[], size_t count,
                                   const char* function) {
    if (!allowed(instance, MODES_READ, function)) return STATUS_ERROR;
    if (!counts_agree(instance, count, N_INDICATORS, "event indicators", function))
        return STATUS_ERROR;
#if HAS_EVENTS
    State* s = &instance->state;
    if ((s->stale & STALE_PARAMETERS) && !update_parameters(instance))
        return discard_block(instance, function);
    memcpy(instance->z_now, s->z, sizeof s->z);
    if (!compare(instance, s->values[AT_TIME], s->values + AT_X, instance->z_now))
        return discard_block(instance, function);
    indicate(instance, values);
#else
    (void)values;
#endif
    return STATUS_OK;
}

typedef struct {
    bool terminate, states_changed, next_defined;
    double next;
} EventInfo;

/* Event mode: everything that happens now, to its end. */
static Status update_discrete(Instance* instance, EventInfo* info, const char* function) {
    if (!allowed(instance, MODE_EVENT, function)) return STATUS_ERROR;
    memset(info, 0, sizeof *info);
#if HAS_EVENTS
    State* s = &instance->state;
    if ((s->stale & STALE_PARAMETERS) && !update_parameters(instance))
        return report_block(instance, function);
    if (follow_samplers(instance, false, function) != STATUS_OK) return STATUS_ERROR;
    mark_samplers(instance);
    const char* relation = pending_relation(instance);
    if (relation && is_chattering(instance, 0.1))
        return report_chattering(instance, relation, function);
    Status status = happen(instance, function);
    if (status != STATUS_OK) return status;
    if (s->interface == CO_SIMULATION && !expect_rebound(instance))
        return report_modes(instance, function);
    info->terminate = s->terminated != 0;
    info->states_changed = instance->states_changed;
    info->next = next_instant(instance);
    info->next_defined = isfinite(info->next);
    if (!info->next_defined) info->next = 0.0;
#endif
    return STATUS_OK;
}

static Status completed_step(Instance* instance, bool* terminate, const char* function) {
    if (!allowed(instance, MODE_CONTINUOUS, function)) return STATUS_ERROR;
    *terminate = instance->state.terminated != 0;
    return check_assertions(instance, false, function);
}
