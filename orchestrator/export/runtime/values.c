/* Reading and writing of variables. */
#include "instance.h"

static const char* const type_names[] = {"Real", "Integer", "Boolean", "Enumeration"};

/* Position of a variable's first value; -1 if the reference is nobody's. */
static inline int place_of(Reference reference) {
    bool exists = reference < (Reference)N_VALUES && MODEL_EXTENT(reference) > 0;
    return exists ? (int)reference : -1;
}

static inline bool is_discrete(int place) { return within(place, AT_D, AT_Y); }

static inline bool readable(const Instance* instance, Reference reference, int type,
                            const char* function) {
    int place = place_of(reference);
    if (place >= 0 && model_types[place] == type) return true;
    if (MODEL_FMI == 2 && type == TYPE_INTEGER && place >= 0 &&
        model_types[place] == TYPE_ENUMERATION)
        return true;
    if (place >= 0)
        fail(instance, "%s: variable '%s' is %s, not %s", function, model_names[reference],
             type_names[model_types[reference]], type_names[type]);
    else
        fail(instance, "%s: no variable has the value reference %u", function, reference);
    return false;
}

static bool refuse_set(const Instance* instance, Reference reference, const char* function) {
    const char* name = model_names[reference];
    int place = (int)reference;
    if (place < AT_U)
        fail(instance,
             "%s: '%s' is a constant, or a parameter that shapes the equations: its value "
             "was fixed when the FMU was built",
             function, name);
    else if (place >= AT_C && !(is_discrete(place) && model_discrete_exact[place - AT_D]))
        fail(instance, "%s: '%s' is calculated by the model and cannot be set", function, name);
    else if (!within(place, AT_P, AT_D))
        fail(instance,
             "%s: the start value of '%s' can only be set before the end of "
             "initialization, now the state is '%s'",
             function, name, mode_name(instance->state.mode));
    else if (model_tunable[place])
        fail(instance, "%s: the parameter '%s' can be set in event mode, now the state is '%s'",
             function, name, mode_name(instance->state.mode));
    else
        fail(instance, "%s: the parameter '%s' is fixed: set it before the end of initialization",
             function, name);
    return false;
}

static bool within_limits(const Instance* instance, int place, double value, const char* function) {
    double least = model_minima[place - AT_X], most = model_maxima[place - AT_X];
    if (value >= least && value <= most) return true;
    fail(instance, "%s: '%s' = %.17g is outside of its limits: min %.17g, max %.17g", function,
         model_names[place], value, least, most);
    return false;
}

static inline bool writable(Instance* instance, Reference reference, double value,
                            const char* function) {
    State* s = &instance->state;
    int place = (int)reference;
    if (is_discrete(place) && model_discrete_exact[place - AT_D]) {
        if (!(s->mode & MODES_SETUP)) return refuse_set(instance, reference, function);
        s->discrete_set[place - AT_D] = 1;
        s->stale = STALE_ALL;
        return true;
    }
    if (place < AT_U || place >= AT_C) return refuse_set(instance, reference, function);
    s->event_due = HAS_EVENTS;
    if (place < AT_X) {
        stop_moving(s, place - AT_U);
        s->stale |= STALE_OUTPUTS | STALE_LOCALS;
        bool starts = HAS_INITIAL_SYSTEM || HAS_EVENTS || IS_SAMPLED;
        if (starts && (s->mode & MODES_SETUP)) s->stale = STALE_ALL;
        return true;
    }
    int when = MODES_SETUP | (model_tunable[place] ? MODE_STEP | MODE_EVENT : 0);
    if (!(s->mode & when)) return refuse_set(instance, reference, function);
    if (!within_limits(instance, place, value, function)) return false;
    if (place < AT_P) s->start_set[place - AT_X] = 1;
    s->stale = STALE_ALL;
    return true;
}

/* An output or local that has no value here must not reach an importer as a number. */
static inline bool is_usable(const Instance* instance, Reference at, const char* function) {
    const double* values = instance->state.values;
    if ((int)at < AT_Y || (int)at >= AT_DX || isfinite(values[at])) return true;
    fail(instance,
         "%s: '%s' is %g at t = %.9g s; the model divides by 0 or has left its domain, or an index "
         "is outside of its array",
         function, model_names[at], values[at], values[AT_TIME]);
    return false;
}

static inline Status get_reals(Instance* instance, const Reference references[], size_t count,
                               double values[], const char* function) {
    if (!allowed(instance, MODES_READ, function)) return STATUS_ERROR;
    for (size_t i = 0; i < count; ++i) {
        if (!readable(instance, references[i], TYPE_REAL, function)) return STATUS_ERROR;
        if (!refresh(instance, references[i])) return report_block(instance, function);
        for (Reference at = references[i], end = at + MODEL_EXTENT(at); at < end; ++at) {
            if (!is_usable(instance, at, function)) return STATUS_ERROR;
            *values++ = instance->state.values[at];
        }
    }
    return STATUS_OK;
}

static inline Status set_reals(Instance* instance, const Reference references[], size_t count,
                               const double values[], const char* function) {
    if (!allowed(instance, MODES_SETUP | MODE_STEP | MODES_EXCHANGE, function)) return STATUS_ERROR;
    for (size_t i = 0; i < count; ++i) {
        if (!readable(instance, references[i], TYPE_REAL, function)) return STATUS_ERROR;
        for (Reference at = references[i], end = at + MODEL_EXTENT(at); at < end; ++at, ++values) {
            if (isnan(*values))
                return fail(instance, "%s: the value for '%s' is not a number", function,
                            model_names[at]);
            if (!writable(instance, at, *values, function)) return STATUS_ERROR;
            instance->state.values[at] = *values;
        }
    }
    return STATUS_OK;
}

/* One Integer, Boolean or literal. */
static bool get_discrete(Instance* instance, Reference at, int* value, const char* function) {
    double number = instance->state.values[at];
    if (!(fabs(number) <= 2147483647.0)) {
        fail(instance, "%s: the value %g of '%s' does not fit into an integer", function, number,
             model_names[at]);
        return false;
    }
    *value = model_types[at] == TYPE_BOOLEAN ? number != 0.0 : (int)lround(number);
    return true;
}

static bool set_discrete(Instance* instance, Reference at, int value, const char* function) {
    double number = model_types[at] == TYPE_BOOLEAN ? value != 0 : value;
    const Literals* literals = &model_literals[model_literals_of[at]];
    if (model_types[at] == TYPE_ENUMERATION && (value < 1 || value > literals->count)) {
        fail(instance, "%s: '%s' = %d is none of its literals: %s", function, model_names[at],
             value, literals->names);
        return false;
    }
    if (!writable(instance, at, number, function)) return false;
    instance->state.values[at] = number;
    return true;
}

static Status get_integers(Instance* instance, const Reference references[], size_t count,
                           int32_t values[], int type, const char* function) {
    if (!allowed(instance, MODES_READ, function)) return STATUS_ERROR;
    for (size_t i = 0; i < count; ++i) {
        if (!readable(instance, references[i], type, function)) return STATUS_ERROR;
        if (!refresh(instance, references[i])) return report_block(instance, function);
        for (Reference at = references[i], end = at + MODEL_EXTENT(at); at < end; ++at)
            if (!get_discrete(instance, at, values++, function)) return STATUS_ERROR;
    }
    return STATUS_OK;
}

static Status set_integers(Instance* instance, const Reference references[], size_t count,
                           const int32_t values[], int type, const char* function) {
    if (!allowed(instance, MODES_SETUP | MODE_STEP | MODE_EVENT, function)) return STATUS_ERROR;
    for (size_t i = 0; i < count; ++i) {
        if (!readable(instance, references[i], type, function)) return STATUS_ERROR;
        for (Reference at = references[i], end = at + MODEL_EXTENT(at); at < end; ++at)
            if (!set_discrete(instance, at, *values++, function)) return STATUS_ERROR;
    }
    return STATUS_OK;
}

static Status no_variables(const Instance* instance, size_t count, const char* type,
                           const char* function) {
    if (instance == NULL) return STATUS_ERROR;
    return count == 0 ? STATUS_OK
                      : fail(instance, "%s: the model has no %s variable", function, type);
}
