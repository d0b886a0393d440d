// The part of the FMI 3.0 C interface that the engine calls (FMI 3.0.2, 2 and 4).
#pragma once

#include <cstddef>
#include <cstdint>

namespace softdock::fmi3 {

using Instance = void*;
using Environment = void*;
using ValueReference = std::uint32_t;
using String = const char*;
using Binary = const std::uint8_t*;

enum IntervalQualifier { not_yet_known = 0, unchanged = 1, changed = 2 };

using Logger = void (*)(Environment, int, String, String);

// Getter and setter of one type of variable.
template <class Value>
struct Access {
    using Type = Value;
    int (*get)(Instance, const ValueReference*, std::size_t, Value*, std::size_t);
    int (*set)(Instance, const ValueReference*, std::size_t, const Value*, std::size_t);
};

// The functions of one loaded library; the names are the standard's without their prefix.
struct Functions {
    Instance (*instantiate)(String, String, String, bool, bool, bool, bool, const ValueReference*,
                            std::size_t, Environment, Logger, void*);
    Instance (*instantiate_exchange)(String, String, String, bool, bool, Environment, Logger);
    void (*free_instance)(Instance);
    int (*enter_initialization_mode)(Instance, bool, double, double, bool, double);
    int (*exit_initialization_mode)(Instance);
    int (*enter_configuration_mode)(Instance);
    int (*exit_configuration_mode)(Instance);
    int (*terminate)(Instance);
    int (*do_step)(Instance, double, double, bool, bool*, bool*, bool*, double*);

    Access<double> float64;
    Access<float> float32;
    Access<std::int8_t> int8;
    Access<std::uint8_t> uint8;
    Access<std::int16_t> int16;
    Access<std::uint16_t> uint16;
    Access<std::int32_t> int32;
    Access<std::uint32_t> uint32;
    Access<std::int64_t> int64;
    Access<std::uint64_t> uint64;
    Access<bool> boolean;
    Access<String> string;
    int (*get_binary)(Instance, const ValueReference*, std::size_t, std::size_t*, Binary*,
                      std::size_t);
    int (*set_binary)(Instance, const ValueReference*, std::size_t, const std::size_t*,
                      const Binary*, std::size_t);

    // Optional: null where the library does not export them.
    int (*get_derivative)(Instance, const ValueReference*, std::size_t, const ValueReference*,
                          std::size_t, const double*, std::size_t, double*, std::size_t);
    int (*enter_event_mode)(Instance);
    int (*enter_step_mode)(Instance);
    int (*update_discrete)(Instance, bool*, bool*, bool*, bool*, bool*, double*);
    int (*get_clock)(Instance, const ValueReference*, std::size_t, bool*);
    int (*set_clock)(Instance, const ValueReference*, std::size_t, const bool*);
    int (*get_interval)(Instance, const ValueReference*, std::size_t, double*, int*);
    int (*get_fraction)(Instance, const ValueReference*, std::size_t, std::uint64_t*,
                        std::uint64_t*, int*);
    int (*get_shift)(Instance, const ValueReference*, std::size_t, double*);
};

}  // namespace softdock::fmi3
