// What the functions of FMI 3.0 of an exported system have in common.
#pragma once

#include "exported/front.hpp"

extern "C" {
#include "runtime/fmi3.h"
}

namespace softdock {

// The statuses of both versions are the same, but for that of a step that goes on.
inline fmi3Status as3(Status status) { return static_cast<fmi3Status>(status); }

}  // namespace softdock
