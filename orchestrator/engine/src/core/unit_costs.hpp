// What each unit computes within one communication step, all its calls together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/wall_clock.hpp"

namespace softdock {

class UnitCosts {
  public:
    static constexpr std::int64_t not_stepped = -1;

    UnitCosts(WallClock& clock, std::size_t units) : clock_(clock), taken_ns_(units, not_stepped) {}

    std::int64_t now_ns() { return clock_.now_ns(); }
    // Units that are stepped by several threads have places of their own.
    void add(std::int32_t unit, std::int64_t ns) {
        auto& taken = taken_ns_[static_cast<std::size_t>(unit)];
        taken = std::max<std::int64_t>(taken, 0) + ns;
    }
    // By unit, or `not_stepped`.
    const std::vector<std::int64_t>& taken_ns() const { return taken_ns_; }
    void clear() { std::fill(taken_ns_.begin(), taken_ns_.end(), not_stepped); }

  private:
    WallClock& clock_;
    std::vector<std::int64_t> taken_ns_;
};

}  // namespace softdock
