// What all units of a process share, and what a call of one may leave changed for the others.
#pragma once

#include <signal.h>

#include <array>
#include <string>
#include <vector>

#include "core/float_mode.hpp"

namespace softdock {

class Surroundings {
  public:
    // As they are now, in this thread. Folder, locale and signals belong to the whole process,
    // where other threads may have runs of their own: they are handled in the main thread only.
    Surroundings();
    // Puts back what differs from then; says in words what that was.
    std::vector<std::string> put_back() const;

  private:
    // By which a run is ended, or processes and pipes are waited for. Others, such as SIGSEGV, are
    // left to the unit: a Java machine needs them.
    static constexpr std::array<int, 5> signals{SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGPIPE};

    FloatMode mode_;
    bool whole_;  // taken in the main thread
    std::string folder_, locale_;
    std::array<struct sigaction, signals.size()> actions_;
};

}  // namespace softdock
