// The side of a worker process: executes a master's commands on the real units.
#pragma once

#include <vector>

#include "core/unit.hpp"
#include "isolation/shared_block.hpp"

namespace softdock {

// A member of this process, by its number; or the place of one that is not there (yet).
struct Served {
    Unit* unit = nullptr;
    const SharedBlock* block = nullptr;
};

// Serves commands until the next request is a message on the socket, which counts as taken. In a
// process that may have several members each call leaves the floating-point mode as it was.
void serve(const ProcessBlock& process, const std::vector<Served>& members, bool shared);

}  // namespace softdock
