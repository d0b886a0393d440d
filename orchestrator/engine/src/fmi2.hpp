// The part of the FMI 2.0 Co-Simulation C interface that the engine calls (FMI 2.0.4, 2.1 and 4.2).
#pragma once

#include <cstddef>

namespace softdock::fmi2 {

using Component = void*;
using Environment = void*;
using ValueReference = unsigned int;
using Real = double;
using Integer = int;
using Boolean = int;
using String = const char*;

enum Type { model_exchange = 0, co_simulation = 1 };
enum StatusKind {
    do_step_status = 0,
    pending_status = 1,
    last_successful_time = 2,
    terminated = 3
};

using Logger = void (*)(Environment, String, int, String, String, ...);

struct Callbacks {
    Logger logger;
    void* (*allocate)(std::size_t, std::size_t);
    void (*release)(void*);
    void (*step_finished)(Environment, int);
    Environment environment;
};

// The functions of one loaded library; the names are the standard's without their prefix.
struct Functions {
    Component (*instantiate)(String, Type, String, String, const Callbacks*, Boolean, Boolean);
    void (*free_instance)(Component);
    int (*setup_experiment)(Component, Boolean, Real, Real, Boolean, Real);
    int (*enter_initialization_mode)(Component);
    int (*exit_initialization_mode)(Component);
    int (*terminate)(Component);
    int (*get_real)(Component, const ValueReference*, std::size_t, Real*);
    int (*get_integer)(Component, const ValueReference*, std::size_t, Integer*);
    int (*get_boolean)(Component, const ValueReference*, std::size_t, Boolean*);
    int (*get_string)(Component, const ValueReference*, std::size_t, String*);
    int (*set_real)(Component, const ValueReference*, std::size_t, const Real*);
    int (*set_integer)(Component, const ValueReference*, std::size_t, const Integer*);
    int (*set_boolean)(Component, const ValueReference*, std::size_t, const Boolean*);
    int (*set_string)(Component, const ValueReference*, std::size_t, const String*);
    int (*do_step)(Component, Real, Real, Boolean);
    int (*get_real_status)(Component, StatusKind, Real*);
    // Optional: null where the library does not export them.
    int (*set_slopes)(Component, const ValueReference*, std::size_t, const Integer*, const Real*);
    int (*get_derivative)(Component, const ValueReference*, std::size_t, const ValueReference*,
                          std::size_t, const Real*, Real*);
};

}  // namespace softdock::fmi2
