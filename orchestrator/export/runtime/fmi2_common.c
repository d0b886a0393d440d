/* FMI 2.0: life cycle and saved states, over the core. */
#include "fmi2.h"
#include "instance.h"

static void deliver2(const Importer* importer, Status status, const char* category,
                     const char* text) {
    fmi2CallbackLogger logger = (fmi2CallbackLogger)importer->logger;
    char escaped[2048];
    escape(text, "%#", escaped, sizeof escaped); /* a printf format, and names of variables */
    logger(importer->environment, importer->name ? importer->name : "", (fmi2Status)status,
           category, escaped);
}

const char* fmi2GetTypesPlatform(void) { return "default"; }

const char* fmi2GetVersion(void) { return "2.0"; }

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid,
                              fmi2String resource_location, const fmi2CallbackFunctions* callbacks,
                              fmi2Boolean visible, fmi2Boolean logging_on) {
    (void)resource_location, (void)visible;
    /* Debug logging or not, the text of a warning is expected to be shown (FMI 2.0.4, 2.1.3). */
    Importer importer = {deliver2, callbacks ? (void (*)(void))callbacks->logger : NULL,
                         callbacks ? callbacks->componentEnvironment : NULL, name,
                         logging_on ? LOG_ALL : LOG_WARNING};
    return create(&importer, type == fmi2CoSimulation ? CO_SIMULATION : MODEL_EXCHANGE, guid,
                  __func__);
}

void fmi2FreeInstance(fmi2Component component) { destroy(component); }

fmi2Status fmi2SetDebugLogging(fmi2Component component, fmi2Boolean logging_on, size_t count,
                               const fmi2String categories[]) {
    return (fmi2Status)set_logging(component, logging_on != fmi2False, count, categories, __func__);
}

fmi2Status fmi2SetupExperiment(fmi2Component component, fmi2Boolean tolerance_defined,
                               fmi2Real tolerance, fmi2Real start_time,
                               fmi2Boolean stop_time_defined, fmi2Real stop_time) {
    return (fmi2Status)set_up(component, tolerance_defined != fmi2False, tolerance, start_time,
                              stop_time_defined != fmi2False, stop_time, __func__);
}

fmi2Status fmi2EnterInitializationMode(fmi2Component component) {
    const Instance* instance = component;
    if (!allowed(instance, MODE_INSTANTIATED, __func__)) return fmi2Error;
    if (!instance->state.experiment_set_up)
        return (fmi2Status)fail(instance, "%s: call fmi2SetupExperiment first", __func__);
    return (fmi2Status)change_mode(component, MODE_INSTANTIATED, MODE_INITIALIZATION, __func__);
}

fmi2Status fmi2ExitInitializationMode(fmi2Component component) {
    return (fmi2Status)exit_initialization(component, __func__);
}

fmi2Status fmi2Terminate(fmi2Component component) {
    return (fmi2Status)change_mode(component, MODE_STEP | MODES_EXCHANGE | MODE_ERROR,
                                   MODE_TERMINATED, __func__);
}

fmi2Status fmi2Reset(fmi2Component component) { return (fmi2Status)reset(component, __func__); }

fmi2Status fmi2GetFMUstate(fmi2Component component, fmi2FMUstate* saved) {
    return (fmi2Status)save_state(component, saved, __func__);
}

fmi2Status fmi2SetFMUstate(fmi2Component component, fmi2FMUstate saved) {
    return (fmi2Status)restore_state(component, saved, __func__);
}

fmi2Status fmi2FreeFMUstate(fmi2Component component, fmi2FMUstate* saved) {
    return (fmi2Status)free_state(component, saved);
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component component, fmi2FMUstate saved, size_t* size) {
    (void)saved;
    return (fmi2Status)serialized_size(component, size);
}

fmi2Status fmi2SerializeFMUstate(fmi2Component component, fmi2FMUstate saved, fmi2Byte bytes[],
                                 size_t size) {
    return (fmi2Status)serialize(component, saved, bytes, size, __func__);
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component component, const fmi2Byte bytes[], size_t size,
                                   fmi2FMUstate* saved) {
    return (fmi2Status)deserialize(component, bytes, size, saved, __func__);
}
