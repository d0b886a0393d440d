// What the Python faces of all versions of FMUs share.
#pragma once

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "fmi/fmu.hpp"

namespace softdock {

// Throws what the FMU said if a call failed.
void require(Fmu& fmu, Status status);

nanobind::list get_strings(Fmu& fmu, const References& references, std::size_t count);
int set_strings(Fmu& fmu, const References& references, const std::vector<std::string>& values);

}  // namespace softdock
