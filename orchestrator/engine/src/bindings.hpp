// The Python face of the engine, one file for each class.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "channel.hpp"

namespace softdock {

// A row of the table of channels, in the order of the fields of Channel.
using ChannelRow =
    std::tuple<std::uint64_t, std::int64_t, double, std::vector<double>, std::int64_t,
               std::vector<std::int64_t>, std::vector<std::int64_t>, bool, bool, bool>;
std::shared_ptr<const Channel> make_channel(const ChannelRow& row);

void bind_unit(nanobind::module_& module);
void bind_fmu(nanobind::module_& module);
void bind_fmu1(nanobind::module_& module);
void bind_fmu2(nanobind::module_& module);
void bind_fmu3(nanobind::module_& module);
void bind_me_unit(nanobind::module_& module);
void bind_python_unit(nanobind::module_& module);
void bind_relay(nanobind::module_& module);
void bind_remote_unit(nanobind::module_& module);
void bind_engine(nanobind::module_& module);
void bind_engine_state(nanobind::module_& module);
void bind_history(nanobind::module_& module);

// Text of an FMU is UTF-8 by the standard; what is not, or was cut, must not end a run.
inline nanobind::object text(const std::string& bytes) {
    return nanobind::steal(
        PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
}

}  // namespace softdock
