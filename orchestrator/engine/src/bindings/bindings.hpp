// The Python face of the engine, one file for each class.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace softdock {

void bind_unit(nanobind::module_& module);
void bind_fmu(nanobind::module_& module);
void bind_fmu1(nanobind::module_& module);
void bind_fmu2(nanobind::module_& module);
void bind_fmu3(nanobind::module_& module);
void bind_me_unit(nanobind::module_& module);
void bind_python_unit(nanobind::module_& module);
void bind_linear_unit(nanobind::module_& module);
void bind_device(nanobind::module_& module);
void bind_log_unit(nanobind::module_& module);
void bind_twin_unit(nanobind::module_& module);
void bind_relay(nanobind::module_& module);
void bind_remote_unit(nanobind::module_& module);
void bind_engine(nanobind::module_& module);
void bind_engine_state(nanobind::module_& module);
void bind_outcome(nanobind::module_& module);
void bind_pacing(nanobind::module_& module);
void bind_history(nanobind::module_& module);
void bind_rows(nanobind::module_& module);

// Text of an FMU is UTF-8 by the standard; what is not, or was cut, must not end a run.
inline nanobind::object text(const std::string& bytes) {
    return nanobind::steal(
        PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
}

}  // namespace softdock
