// Processes of units, by handles that stay theirs after they ended (pidfd).
#pragma once

#include <string>

namespace softdock {

bool runs(int handle);
// Ends it at once; nothing if it has ended, or if the handle is none (-1).
void end_process(int handle);
// How it ended, in words; waits for its end.
std::string ending_of(int handle);

// Ends this process, a fork of another one, at once: nothing is cleaned up that is not its own.
[[noreturn]] void leave_fork();

// Ends all processes but this one that were started with a text, such as "NAME=value", in their
// environment: a worker and whatever its unit has started, in whatever group and session.
void end_marked(const std::string& mark);

// Ends this process, and those that the unit has started (see end_marked), as soon as the master
// closes its end of the socket, or is gone, whatever the unit is doing then. Throws if the watch
// cannot be set up.
void end_with_master(int socket, int master, const std::string& mark);

}  // namespace softdock
