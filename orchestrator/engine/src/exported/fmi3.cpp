// FMI 3.0 for Co-Simulation over an exported system.
#include <algorithm>

#include "exported/fmi3_front.hpp"

using softdock::guarded;
using softdock::Status;
using softdock::SystemInstance;

namespace softdock {
namespace {

SystemInstance::Log logger3(fmi3LogMessageCallback logger, fmi3InstanceEnvironment environment) {
    return [logger, environment](Status status, const char* category, const std::string& text) {
        if (logger) logger(environment, as3(status), category, escaped(text).c_str());
    };
}

fmi3Status unsupported3(fmi3Instance instance, const char* function) {
    return as3(guarded(instance, [&](SystemInstance& system) {
        return system.fail(std::string(function) + ": this FMU does not provide it");
    }));
}

}  // namespace
}  // namespace softdock

using softdock::as3;
using softdock::unsupported3;

const char* fmi3GetVersion(void) { return "3.0"; }

fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources,
                                         fmi3Boolean, fmi3Boolean logging_on,
                                         fmi3Boolean event_mode_used, fmi3Boolean,
                                         const fmi3ValueReference[], size_t required_count,
                                         fmi3InstanceEnvironment environment,
                                         fmi3LogMessageCallback logger,
                                         fmi3IntermediateUpdateCallback) {
    const auto log = softdock::logger3(logger, environment);
    if (!name || !token) return nullptr;
    try {
        if (!resources) throw std::runtime_error("no path to the resources was given");
        if (event_mode_used) throw std::runtime_error("this FMU has no event mode");
        if (required_count) throw std::runtime_error("this FMU has no intermediate update");
        return new SystemInstance(name, softdock::folder_of_uri(resources), token, logging_on, log);
    } catch (const std::exception& error) {
        log(Status::error, "logStatusError", error.what());
        return nullptr;
    }
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String, fmi3String, fmi3String, fmi3Boolean,
                                          fmi3Boolean, fmi3InstanceEnvironment environment,
                                          fmi3LogMessageCallback logger) {
    softdock::logger3(logger, environment)(Status::error, "logStatusError",
                                           "this FMU has no Model Exchange");
    return nullptr;
}

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String, fmi3String, fmi3String, fmi3Boolean,
                                               fmi3Boolean, fmi3InstanceEnvironment environment,
                                               fmi3LogMessageCallback logger,
                                               fmi3ClockUpdateCallback, fmi3LockPreemptionCallback,
                                               fmi3UnlockPreemptionCallback) {
    softdock::logger3(logger, environment)(Status::error, "logStatusError",
                                           "this FMU has no Scheduled Execution");
    return nullptr;
}

void fmi3FreeInstance(fmi3Instance instance) { delete static_cast<SystemInstance*>(instance); }

fmi3Status fmi3SetDebugLogging(fmi3Instance instance, fmi3Boolean on, size_t count,
                               const fmi3String categories[]) {
    return as3(guarded(instance, [&](SystemInstance& system) {
        return system.set_logging(on, count, categories);
    }));
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean, fmi3Float64,
                                       fmi3Float64 start, fmi3Boolean has_stop, fmi3Float64 stop) {
    return as3(guarded(instance, [&](SystemInstance& system) {
        const auto status = system.set_experiment(start, has_stop, stop);
        return softdock::failed(status) ? status : system.enter_initialization();
    }));
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance instance) {
    return as3(
        guarded(instance, [](SystemInstance& system) { return system.exit_initialization(); }));
}

fmi3Status fmi3Terminate(fmi3Instance instance) {
    return as3(guarded(instance, [](SystemInstance& system) { return system.terminate(); }));
}

fmi3Status fmi3Reset(fmi3Instance instance) {
    return as3(guarded(instance, [](SystemInstance& system) { return system.reset(); }));
}

fmi3Status fmi3GetFMUState(fmi3Instance instance, fmi3FMUState* state) {
    return as3(guarded(instance, [&](SystemInstance& system) {
        return system.save(reinterpret_cast<softdock::SystemState**>(state));
    }));
}

fmi3Status fmi3SetFMUState(fmi3Instance instance, fmi3FMUState state) {
    return as3(guarded(instance, [&](SystemInstance& system) {
        return system.restore(static_cast<softdock::SystemState*>(state));
    }));
}

fmi3Status fmi3FreeFMUState(fmi3Instance instance, fmi3FMUState* state) {
    return as3(guarded(instance, [&](SystemInstance& system) {
        return system.release(reinterpret_cast<softdock::SystemState**>(state));
    }));
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance instance, fmi3FMUState state, size_t* size) {
    return as3(guarded(instance, [&](SystemInstance& system) {
        std::string bytes;
        const auto status = system.serialize(static_cast<softdock::SystemState*>(state), bytes);
        *size = bytes.size();
        return status;
    }));
}

fmi3Status fmi3SerializeFMUState(fmi3Instance instance, fmi3FMUState state, fmi3Byte to[],
                                 size_t size) {
    return as3(guarded(instance, [&](SystemInstance& system) {
        return system.serialize_into(static_cast<softdock::SystemState*>(state),
                                     reinterpret_cast<char*>(to), size);
    }));
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance instance, const fmi3Byte from[], size_t size,
                                   fmi3FMUState* state) {
    return as3(guarded(instance, [&](SystemInstance& system) {
        return system.deserialize(reinterpret_cast<const char*>(from), size,
                                  reinterpret_cast<softdock::SystemState**>(state));
    }));
}

fmi3Status fmi3DoStep(fmi3Instance instance, fmi3Float64 time, fmi3Float64 step, fmi3Boolean,
                      fmi3Boolean* event_handling_needed, fmi3Boolean* terminate_simulation,
                      fmi3Boolean* early_return, fmi3Float64* last_successful_time) {
    return as3(guarded(instance, [&](SystemInstance& system) {
        const auto status = system.step(time, step);
        if (event_handling_needed) *event_handling_needed = false;
        if (terminate_simulation) *terminate_simulation = system.wants_end();
        if (early_return) *early_return = false;
        if (last_successful_time) *last_successful_time = system.time();
        return status;
    }));
}

#define UNSUPPORTED(Name, ...)                                  \
    fmi3Status fmi3##Name(fmi3Instance instance, __VA_ARGS__) { \
        return unsupported3(instance, __func__);                \
    }
#define UNSUPPORTED0(Name) \
    fmi3Status fmi3##Name(fmi3Instance instance) { return unsupported3(instance, __func__); }
using References3 = const fmi3ValueReference[];
UNSUPPORTED0(EnterEventMode)
UNSUPPORTED0(EnterStepMode)
UNSUPPORTED0(EnterConfigurationMode)
UNSUPPORTED0(ExitConfigurationMode)
UNSUPPORTED0(EvaluateDiscreteStates)
UNSUPPORTED0(EnterContinuousTimeMode)
UNSUPPORTED(GetClock, References3, size_t, fmi3Clock[])
UNSUPPORTED(SetClock, References3, size_t, const fmi3Clock[])
UNSUPPORTED(GetNumberOfVariableDependencies, fmi3ValueReference, size_t*)
UNSUPPORTED(GetVariableDependencies, fmi3ValueReference, size_t[], fmi3ValueReference[], size_t[],
            fmi3DependencyKind[], size_t)
UNSUPPORTED(GetDirectionalDerivative, References3, size_t, References3, size_t, const fmi3Float64[],
            size_t, fmi3Float64[], size_t)
UNSUPPORTED(GetAdjointDerivative, References3, size_t, References3, size_t, const fmi3Float64[],
            size_t, fmi3Float64[], size_t)
UNSUPPORTED(GetIntervalDecimal, References3, size_t, fmi3Float64[], fmi3IntervalQualifier[])
UNSUPPORTED(GetIntervalFraction, References3, size_t, fmi3UInt64[], fmi3UInt64[],
            fmi3IntervalQualifier[])
UNSUPPORTED(GetShiftDecimal, References3, size_t, fmi3Float64[])
UNSUPPORTED(GetShiftFraction, References3, size_t, fmi3UInt64[], fmi3UInt64[])
UNSUPPORTED(SetIntervalDecimal, References3, size_t, const fmi3Float64[])
UNSUPPORTED(SetIntervalFraction, References3, size_t, const fmi3UInt64[], const fmi3UInt64[])
UNSUPPORTED(SetShiftDecimal, References3, size_t, const fmi3Float64[])
UNSUPPORTED(SetShiftFraction, References3, size_t, const fmi3UInt64[], const fmi3UInt64[])
UNSUPPORTED(ActivateModelPartition, fmi3ValueReference, fmi3Float64)
UNSUPPORTED(UpdateDiscreteStates, fmi3Boolean*, fmi3Boolean*, fmi3Boolean*, fmi3Boolean*,
            fmi3Boolean*, fmi3Float64*)
UNSUPPORTED(CompletedIntegratorStep, fmi3Boolean, fmi3Boolean*, fmi3Boolean*)
UNSUPPORTED(SetTime, fmi3Float64)
UNSUPPORTED(SetContinuousStates, const fmi3Float64[], size_t)
UNSUPPORTED(GetContinuousStateDerivatives, fmi3Float64[], size_t)
UNSUPPORTED(GetEventIndicators, fmi3Float64[], size_t)
UNSUPPORTED(GetContinuousStates, fmi3Float64[], size_t)
UNSUPPORTED(GetNominalsOfContinuousStates, fmi3Float64[], size_t)
UNSUPPORTED(GetNumberOfEventIndicators, size_t*)
UNSUPPORTED(GetNumberOfContinuousStates, size_t*)
UNSUPPORTED(GetOutputDerivatives, References3, size_t, const fmi3Int32[], fmi3Float64[], size_t)
