// The part of the FMI 1.0 Co-Simulation C interface that the engine calls (FMI for Co-Simulation
// 1.0, 3 and 4). All functions have the model identifier as a prefix in the library.
#pragma once

#include <cstddef>

namespace softdock::fmi1 {

using Component = void*;
using ValueReference = unsigned int;
using Real = double;
using Integer = int;
using Boolean = char;
using String = const char*;

enum StatusKind { do_step_status = 0, pending_status = 1, last_successful_time = 2 };

using Logger = void (*)(Component, String, int, String, String, ...);

struct Callbacks {
    Logger logger;
    void* (*allocate)(std::size_t, std::size_t);
    void (*release)(void*);
    void (*step_finished)(Component, int);
};

// The functions of one loaded library; the names are the standard's without their prefix.
struct Functions {
    static constexpr const char* integer_type = "an Integer of 32 bits";

    Component (*instantiate)(String, String, String, String, Real, Boolean, Boolean, Callbacks,
                             Boolean);
    int (*initialise)(Component, Real, Boolean, Real);
    int (*terminate)(Component);
    void (*free_instance)(Component);
    int (*get_real)(Component, const ValueReference*, std::size_t, Real*);
    int (*get_integer)(Component, const ValueReference*, std::size_t, Integer*);
    int (*get_boolean)(Component, const ValueReference*, std::size_t, Boolean*);
    int (*get_string)(Component, const ValueReference*, std::size_t, String*);
    int (*set_real)(Component, const ValueReference*, std::size_t, const Real*);
    int (*set_integer)(Component, const ValueReference*, std::size_t, const Integer*);
    int (*set_boolean)(Component, const ValueReference*, std::size_t, const Boolean*);
    int (*set_string)(Component, const ValueReference*, std::size_t, const String*);
    int (*do_step)(Component, Real, Real, Boolean);
    // Optional: null where the library does not export them.
    int (*get_real_status)(Component, StatusKind, Real*);
    int (*set_slopes)(Component, const ValueReference*, std::size_t, const Integer*, const Real*);
};

}  // namespace softdock::fmi1
