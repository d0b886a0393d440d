// What tells the time on the wall.
#pragma once

#include <cstdint>

namespace softdock {

class WallClock {
  public:
    virtual ~WallClock() = default;
    // Nanoseconds since a moment that stays the same; never less than before.
    virtual std::int64_t now_ns() = 0;
};

}  // namespace softdock
