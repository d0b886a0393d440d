// FMI 2.0 for Co-Simulation over an exported system.
#include "exported/front.hpp"

extern "C" {
#include "runtime/fmi2.h"
}

using softdock::guarded;
using softdock::Status;
using softdock::SystemInstance;
using softdock::Variable;

namespace softdock {

namespace {

fmi2Status as2(Status status) { return static_cast<fmi2Status>(status); }

SystemInstance::Log logger2(const fmi2CallbackFunctions* callbacks, const std::string& name) {
    const auto logger = callbacks ? callbacks->logger : nullptr;
    auto* environment = callbacks ? callbacks->componentEnvironment : nullptr;
    return
        [logger, environment, name](Status status, const char* category, const std::string& text) {
            if (!logger) return;
            logger(environment, name.c_str(), as2(status), category, "%s", escaped(text).c_str());
        };
}

bool is_string(const Variable& variable) { return variable.type == type_string; }

// For functions that the FMU does not declare.
fmi2Status unsupported(fmi2Component component, const char* function) {
    return as2(guarded(component, [&](SystemInstance& system) {
        return system.fail(std::string(function) + ": this FMU does not provide it");
    }));
}

}  // namespace
}  // namespace softdock

using softdock::as2;
using softdock::unsupported;

const char* fmi2GetTypesPlatform(void) { return "default"; }
const char* fmi2GetVersion(void) { return "2.0"; }

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String location,
                              const fmi2CallbackFunctions* callbacks, fmi2Boolean,
                              fmi2Boolean logging_on) {
    if (!name || !guid || !location) return nullptr;
    const auto log = softdock::logger2(callbacks, name);
    try {
        if (type != fmi2CoSimulation) throw std::runtime_error("this FMU has no Model Exchange");
        return new SystemInstance(name, softdock::folder_of_uri(location), guid, logging_on, log);
    } catch (const std::exception& error) {
        log(Status::error, "logStatusError", error.what());
        return nullptr;
    }
}

void fmi2FreeInstance(fmi2Component component) { delete static_cast<SystemInstance*>(component); }

fmi2Status fmi2SetDebugLogging(fmi2Component component, fmi2Boolean on, size_t count,
                               const fmi2String categories[]) {
    return as2(guarded(component, [&](SystemInstance& system) {
        return system.set_logging(on, count, categories);
    }));
}

fmi2Status fmi2SetupExperiment(fmi2Component component, fmi2Boolean, fmi2Real, fmi2Real start,
                               fmi2Boolean has_stop, fmi2Real stop) {
    return as2(guarded(component, [&](SystemInstance& system) {
        return system.set_experiment(start, has_stop, stop);
    }));
}

fmi2Status fmi2EnterInitializationMode(fmi2Component component) {
    return as2(
        guarded(component, [](SystemInstance& system) { return system.enter_initialization(); }));
}

fmi2Status fmi2ExitInitializationMode(fmi2Component component) {
    return as2(
        guarded(component, [](SystemInstance& system) { return system.exit_initialization(); }));
}

fmi2Status fmi2Terminate(fmi2Component component) {
    return as2(guarded(component, [](SystemInstance& system) { return system.terminate(); }));
}

fmi2Status fmi2Reset(fmi2Component component) {
    return as2(guarded(component, [](SystemInstance& system) { return system.reset(); }));
}

#define ACCESS2(Type, kind)                                                                       \
    fmi2Status fmi2Get##Type(fmi2Component component, const fmi2ValueReference references[],      \
                             size_t count, fmi2##Type values[]) {                                 \
        return as2(guarded(component, [&](SystemInstance& system) {                               \
            return softdock::get_values(system, references, count, values, count, softdock::kind, \
                                        __func__);                                                \
        }));                                                                                      \
    }                                                                                             \
    fmi2Status fmi2Set##Type(fmi2Component component, const fmi2ValueReference references[],      \
                             size_t count, const fmi2##Type values[]) {                           \
        return as2(guarded(component, [&](SystemInstance& system) {                               \
            return softdock::set_values(system, references, count, values, count, softdock::kind, \
                                        __func__);                                                \
        }));                                                                                      \
    }
ACCESS2(Real, is_real)
ACCESS2(Integer, is_whole)
ACCESS2(Boolean, is_boolean)

fmi2Status fmi2GetString(fmi2Component component, const fmi2ValueReference references[],
                         size_t count, fmi2String values[]) {
    return as2(guarded(component, [&](SystemInstance& system) {
        for (std::size_t i = 0; i < count; ++i) {
            const auto* variable =
                softdock::wanted(system, references[i], 1, softdock::is_string, "fmi2GetString");
            if (!variable || !system.readable(*variable)) return Status::error;
            values[i] = system.texts(references[i])->c_str();
        }
        return Status::ok;
    }));
}

fmi2Status fmi2SetString(fmi2Component component, const fmi2ValueReference references[],
                         size_t count, const fmi2String values[]) {
    return as2(guarded(component, [&](SystemInstance& system) {
        for (std::size_t i = 0; i < count; ++i) {
            if (!softdock::wanted(system, references[i], 1, softdock::is_string, "fmi2SetString"))
                return Status::error;
            const std::string text = values[i] ? values[i] : "";
            const auto status = system.set_texts(references[i], &text);
            if (softdock::failed(status)) return status;
        }
        return Status::ok;
    }));
}

fmi2Status fmi2GetFMUstate(fmi2Component component, fmi2FMUstate* state) {
    return as2(guarded(component, [&](SystemInstance& system) {
        return system.save(reinterpret_cast<softdock::SystemState**>(state));
    }));
}

fmi2Status fmi2SetFMUstate(fmi2Component component, fmi2FMUstate state) {
    return as2(guarded(component, [&](SystemInstance& system) {
        return system.restore(static_cast<softdock::SystemState*>(state));
    }));
}

fmi2Status fmi2FreeFMUstate(fmi2Component component, fmi2FMUstate* state) {
    return as2(guarded(component, [&](SystemInstance& system) {
        return system.release(reinterpret_cast<softdock::SystemState**>(state));
    }));
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component component, fmi2FMUstate state, size_t* size) {
    return as2(guarded(component, [&](SystemInstance& system) {
        std::string bytes;
        const auto status = system.serialize(static_cast<softdock::SystemState*>(state), bytes);
        *size = bytes.size();
        return status;
    }));
}

fmi2Status fmi2SerializeFMUstate(fmi2Component component, fmi2FMUstate state, fmi2Byte to[],
                                 size_t size) {
    return as2(guarded(component, [&](SystemInstance& system) {
        return system.serialize_into(static_cast<softdock::SystemState*>(state), to, size);
    }));
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component component, const fmi2Byte from[], size_t size,
                                   fmi2FMUstate* state) {
    return as2(guarded(component, [&](SystemInstance& system) {
        return system.deserialize(from, size, reinterpret_cast<softdock::SystemState**>(state));
    }));
}

fmi2Status fmi2DoStep(fmi2Component component, fmi2Real time, fmi2Real step, fmi2Boolean) {
    return as2(guarded(component, [&](SystemInstance& system) {
        const auto status = system.step(time, step);
        const bool ended = status == Status::ok && system.wants_end();
        return ended ? Status::discard : status;
    }));
}

fmi2Status fmi2GetRealStatus(fmi2Component component, const fmi2StatusKind kind, fmi2Real* value) {
    if (kind != fmi2LastSuccessfulTime) return unsupported(component, __func__);
    return as2(guarded(component, [&](SystemInstance& system) {
        *value = system.time();
        return Status::ok;
    }));
}

fmi2Status fmi2GetBooleanStatus(fmi2Component component, const fmi2StatusKind kind,
                                fmi2Boolean* value) {
    if (kind != fmi2Terminated) return unsupported(component, __func__);
    return as2(guarded(component, [&](SystemInstance& system) {
        *value = system.wants_end();
        return Status::ok;
    }));
}

fmi2Status fmi2GetStatus(fmi2Component component, const fmi2StatusKind, fmi2Status*) {
    return unsupported(component, __func__);
}
fmi2Status fmi2GetIntegerStatus(fmi2Component component, const fmi2StatusKind, fmi2Integer*) {
    return unsupported(component, __func__);
}
fmi2Status fmi2GetStringStatus(fmi2Component component, const fmi2StatusKind, fmi2String*) {
    return unsupported(component, __func__);
}
fmi2Status fmi2CancelStep(fmi2Component component) { return unsupported(component, __func__); }
fmi2Status fmi2SetRealInputDerivatives(fmi2Component component, const fmi2ValueReference[], size_t,
                                       const fmi2Integer[], const fmi2Real[]) {
    return unsupported(component, __func__);
}
fmi2Status fmi2GetRealOutputDerivatives(fmi2Component component, const fmi2ValueReference[], size_t,
                                        const fmi2Integer[], fmi2Real[]) {
    return unsupported(component, __func__);
}
fmi2Status fmi2GetDirectionalDerivative(fmi2Component component, const fmi2ValueReference[], size_t,
                                        const fmi2ValueReference[], size_t, const fmi2Real[],
                                        fmi2Real[]) {
    return unsupported(component, __func__);
}
