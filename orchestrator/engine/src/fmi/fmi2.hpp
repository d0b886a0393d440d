// The functions of FMI 2.0 that the engine calls (FMI 2.0.4, 2.1, 3.2 and 4.2), by the standard's C
// header, which generated FMUs are made with too.
#pragma once

#include <cstddef>

extern "C" {
#include "runtime/fmi2.h"
}

namespace softdock::fmi2 {

// The functions of one loaded library; the names are the standard's without their prefix.
struct Functions {
    static constexpr const char* integer_type = "the 32 bits of FMI 2.0";

    decltype(&fmi2Instantiate) instantiate;
    decltype(&fmi2FreeInstance) free_instance;
    decltype(&fmi2SetupExperiment) setup_experiment;
    decltype(&fmi2EnterInitializationMode) enter_initialization_mode;
    decltype(&fmi2ExitInitializationMode) exit_initialization_mode;
    decltype(&fmi2Terminate) terminate;
    decltype(&fmi2GetReal) get_real;
    decltype(&fmi2GetInteger) get_integer;
    decltype(&fmi2GetBoolean) get_boolean;
    decltype(&fmi2GetString) get_string;
    decltype(&fmi2SetReal) set_real;
    decltype(&fmi2SetInteger) set_integer;
    decltype(&fmi2SetBoolean) set_boolean;
    decltype(&fmi2SetString) set_string;
    decltype(&fmi2DoStep) do_step;
    decltype(&fmi2GetRealStatus) get_real_status;
    decltype(&fmi2GetBooleanStatus) get_boolean_status;
    // Optional: null where the library does not export them.
    decltype(&fmi2SetRealInputDerivatives) set_slopes;
    decltype(&fmi2GetDirectionalDerivative) get_derivative;
    decltype(&fmi2SetDebugLogging) set_debug_logging;
};

// Those of Model Exchange.
struct ExchangeFunctions {
    decltype(&fmi2EnterEventMode) enter_event_mode;
    decltype(&fmi2NewDiscreteStates) new_discrete_states;
    decltype(&fmi2EnterContinuousTimeMode) enter_continuous_time_mode;
    decltype(&fmi2CompletedIntegratorStep) completed_integrator_step;
    decltype(&fmi2SetTime) set_time;
    decltype(&fmi2SetContinuousStates) set_states;
    decltype(&fmi2GetDerivatives) get_derivatives;
    decltype(&fmi2GetEventIndicators) get_indicators;
    decltype(&fmi2GetContinuousStates) get_states;
    decltype(&fmi2GetNominalsOfContinuousStates) get_nominals;
};

}  // namespace softdock::fmi2
