// The process in which a unit runs, seen by whoever started it.
#pragma once

#include <string>

namespace softdock {

class RemoteProcess {
  public:
    // By its pidfd, which stays the caller's; he also reaps the process.
    explicit RemoteProcess(int handle = -1) : handle_(handle) {}

    bool running() const;
    void kill() const;
    // How it ended, in words; waits for its end.
    std::string end() const;

  private:
    int handle_;
};

}  // namespace softdock
