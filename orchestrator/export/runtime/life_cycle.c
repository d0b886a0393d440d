/* Instantiation, initialisation, termination. */
#include "instance.h"

static void set_to_start(Instance* instance) {
    State* s = &instance->state;
    memset(s, 0, sizeof *s);
    if (N_VALUES > 0) memcpy(s->values, model_start_values, sizeof(double) * N_VALUES);
    s->mode = MODE_INSTANTIATED;
    s->stale = STALE_ALL;
}

const char* fmi2GetTypesPlatform(void) { return "default"; }

const char* fmi2GetVersion(void) { return "2.0"; }

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid,
                              fmi2String resource_location, const fmi2CallbackFunctions* callbacks,
                              fmi2Boolean visible, fmi2Boolean logging_on) {
    (void)resource_location, (void)visible, (void)logging_on;
    if (name == NULL || *name == '\0') {
        refuse_instance(callbacks, name, "fmi2Instantiate: the instance name is empty");
        return NULL;
    }
    if (type != fmi2CoSimulation) {
        refuse_instance(callbacks, name, "fmi2Instantiate: this FMU is for co-simulation only");
        return NULL;
    }
    if (guid == NULL || strcmp(guid, MODEL_GUID) != 0) {
        refuse_instance(callbacks, name,
                        "fmi2Instantiate: GUID '%s' does not match '%s': binary and "
                        "modelDescription.xml are of different builds",
                        guid ? guid : "", MODEL_GUID);
        return NULL;
    }
    Instance* instance = calloc(1, sizeof *instance);
    char* copy = malloc(strlen(name) + 1);
    if (instance == NULL || copy == NULL) {
        free(instance);
        free(copy);
        refuse_instance(callbacks, name, "fmi2Instantiate: out of memory");
        return NULL;
    }
    instance->name = strcpy(copy, name);
    instance->logger = callbacks ? callbacks->logger : NULL;
    instance->environment = callbacks ? callbacks->componentEnvironment : NULL;
    set_to_start(instance);
    return instance;
}

void fmi2FreeInstance(fmi2Component component) {
    Instance* instance = component;
    if (instance == NULL) return;
    free(instance->name);
    free(instance);
}

fmi2Status fmi2SetDebugLogging(fmi2Component component, fmi2Boolean logging_on, size_t count,
                               const fmi2String categories[]) {
    Instance* instance = component;
    (void)logging_on; /* the only messages are errors, and those are always sent */
    if (instance == NULL) return fmi2Error;
    for (size_t i = 0; i < count; ++i)
        if (strcmp(categories[i], "logStatusError") != 0)
            return fail(instance, "%s: no log category '%s'; there is only logStatusError",
                        __func__, categories[i]);
    return fmi2OK;
}

fmi2Status fmi2SetupExperiment(fmi2Component component, fmi2Boolean tolerance_defined,
                               fmi2Real tolerance, fmi2Real start_time,
                               fmi2Boolean stop_time_defined, fmi2Real stop_time) {
    Instance* instance = component;
    (void)tolerance_defined, (void)tolerance; /* the solver has a fixed step */
    if (!allowed(instance, MODE_INSTANTIATED, __func__)) return fmi2Error;
    if (!isfinite(start_time) || (stop_time_defined && !(stop_time >= start_time)))
        return fail(instance, "%s: start time %.17g and stop time %.17g are not an interval",
                    __func__, start_time, stop_time);
    instance->state.time = start_time;
    instance->state.stop_time = stop_time_defined ? stop_time : 0.0;
    instance->state.stop_time_defined = stop_time_defined != fmi2False;
    instance->state.experiment_set_up = 1;
    instance->state.stale = STALE_ALL;
    return fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component component) {
    Instance* instance = component;
    if (!allowed(instance, MODE_INSTANTIATED, __func__)) return fmi2Error;
    if (!instance->state.experiment_set_up)
        return fail(instance, "%s: call fmi2SetupExperiment first", __func__);
    instance->state.mode = MODE_INITIALIZATION;
    return fmi2OK;
}

fmi2Status fmi2ExitInitializationMode(fmi2Component component) {
    Instance* instance = component;
    if (!allowed(instance, MODE_INITIALIZATION, __func__)) return fmi2Error;
    State* s = &instance->state;
    if (((s->stale & STALE_PARAMETERS) && !update_parameters(instance)) || !settle(instance)) {
        s->mode = MODE_ERROR;
        return report_block(instance, __func__);
    }
    if (!consistent(instance, __func__)) {
        s->mode = MODE_ERROR;
        return fmi2Error;
    }
    for (int i = AT_X; i < AT_Y; ++i) {
        if (isnan(s->values[i]) || (i < AT_P && isinf(s->values[i]))) {
            s->mode = MODE_ERROR;
            return fail(instance, "%s: '%s' starts as %g; check the parameters it is computed from",
                        __func__, model_names[i], s->values[i]);
        }
    }
    s->mode = MODE_STEP;
    return fmi2OK;
}

fmi2Status fmi2Terminate(fmi2Component component) {
    Instance* instance = component;
    if (!allowed(instance, MODE_STEP | MODE_ERROR, __func__)) return fmi2Error;
    instance->state.mode = MODE_TERMINATED;
    return fmi2OK;
}

fmi2Status fmi2Reset(fmi2Component component) {
    Instance* instance = component;
    if (!allowed(instance, MODES_ALL, __func__)) return fmi2Error;
    set_to_start(instance);
    return fmi2OK;
}
