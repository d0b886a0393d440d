// What all units of a process share, and what a call of one may leave changed for the others.
#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <array>
#include <string>
#include <vector>

#include "core/float_mode.hpp"

namespace softdock {

class Surroundings {
  public:
    // As they are now, in this thread. All but the floating-point mode belongs to the whole
    // process, where other threads may have runs of their own, or to its main thread: it is handled
    // in the main thread only.
    Surroundings();
    // Puts back what differs from then; says in words what that was.
    std::vector<std::string> put_back() const;

  private:
    // By which a run is ended, or processes and pipes are waited for. Others, such as SIGSEGV, are
    // left to the unit: a Java machine needs them.
    static constexpr std::array<int, 5> signals{SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGPIPE};

    static constexpr std::array<__rlimit_resource, 6> limits{
        RLIMIT_AS, RLIMIT_CORE, RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_STACK};
    // Standard input, output and error: which files they are.
    using Streams = std::array<struct stat, 3>;
    static Streams streams();

    void put_back_process(std::vector<std::string>& changed) const;
    void put_back_scheduling(std::vector<std::string>& changed) const;
    void put_back_streams(std::vector<std::string>& changed) const;
    void put_back_environment(std::vector<std::string>& changed) const;

    FloatMode mode_;
    bool whole_;  // taken in the main thread
    std::string folder_, locale_;
    std::array<struct sigaction, signals.size()> actions_;
    sigset_t blocked_;
    mode_t mask_ = 0;
    std::array<struct rlimit, limits.size()> limits_;
    int niceness_ = 0;
    cpu_set_t processors_;
    Streams streams_;
    std::vector<std::string> environment_;
};

}  // namespace softdock
