// FMI 3.0 for Co-Simulation over an exported system: its values.
#include "exported/fmi3_front.hpp"

using softdock::guarded;
using softdock::Status;
using softdock::SystemInstance;
using softdock::Variable;

namespace softdock {
namespace {

bool is_string3(const Variable& variable) { return variable.type == type_string; }
bool is_binary3(const Variable& variable) { return variable.type == type_binary; }

// The FMU has no variables of some types; nothing may be asked of none.
fmi3Status no_variables(fmi3Instance instance, std::size_t count, const char* function) {
    return count == 0 && instance ? fmi3OK : as3(guarded(instance, [&](SystemInstance& system) {
        return system.fail(std::string(function) + ": the FMU has no variables of this type");
    }));
}

// Value reference 0 is the time.
Status get_reals(SystemInstance& system, const fmi3ValueReference* references, std::size_t count,
                 double* values, std::size_t room) {
    for (std::size_t i = 0; i < count; ++i) {
        if (references[i] == 0) {
            if (room < 1) return system.fail("fmi3GetFloat64: no room for the time");
            *values++ = system.time();
            --room;
            continue;
        }
        const auto* variable = wanted(system, references[i], room, is_real, "fmi3GetFloat64");
        if (!variable) return Status::error;
        const auto status = get_values(system, references + i, 1, values, variable->size, is_real,
                                       "fmi3GetFloat64");
        if (failed(status)) return status;
        values += variable->size;
        room -= variable->size;
    }
    return Status::ok;
}

}  // namespace
}  // namespace softdock

using softdock::as3;
using softdock::no_variables;

fmi3Status fmi3GetFloat64(fmi3Instance instance, const fmi3ValueReference references[],
                          size_t count, fmi3Float64 values[], size_t room) {
    return as3(guarded(instance, [&](SystemInstance& system) {
        return softdock::get_reals(system, references, count, values, room);
    }));
}

fmi3Status fmi3SetFloat64(fmi3Instance instance, const fmi3ValueReference references[],
                          size_t count, const fmi3Float64 values[], size_t room) {
    return as3(guarded(instance, [&](SystemInstance& system) {
        return softdock::set_values(system, references, count, values, room, softdock::is_real,
                                    __func__);
    }));
}

#define ACCESS3(Type, kind)                                                                      \
    fmi3Status fmi3Get##Type(fmi3Instance instance, const fmi3ValueReference references[],       \
                             size_t count, fmi3##Type values[], size_t room) {                   \
        return as3(guarded(instance, [&](SystemInstance& system) {                               \
            return softdock::get_values(system, references, count, values, room, softdock::kind, \
                                        __func__);                                               \
        }));                                                                                     \
    }                                                                                            \
    fmi3Status fmi3Set##Type(fmi3Instance instance, const fmi3ValueReference references[],       \
                             size_t count, const fmi3##Type values[], size_t room) {             \
        return as3(guarded(instance, [&](SystemInstance& system) {                               \
            return softdock::set_values(system, references, count, values, room, softdock::kind, \
                                        __func__);                                               \
        }));                                                                                     \
    }
ACCESS3(Int64, is_whole)
ACCESS3(Boolean, is_boolean)

#define NO_VARIABLES(Type)                                                                    \
    fmi3Status fmi3Get##Type(fmi3Instance instance, const fmi3ValueReference[], size_t count, \
                             fmi3##Type[], size_t) {                                          \
        return no_variables(instance, count, __func__);                                       \
    }                                                                                         \
    fmi3Status fmi3Set##Type(fmi3Instance instance, const fmi3ValueReference[], size_t count, \
                             const fmi3##Type[], size_t) {                                    \
        return no_variables(instance, count, __func__);                                       \
    }
NO_VARIABLES(Float32)
NO_VARIABLES(Int8)
NO_VARIABLES(UInt8)
NO_VARIABLES(Int16)
NO_VARIABLES(UInt16)
NO_VARIABLES(Int32)
NO_VARIABLES(UInt32)
NO_VARIABLES(UInt64)

fmi3Status fmi3GetString(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                         fmi3String values[], size_t room) {
    return as3(guarded(instance, [&](SystemInstance& system) {
        for (std::size_t i = 0; i < count; ++i) {
            const auto* variable = softdock::wanted(system, references[i], room,
                                                    softdock::is_string3, "fmi3GetString");
            if (!variable || !system.readable(*variable)) return Status::error;
            const auto* from = system.texts(references[i]);
            for (std::size_t k = 0; k < variable->size; ++k) *values++ = from[k].c_str();
            room -= variable->size;
        }
        return Status::ok;
    }));
}

fmi3Status fmi3SetString(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                         const fmi3String values[], size_t room) {
    return as3(guarded(instance, [&](SystemInstance& system) {
        for (std::size_t i = 0; i < count; ++i) {
            const auto* variable = softdock::wanted(system, references[i], room,
                                                    softdock::is_string3, "fmi3SetString");
            if (!variable) return Status::error;
            const std::vector<std::string> texts(values, values + variable->size);
            const auto status = system.set_texts(references[i], texts.data());
            if (softdock::failed(status)) return status;
            values += variable->size;
            room -= variable->size;
        }
        return Status::ok;
    }));
}

fmi3Status fmi3GetBinary(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                         size_t sizes[], fmi3Binary values[], size_t room) {
    return as3(guarded(instance, [&](SystemInstance& system) {
        for (std::size_t i = 0; i < count; ++i) {
            const auto* variable = softdock::wanted(system, references[i], room,
                                                    softdock::is_binary3, "fmi3GetBinary");
            if (!variable || !system.readable(*variable)) return Status::error;
            const auto* from = system.texts(references[i]);
            for (std::size_t k = 0; k < variable->size; ++k) {
                *sizes++ = from[k].size();
                *values++ = reinterpret_cast<fmi3Binary>(from[k].data());
            }
            room -= variable->size;
        }
        return Status::ok;
    }));
}

fmi3Status fmi3SetBinary(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
                         const size_t sizes[], const fmi3Binary values[], size_t room) {
    return as3(guarded(instance, [&](SystemInstance& system) {
        for (std::size_t i = 0; i < count; ++i) {
            const auto* variable = softdock::wanted(system, references[i], room,
                                                    softdock::is_binary3, "fmi3SetBinary");
            if (!variable) return Status::error;
            std::vector<std::string> texts;
            for (std::size_t k = 0; k < variable->size; ++k) {
                texts.emplace_back(reinterpret_cast<const char*>(*values++), *sizes++);
            }
            const auto status = system.set_texts(references[i], texts.data());
            if (softdock::failed(status)) return status;
            room -= variable->size;
        }
        return Status::ok;
    }));
}
