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
    // in the main thread only. `alone`: whether the program has no other thread.
    explicit Surroundings(bool alone = true);
    ~Surroundings();

    // What differs from then, in words. What all threads share is left where another one ran in
    // between: nobody knows which of them changed it, and it may have been meant.
    struct Changes {
        std::vector<std::string> put_back, left;
    };
    Changes put_back(bool alone = true) const;

  private:
    struct State;
    std::unique_ptr<const State> state_;
};

}  // namespace softdock
