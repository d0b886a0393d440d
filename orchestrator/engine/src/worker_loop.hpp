// The side of a worker process: executes a master's commands on the real unit.
#pragma once

#include "shared_block.hpp"
#include "unit.hpp"

namespace softdock {

// Serves commands until the next request is a message on the socket, which counts as taken.
void serve(Unit& unit, const SharedBlock& block);

// Ends this process as soon as the master closes its end of the socket, or is gone, whatever the
// unit is doing then. Throws if the watch cannot be set up.
void end_with_master(int socket, int master);

}  // namespace softdock
