// The FMI functions that cross from a Linux process to the process of a Windows library, and the
// role of each of their arguments. The bridge (Linux) and the host (Windows) are made from this
// table, so neither of them names a function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "fmi/fmi1.hpp"
#include "fmi/fmi2.hpp"
#include "fmi/fmi3.hpp"

namespace softdock::windows_host {

// Roles, one for each argument:
//   v   a value: number, enumeration, instance or saved state
//   s   a text
//   =   one value that is handed over and handed back through a pointer
//   <K  an array that is handed over; argument K (0 to 9) is its length
//   >K  an array that is handed back; argument K is its length
//   {K  binaries that are handed over: the argument before has their sizes, argument K their number
//   }K  binaries that are handed back, with their sizes in the argument before
// The instantiating functions have callbacks and are written by hand: role `*`.
//
// A word after the roles says how a call may share a round trip with the step between them:
//   set   its values wait in the bridge until the next other call, whose status covers both
//   step  it is sent with the values that wait, and with the reading calls of the last step
//   run   from this call on, or from the first step, values wait
//   get   a reading call; if it was sent with the step, its answer is there already
#define SOFTDOCK_FMI1_CALLS(CALL)                        \
    CALL(fmi1, instantiate, fmiInstantiateSlave, "*")    \
    CALL(fmi1, initialise, fmiInitializeSlave, "vvvv")   \
    CALL(fmi1, terminate, fmiTerminateSlave, "v")        \
    CALL(fmi1, free_instance, fmiFreeSlaveInstance, "v") \
    CALL(fmi1, get_real, fmiGetReal, "v<2v>2 get")       \
    CALL(fmi1, get_integer, fmiGetInteger, "v<2v>2 get") \
    CALL(fmi1, get_boolean, fmiGetBoolean, "v<2v>2 get") \
    CALL(fmi1, get_string, fmiGetString, "v<2v>2 get")   \
    CALL(fmi1, set_real, fmiSetReal, "v<2v<2 set")       \
    CALL(fmi1, set_integer, fmiSetInteger, "v<2v<2 set") \
    CALL(fmi1, set_boolean, fmiSetBoolean, "v<2v<2 set") \
    CALL(fmi1, set_string, fmiSetString, "v<2v<2 set")   \
    CALL(fmi1, do_step, fmiDoStep, "vvvv step")          \
    CALL(fmi1, get_real_status, fmiGetRealStatus, "vv=") \
    CALL(fmi1, set_slopes, fmiSetRealInputDerivatives, "v<2v<2<2 set")

#define SOFTDOCK_FMI2_CALLS(CALL)                     \
    CALL(fmi2Instantiate, "*")                        \
    CALL(fmi2SetDebugLogging, "vvv<2")                \
    CALL(fmi2FreeInstance, "v")                       \
    CALL(fmi2SetupExperiment, "vvvvvv")               \
    CALL(fmi2EnterInitializationMode, "v")            \
    CALL(fmi2ExitInitializationMode, "v")             \
    CALL(fmi2Terminate, "v")                          \
    CALL(fmi2GetReal, "v<2v>2 get")                   \
    CALL(fmi2GetInteger, "v<2v>2 get")                \
    CALL(fmi2GetBoolean, "v<2v>2 get")                \
    CALL(fmi2GetString, "v<2v>2 get")                 \
    CALL(fmi2SetReal, "v<2v<2 set")                   \
    CALL(fmi2SetInteger, "v<2v<2 set")                \
    CALL(fmi2SetBoolean, "v<2v<2 set")                \
    CALL(fmi2SetString, "v<2v<2 set")                 \
    CALL(fmi2DoStep, "vvvv step")                     \
    CALL(fmi2GetRealStatus, "vv=")                    \
    CALL(fmi2GetBooleanStatus, "vv=")                 \
    CALL(fmi2SetRealInputDerivatives, "v<2v<2<2 set") \
    CALL(fmi2GetDirectionalDerivative, "v<2v<4v<4>2") \
    CALL(fmi2GetFMUstate, "v=")                       \
    CALL(fmi2SetFMUstate, "vv")                       \
    CALL(fmi2FreeFMUstate, "v=")                      \
    CALL(fmi2SerializedFMUstateSize, "vv=")           \
    CALL(fmi2SerializeFMUstate, "vv>3v")              \
    CALL(fmi2DeSerializeFMUstate, "v<2v=")            \
    CALL(fmi2EnterEventMode, "v")                     \
    CALL(fmi2NewDiscreteStates, "v=")                 \
    CALL(fmi2EnterContinuousTimeMode, "v run")        \
    CALL(fmi2CompletedIntegratorStep, "vv==")         \
    CALL(fmi2SetTime, "vv set")                       \
    CALL(fmi2SetContinuousStates, "v<2v set")         \
    CALL(fmi2GetDerivatives, "v>2v")                  \
    CALL(fmi2GetEventIndicators, "v>2v")              \
    CALL(fmi2GetContinuousStates, "v>2v")             \
    CALL(fmi2GetNominalsOfContinuousStates, "v>2v")

#define SOFTDOCK_FMI3_VALUES(CALL, TYPE) \
    CALL(fmi3Get##TYPE, "v<2v>4v get")   \
    CALL(fmi3Set##TYPE, "v<2v<4v set")

#define SOFTDOCK_FMI3_CALLS(CALL)                       \
    CALL(fmi3InstantiateCoSimulation, "*")              \
    CALL(fmi3InstantiateModelExchange, "*")             \
    CALL(fmi3SetDebugLogging, "vvv<2")                  \
    CALL(fmi3FreeInstance, "v")                         \
    CALL(fmi3EnterInitializationMode, "vvvvvv")         \
    CALL(fmi3ExitInitializationMode, "v")               \
    CALL(fmi3EnterConfigurationMode, "v")               \
    CALL(fmi3ExitConfigurationMode, "v")                \
    CALL(fmi3Terminate, "v")                            \
    CALL(fmi3DoStep, "vvvv==== step")                   \
    SOFTDOCK_FMI3_VALUES(CALL, Float64)                 \
    SOFTDOCK_FMI3_VALUES(CALL, Float32)                 \
    SOFTDOCK_FMI3_VALUES(CALL, Int8)                    \
    SOFTDOCK_FMI3_VALUES(CALL, UInt8)                   \
    SOFTDOCK_FMI3_VALUES(CALL, Int16)                   \
    SOFTDOCK_FMI3_VALUES(CALL, UInt16)                  \
    SOFTDOCK_FMI3_VALUES(CALL, Int32)                   \
    SOFTDOCK_FMI3_VALUES(CALL, UInt32)                  \
    SOFTDOCK_FMI3_VALUES(CALL, Int64)                   \
    SOFTDOCK_FMI3_VALUES(CALL, UInt64)                  \
    SOFTDOCK_FMI3_VALUES(CALL, Boolean)                 \
    SOFTDOCK_FMI3_VALUES(CALL, String)                  \
    CALL(fmi3GetBinary, "v<2v>5}5v get")                \
    CALL(fmi3SetBinary, "v<2v<5{5v set")                \
    CALL(fmi3GetDirectionalDerivative, "v<2v<4v<6v>8v") \
    CALL(fmi3GetFMUState, "v=")                         \
    CALL(fmi3SetFMUState, "vv")                         \
    CALL(fmi3FreeFMUState, "v=")                        \
    CALL(fmi3SerializedFMUStateSize, "vv=")             \
    CALL(fmi3SerializeFMUState, "vv>3v")                \
    CALL(fmi3DeserializeFMUState, "v<2v=")              \
    CALL(fmi3EnterEventMode, "v")                       \
    CALL(fmi3EnterStepMode, "v")                        \
    CALL(fmi3UpdateDiscreteStates, "v======")           \
    CALL(fmi3GetClock, "v<2v>2")                        \
    CALL(fmi3SetClock, "v<2v<2")                        \
    CALL(fmi3GetIntervalDecimal, "v<2v>2>2")            \
    CALL(fmi3GetIntervalFraction, "v<2v>2>2>2")         \
    CALL(fmi3GetShiftDecimal, "v<2v>2")                 \
    CALL(fmi3GetNumberOfContinuousStates, "v=")         \
    CALL(fmi3GetNumberOfEventIndicators, "v=")          \
    CALL(fmi3EnterContinuousTimeMode, "v run")          \
    CALL(fmi3CompletedIntegratorStep, "vv==")           \
    CALL(fmi3SetTime, "vv set")                         \
    CALL(fmi3SetContinuousStates, "v<2v set")           \
    CALL(fmi3GetContinuousStates, "v>2v")               \
    CALL(fmi3GetContinuousStateDerivatives, "v>2v")     \
    CALL(fmi3GetEventIndicators, "v>2v")                \
    CALL(fmi3GetNominalsOfContinuousStates, "v>2v")

// Numbers of the functions, the same on both sides.
enum class Call : std::uint32_t {
#define SOFTDOCK_ENUM1(VERSION, MEMBER, NAME, ROLES) NAME,
#define SOFTDOCK_ENUM(NAME, ROLES) NAME,
    SOFTDOCK_FMI1_CALLS(SOFTDOCK_ENUM1) SOFTDOCK_FMI2_CALLS(SOFTDOCK_ENUM)
        SOFTDOCK_FMI3_CALLS(SOFTDOCK_ENUM) count
#undef SOFTDOCK_ENUM1
#undef SOFTDOCK_ENUM
};
constexpr std::size_t call_count = static_cast<std::size_t>(Call::count);

// What else the frames between both processes hold.
enum Message : std::uint32_t {
    open_library = 1000,  // bridge to host: path and prefix; host to bridge: a flag for each call
    log_text = 1001,      // host to bridge: instance, status, category, text
    update = 1002,        // host to bridge: time and flags of intermediateUpdate; and its answer
    answer = 1003,        // host to bridge: what a call returned
};
// Added to the number of a call that is not answered, and of one that follows a step.
constexpr std::uint32_t waits = 1u << 30, follows = 1u << 31;
// Both sides are of the same wheel; this finds a host that was left from another one.
constexpr std::uint32_t protocol_version = 1;

// The type of a pointer to a function, and the roles of its arguments, by number.
template <Call call>
struct Signature;
#define SOFTDOCK_SIGNATURE1(VERSION, MEMBER, NAME, ROLES)  \
    template <>                                            \
    struct Signature<Call::NAME> {                         \
        using Type = decltype(VERSION::Functions::MEMBER); \
        static constexpr const char* name = #NAME;         \
        static constexpr const char* roles = ROLES;        \
    };
#define SOFTDOCK_SIGNATURE(NAME, ROLES)             \
    template <>                                     \
    struct Signature<Call::NAME> {                  \
        using Type = decltype(&::NAME);             \
        static constexpr const char* name = #NAME;  \
        static constexpr const char* roles = ROLES; \
    };
SOFTDOCK_FMI1_CALLS(SOFTDOCK_SIGNATURE1)
SOFTDOCK_FMI2_CALLS(SOFTDOCK_SIGNATURE)
SOFTDOCK_FMI3_CALLS(SOFTDOCK_SIGNATURE)
#undef SOFTDOCK_SIGNATURE1
#undef SOFTDOCK_SIGNATURE

struct Role {
    char kind = 'v';
    int length = 0;  // the argument that has the length of an array
};

// The role of one argument, as the table spells it.
constexpr Role role_of(const char* roles, int argument) {
    for (int i = 0;; ++i) {
        const char kind = *roles++;
        const bool is_array = kind == '<' || kind == '>' || kind == '{' || kind == '}';
        const int length = is_array ? *roles++ - '0' : 0;
        if (i == argument) return {kind, length};
    }
}

// Whether a call is marked in the table by a word.
constexpr bool is_marked(const char* roles, const char* word) {
    while (*roles && *roles != ' ') ++roles;
    if (!*roles) return false;
    for (++roles; *roles && *roles == *word; ++roles) ++word;
    return *roles == *word;
}

}  // namespace softdock::windows_host
