// The functions of FMI 3.0 that the engine calls (FMI 3.0.2, 2 to 4), by the standard's C header,
// which generated FMUs are made with too.
#pragma once

#include <cstddef>

extern "C" {
#include "runtime/fmi3.h"
}

namespace softdock::fmi3 {

// Getter and setter of one type of variable.
template <class Value>
struct Access {
    using Type = Value;
    fmi3Status (*get)(fmi3Instance, const fmi3ValueReference*, std::size_t, Value*, std::size_t);
    fmi3Status (*set)(fmi3Instance, const fmi3ValueReference*, std::size_t, const Value*,
                      std::size_t);
};

// The functions of one loaded library; the names are the standard's without their prefix.
struct Functions {
    decltype(&fmi3InstantiateCoSimulation) instantiate;
    decltype(&fmi3InstantiateModelExchange) instantiate_exchange;
    decltype(&fmi3FreeInstance) free_instance;
    decltype(&fmi3EnterInitializationMode) enter_initialization_mode;
    decltype(&fmi3ExitInitializationMode) exit_initialization_mode;
    decltype(&fmi3EnterConfigurationMode) enter_configuration_mode;
    decltype(&fmi3ExitConfigurationMode) exit_configuration_mode;
    decltype(&fmi3Terminate) terminate;
    decltype(&fmi3DoStep) do_step;

    Access<fmi3Float64> float64;
    Access<fmi3Float32> float32;
    Access<fmi3Int8> int8;
    Access<fmi3UInt8> uint8;
    Access<fmi3Int16> int16;
    Access<fmi3UInt16> uint16;
    Access<fmi3Int32> int32;
    Access<fmi3UInt32> uint32;
    Access<fmi3Int64> int64;
    Access<fmi3UInt64> uint64;
    Access<fmi3Boolean> boolean;
    Access<fmi3String> string;
    decltype(&fmi3GetBinary) get_binary;
    decltype(&fmi3SetBinary) set_binary;

    // Optional: null where the library does not export them.
    decltype(&fmi3GetDirectionalDerivative) get_derivative;
    decltype(&fmi3SetDebugLogging) set_debug_logging;
    decltype(&fmi3EnterEventMode) enter_event_mode;
    decltype(&fmi3EnterStepMode) enter_step_mode;
    decltype(&fmi3UpdateDiscreteStates) update_discrete;
    decltype(&fmi3GetClock) get_clock;
    decltype(&fmi3SetClock) set_clock;
    decltype(&fmi3GetIntervalDecimal) get_interval;
    decltype(&fmi3GetIntervalFraction) get_fraction;
    decltype(&fmi3GetShiftDecimal) get_shift;
};

// Those of Model Exchange.
struct ExchangeFunctions {
    decltype(&fmi3GetNumberOfContinuousStates) state_count;
    decltype(&fmi3GetNumberOfEventIndicators) indicator_count;
    decltype(&fmi3EnterEventMode) enter_event_mode;
    decltype(&fmi3UpdateDiscreteStates) update_discrete;
    decltype(&fmi3EnterContinuousTimeMode) enter_continuous_time_mode;
    decltype(&fmi3CompletedIntegratorStep) completed_integrator_step;
    decltype(&fmi3SetTime) set_time;
    decltype(&fmi3SetContinuousStates) set_states;
    decltype(&fmi3GetContinuousStates) get_states;
    decltype(&fmi3GetContinuousStateDerivatives) get_derivatives;
    decltype(&fmi3GetEventIndicators) get_indicators;
    decltype(&fmi3GetNominalsOfContinuousStates) get_nominals;
};

}  // namespace softdock::fmi3
