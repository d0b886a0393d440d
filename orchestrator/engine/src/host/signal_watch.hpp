// Sees SIGINT and SIGTERM come while no interpreter runs that could. Whoever handled them before
// handles them as before; signals that nobody handles are left alone.
#pragma once

namespace softdock {

class SignalWatch {
  public:
    SignalWatch();
    ~SignalWatch();
    SignalWatch(const SignalWatch&) = delete;
    SignalWatch& operator=(const SignalWatch&) = delete;

    // Whether one came since this watch was made.
    bool caught() const;

  private:
    unsigned before_;
};

}  // namespace softdock
