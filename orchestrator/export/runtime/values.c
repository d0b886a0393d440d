/* fmi2GetXXX and fmi2SetXXX. */
#include "instance.h"

static const char* const type_names[] = {"Real", "Integer", "Boolean"};
enum { TYPE_REAL, TYPE_INTEGER, TYPE_BOOLEAN };

static inline bool readable(const Instance* instance, fmi2ValueReference reference, int type,
                            const char* function) {
    if (reference < (fmi2ValueReference)N_VALUES && model_types[reference] == type) return true;
    if (reference < (fmi2ValueReference)N_VALUES)
        fail(instance, "%s: variable '%s' is %s, not %s", function, model_names[reference],
             type_names[model_types[reference]], type_names[type]);
    else
        fail(instance, "%s: no variable has the value reference %u", function, reference);
    return false;
}

static bool refuse_set(const Instance* instance, fmi2ValueReference reference,
                       const char* function) {
    const char* name = model_names[reference];
    int place = (int)reference;
    if (place < AT_U)
        fail(instance,
             "%s: '%s' is a constant, or a parameter that shapes the equations: its value "
             "was fixed when the FMU was built",
             function, name);
    else if (place >= AT_C)
        fail(instance, "%s: '%s' is calculated by the model and cannot be set", function, name);
    else if (place < AT_P)
        fail(instance,
             "%s: the start value of '%s' can only be set before the end of "
             "initialization, now the state is '%s'",
             function, name, mode_name(instance->state.mode));
    else
        fail(instance, "%s: the parameter '%s' is fixed: set it before the end of initialization",
             function, name);
    return false;
}

static inline bool writable(Instance* instance, fmi2ValueReference reference, int type,
                            const char* function) {
    State* s = &instance->state;
    int place = (int)reference;
    if (!readable(instance, reference, type, function)) return false;
    if (place < AT_U || place >= AT_C) return refuse_set(instance, reference, function);
    if (place < AT_X) {
        s->stale |= STALE_OUTPUTS | STALE_LOCALS;
        if (HAS_INITIAL_SYSTEM && (s->mode & MODES_SETUP)) s->stale = STALE_ALL;
        return true;
    }
    if (!model_tunable[place] && !(s->mode & MODES_SETUP))
        return refuse_set(instance, reference, function);
    if (place < AT_P) s->start_set[place - AT_X] = 1;
    s->stale = STALE_ALL;
    return true;
}

fmi2Status fmi2GetReal(fmi2Component component, const fmi2ValueReference references[], size_t count,
                       fmi2Real values[]) {
    Instance* instance = component;
    if (!allowed(instance, MODES_READ, __func__)) return fmi2Error;
    for (size_t i = 0; i < count; ++i) {
        if (!readable(instance, references[i], TYPE_REAL, __func__)) return fmi2Error;
        if (!refresh(instance, references[i])) return report_block(instance, __func__);
        values[i] = instance->state.values[references[i]];
    }
    return fmi2OK;
}

fmi2Status fmi2SetReal(fmi2Component component, const fmi2ValueReference references[], size_t count,
                       const fmi2Real values[]) {
    Instance* instance = component;
    if (!allowed(instance, MODES_SETUP | MODE_STEP, __func__)) return fmi2Error;
    for (size_t i = 0; i < count; ++i) {
        if (isnan(values[i]) && references[i] < (fmi2ValueReference)N_VALUES)
            return fail(instance, "%s: the value for '%s' is not a number", __func__,
                        model_names[references[i]]);
        if (!writable(instance, references[i], TYPE_REAL, __func__)) return fmi2Error;
        instance->state.values[references[i]] = values[i];
    }
    return fmi2OK;
}

static fmi2Status get_discrete(Instance* instance, const fmi2ValueReference references[],
                               size_t count, int values[], int type, const char* function) {
    if (!allowed(instance, MODES_READ, function)) return fmi2Error;
    for (size_t i = 0; i < count; ++i) {
        if (!readable(instance, references[i], type, function)) return fmi2Error;
        if (!refresh(instance, references[i])) return report_block(instance, function);
        double value = instance->state.values[references[i]];
        if (!(fabs(value) <= 2147483647.0))
            return fail(instance, "%s: the value %g of '%s' does not fit into an integer", function,
                        value, model_names[references[i]]);
        values[i] = type == TYPE_BOOLEAN ? value != 0.0 : (int)lround(value);
    }
    return fmi2OK;
}

static fmi2Status set_discrete(Instance* instance, const fmi2ValueReference references[],
                               size_t count, const int values[], int type, const char* function) {
    if (!allowed(instance, MODES_SETUP | MODE_STEP, function)) return fmi2Error;
    for (size_t i = 0; i < count; ++i) {
        if (!writable(instance, references[i], type, function)) return fmi2Error;
        instance->state.values[references[i]] = type == TYPE_BOOLEAN ? values[i] != 0 : values[i];
    }
    return fmi2OK;
}

fmi2Status fmi2GetInteger(fmi2Component component, const fmi2ValueReference references[],
                          size_t count, fmi2Integer values[]) {
    return get_discrete(component, references, count, values, TYPE_INTEGER, __func__);
}

fmi2Status fmi2GetBoolean(fmi2Component component, const fmi2ValueReference references[],
                          size_t count, fmi2Boolean values[]) {
    return get_discrete(component, references, count, values, TYPE_BOOLEAN, __func__);
}

fmi2Status fmi2SetInteger(fmi2Component component, const fmi2ValueReference references[],
                          size_t count, const fmi2Integer values[]) {
    return set_discrete(component, references, count, values, TYPE_INTEGER, __func__);
}

fmi2Status fmi2SetBoolean(fmi2Component component, const fmi2ValueReference references[],
                          size_t count, const fmi2Boolean values[]) {
    return set_discrete(component, references, count, values, TYPE_BOOLEAN, __func__);
}

static fmi2Status no_strings(const Instance* instance, size_t count, const char* function) {
    if (instance == NULL) return fmi2Error;
    return count == 0 ? fmi2OK : fail(instance, "%s: the model has no String variable", function);
}

fmi2Status fmi2GetString(fmi2Component component, const fmi2ValueReference references[],
                         size_t count, fmi2String values[]) {
    (void)references, (void)values;
    return no_strings(component, count, __func__);
}

fmi2Status fmi2SetString(fmi2Component component, const fmi2ValueReference references[],
                         size_t count, const fmi2String values[]) {
    (void)references, (void)values;
    return no_strings(component, count, __func__);
}
