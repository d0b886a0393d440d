#include "bindings/bindings.hpp"

NB_MODULE(_engine, module) {
    module.doc() = "Native core of Softdock: loads FMUs and executes compiled schedules.";
    softdock::bind_unit(module);
    softdock::bind_fmu(module);
    softdock::bind_fmu1(module);
    softdock::bind_fmu2(module);
    softdock::bind_fmu3(module);
    softdock::bind_me_unit(module);
    softdock::bind_python_unit(module);
    softdock::bind_linear_unit(module);
    softdock::bind_device(module);
    softdock::bind_log_unit(module);
    softdock::bind_twin_unit(module);
    softdock::bind_relay(module);
    softdock::bind_history(module);
    softdock::bind_rows(module);
    softdock::bind_remote_unit(module);
    softdock::bind_outcome(module);
    softdock::bind_engine_state(module);
    softdock::bind_pacing(module);
    softdock::bind_engine(module);
}
