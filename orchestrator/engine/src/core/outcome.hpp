// How a step, or a run of steps, went.
#pragma once

#include <cstdint>

#include "core/failure.hpp"
#include "core/unit.hpp"

namespace softdock {

struct Outcome {
    std::int64_t steps = 0;      // whole communication steps that were done
    Status status = Status::ok;  // of what ended the run, else ok
    int unit = -1;               // index of the unit that ended it, or -1
    int loop = -1;               // index of the loop that did not converge, or -1
    std::int64_t early_ns = -1;  // where the step ends instead, as that unit returned early, or -1
    int read = -1;               // row of the reads that could not be read, or -1
    Failure failure;             // why
};

}  // namespace softdock
