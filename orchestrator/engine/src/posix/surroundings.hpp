// What all units of a process share, and what a call of one may leave changed for the others.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace softdock {

class Surroundings {
  public:
    // As they are now, in this thread. All but the floating-point mode belongs to the whole
    // process, where other threads may have runs of their own, or to its main thread: it is handled
    // in the main thread only.
    Surroundings();
    ~Surroundings();
    // Puts back what differs from then; says in words what that was.
    std::vector<std::string> put_back() const;

  private:
    struct State;
    std::unique_ptr<const State> state_;
};

}  // namespace softdock
