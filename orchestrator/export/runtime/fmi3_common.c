/* FMI 3.0: life cycle and saved states, over the core. */
#include "fmi3.h"
#include "instance.h"

static void deliver3(const Importer* importer, Status status, const char* category,
                     const char* text) {
    fmi3LogMessageCallback logger = (fmi3LogMessageCallback)importer->logger;
    char escaped[2048];
    escape(text, "#", escaped, sizeof escaped); /* a single one would name a variable */
    logger(importer->environment, (fmi3Status)status, category, escaped);
}

/* For functions that the model has no use for. */
static fmi3Status unsupported(const Instance* instance, const char* what, const char* function) {
    if (instance == NULL) return fmi3Error;
    return (fmi3Status)fail(instance, "%s: %s", function, what);
}

const char* fmi3GetVersion(void) { return "3.0"; }

fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token,
                                          fmi3String resource_path, fmi3Boolean visible,
                                          fmi3Boolean logging_on,
                                          fmi3InstanceEnvironment environment,
                                          fmi3LogMessageCallback logger) {
    (void)resource_path, (void)visible;
    Importer importer = {deliver3, (void (*)(void))logger, environment, name,
                         logging_on ? LOG_ALL : 0};
    return create(&importer, MODEL_EXCHANGE, token, __func__);
}

/* The FMU never returns early from a step because it was asked to. */
static void ask3(Instance* instance, double time) {
    bool early_return_requested = false;
    double early_return_time = time;
    fmi3IntermediateUpdateCallback update = (fmi3IntermediateUpdateCallback)instance->asked;
    update(instance->importer.environment, time, true, false, false, false, &early_return_requested,
           &early_return_time);
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token,
                                         fmi3String resource_path, fmi3Boolean visible,
                                         fmi3Boolean logging_on, fmi3Boolean event_mode_used,
                                         fmi3Boolean early_return_allowed,
                                         const fmi3ValueReference required_intermediate_variables[],
                                         size_t required_count, fmi3InstanceEnvironment environment,
                                         fmi3LogMessageCallback logger,
                                         fmi3IntermediateUpdateCallback intermediate_update) {
    (void)resource_path, (void)visible;
    Importer importer = {deliver3, (void (*)(void))logger, environment, name,
                         logging_on ? LOG_ALL : 0};
    if (event_mode_used && !HAS_EVENTS) {
        refuse_instance(&importer, "%s: this FMU has no event mode (hasEventMode is false)",
                        __func__);
        return NULL;
    }
    if (required_count > 0 && (IS_SAMPLED || intermediate_update == NULL)) {
        refuse_instance(&importer, "%s: %s", __func__,
                        IS_SAMPLED ? "this FMU has no intermediate update"
                                   : "intermediate variables are required without a callback");
        return NULL;
    }
    Instance* instance = create(&importer, CO_SIMULATION, token, __func__);
    if (instance == NULL) return NULL;
    if (!require_inputs(instance, required_intermediate_variables, required_count)) {
        refuse_instance(&importer, "%s: intermediate update is for continuous inputs only",
                        __func__);
        destroy(instance);
        return NULL;
    }
    if (required_count > 0) {
        instance->ask = ask3;
        instance->asked = (void (*)(void))intermediate_update;
    }
    instance->event_mode_used = event_mode_used;
    instance->early_return_allowed = early_return_allowed;
    return instance;
}

fmi3Instance fmi3InstantiateScheduledExecution(
    fmi3String name, fmi3String token, fmi3String resource_path, fmi3Boolean visible,
    fmi3Boolean logging_on, fmi3InstanceEnvironment environment, fmi3LogMessageCallback logger,
    fmi3ClockUpdateCallback clock_update, fmi3LockPreemptionCallback lock,
    fmi3UnlockPreemptionCallback unlock) {
    (void)token, (void)resource_path, (void)visible;
    (void)clock_update, (void)lock, (void)unlock;
    Importer importer = {deliver3, (void (*)(void))logger, environment, name,
                         logging_on ? LOG_ALL : 0};
    refuse_instance(&importer, "%s: this FMU has no scheduled execution", __func__);
    return NULL;
}

void fmi3FreeInstance(fmi3Instance instance) { destroy(instance); }

fmi3Status fmi3SetDebugLogging(fmi3Instance instance, fmi3Boolean logging_on, size_t count,
                               const fmi3String categories[]) {
    return (fmi3Status)set_logging(instance, logging_on, count, categories, __func__);
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean tolerance_defined,
                                       fmi3Float64 tolerance, fmi3Float64 start_time,
                                       fmi3Boolean stop_time_defined, fmi3Float64 stop_time) {
    Status status = set_up(instance, tolerance_defined, tolerance, start_time, stop_time_defined,
                           stop_time, __func__);
    if (status != STATUS_OK) return (fmi3Status)status;
    return (fmi3Status)change_mode(instance, MODE_INSTANTIATED, MODE_INITIALIZATION, __func__);
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance instance) {
    return (fmi3Status)exit_initialization(instance, __func__);
}

fmi3Status fmi3Terminate(fmi3Instance instance) {
    return (fmi3Status)change_mode(instance, MODE_STEP | MODES_EXCHANGE | MODE_ERROR,
                                   MODE_TERMINATED, __func__);
}

fmi3Status fmi3Reset(fmi3Instance instance) { return (fmi3Status)reset(instance, __func__); }

fmi3Status fmi3EnterConfigurationMode(fmi3Instance instance) {
    return unsupported(instance, "the model has no structural parameters that can be set",
                       __func__);
}

fmi3Status fmi3ExitConfigurationMode(fmi3Instance instance) {
    return unsupported(instance, "the model has no structural parameters that can be set",
                       __func__);
}

fmi3Status fmi3GetFMUState(fmi3Instance instance, fmi3FMUState* saved) {
    return (fmi3Status)save_state(instance, saved, __func__);
}

fmi3Status fmi3SetFMUState(fmi3Instance instance, fmi3FMUState saved) {
    return (fmi3Status)restore_state(instance, saved, __func__);
}

fmi3Status fmi3FreeFMUState(fmi3Instance instance, fmi3FMUState* saved) {
    return (fmi3Status)free_state(instance, saved);
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance instance, fmi3FMUState saved, size_t* size) {
    (void)saved;
    return (fmi3Status)serialized_size(instance, size);
}

fmi3Status fmi3SerializeFMUState(fmi3Instance instance, fmi3FMUState saved, fmi3Byte bytes[],
                                 size_t size) {
    return (fmi3Status)serialize(instance, saved, bytes, size, __func__);
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance instance, const fmi3Byte bytes[], size_t size,
                                   fmi3FMUState* saved) {
    return (fmi3Status)deserialize(instance, bytes, size, saved, __func__);
}
