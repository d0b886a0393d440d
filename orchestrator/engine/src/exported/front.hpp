// What the two C interfaces of an exported system have in common.
#pragma once

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "exported/instance.hpp"

namespace softdock {

// FMI reads a single # in a message as the begin of a variable's name, and wants UTF-8: what is
// none becomes a question mark.
std::string escaped(const std::string& text);

// The folder that a file URI of FMI 2.0 names; a path stays as it is.
std::string folder_of_uri(std::string uri);

// No exception leaves the library.
template <class Function>
Status guarded(void* instance, Function function) {
    if (!instance) return Status::error;
    auto& system = *static_cast<SystemInstance*>(instance);
    try {
        return function(system);
    } catch (const std::exception& error) {
        return system.fail(std::string("unexpected: ") + error.what());
    } catch (...) {
        return Status::error;
    }
}

inline bool is_whole(const Variable& variable) {
    const auto type = static_cast<Type3>(variable.type);
    return variable.type < type_string && type != Type3::float64 && type != Type3::float32 &&
           type != Type3::boolean;
}

inline bool is_real(const Variable& variable) {
    return variable.type == static_cast<std::uint8_t>(Type3::float64);
}

inline bool is_boolean(const Variable& variable) {
    return variable.type == static_cast<std::uint8_t>(Type3::boolean);
}

// The variable of a reference, of the wanted kind and with room for its elements; else null.
template <class Kind>
const Variable* wanted(SystemInstance& system, std::uint32_t reference, std::size_t room, Kind kind,
                       const char* function) {
    const auto* variable = system.find(reference, function);
    if (!variable) return nullptr;
    if (!kind(*variable)) {
        system.fail(std::string(function) + ": '" + variable->name + "' has another type");
        return nullptr;
    }
    if (variable->size > room) {
        system.fail(std::string(function) + ": '" + variable->name + "' has " +
                    std::to_string(variable->size) + " elements, room is for " +
                    std::to_string(room));
        return nullptr;
    }
    return variable;
}

// Reads numbers of one C type; `room` counts the values of all references.
template <class Value, class Kind>
Status get_values(SystemInstance& system, const std::uint32_t* references, std::size_t count,
                  Value* values, std::size_t room, Kind kind, const char* function) {
    for (std::size_t i = 0; i < count; ++i) {
        const auto* variable = wanted(system, references[i], room, kind, function);
        if (!variable || !system.readable(*variable)) return Status::error;
        const double* from = system.numbers(references[i]);
        for (std::size_t k = 0; k < variable->size; ++k) {
            values[k] = static_cast<Value>(from[k]);
            if (static_cast<double>(values[k]) != from[k] && !std::isnan(from[k])) {
                return system.fail(std::string(function) + ": '" + variable->name +
                                   "': " + number(from[k]) + " does not fit the type");
            }
        }
        values += variable->size;
        room -= variable->size;
    }
    return room == 0 ? Status::ok
                     : system.fail(std::string(function) + ": room is for " + std::to_string(room) +
                                   " more values than the variables have");
}

template <class Value, class Kind>
Status set_values(SystemInstance& system, const std::uint32_t* references, std::size_t count,
                  const Value* values, std::size_t room, Kind kind, const char* function) {
    for (std::size_t i = 0; i < count; ++i) {
        const auto* variable = wanted(system, references[i], room, kind, function);
        if (!variable) return Status::error;
        double* numbers = system.room();
        std::copy_n(values, variable->size, numbers);
        for (std::size_t k = 0; k < variable->size; ++k) {
            const bool exact = std::fabs(numbers[k]) <= 9007199254740992.0;  // 2**53
            if (!exact && is_whole(*variable)) {
                return system.fail(std::string(function) + ": '" + variable->name +
                                   "': " + number(numbers[k]) +
                                   ": whole numbers up to 2**53 travel as doubles");
            }
        }
        const auto status = system.set_numbers(references[i], numbers);
        if (failed(status)) return status;
        values += variable->size;
        room -= variable->size;
    }
    return Status::ok;
}

}  // namespace softdock
