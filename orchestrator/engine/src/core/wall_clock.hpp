// What tells the time on the wall.
#pragma once

#include <chrono>
#include <cstdint>

namespace softdock {

// Of the computer's clock that does not go back, the same one as `time.monotonic_ns` of Python.
inline std::int64_t now_ns() {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class WallClock {
  public:
    virtual ~WallClock() = default;
    // Nanoseconds since a moment that stays the same; never less than before.
    virtual std::int64_t now_ns() = 0;
};

}  // namespace softdock
