// A counter in shared memory that whoever hears a device increments at each of its ticks, from
// this process or another, and that a clock waits for.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "isolation/shared_block.hpp"

namespace softdock {

class TickCounter {
  public:
    // Ticks whose moments are kept.
    static constexpr std::uint32_t kept = 16;

    static constexpr std::size_t size() { return sizeof(Shared); }
    // Maps a file of size() bytes, zero at first; throws if it is smaller or cannot be mapped.
    explicit TickCounter(int file) : memory_(file, size()) {}

    // One tick, which arrived at a moment of now_ns(); wakes who waits. One writer, one who waits.
    void tick(std::int64_t arrived_ns) {
        auto& shared = this->shared();
        const auto next = shared.count.load(std::memory_order_relaxed) + 1;
        shared.arrived_ns[next % kept].store(arrived_ns, std::memory_order_relaxed);
        announce(shared.count, next, shared.sleeps);
    }
    // Ticks so far, modulo 2^32.
    std::uint32_t count() const { return shared().count.load(std::memory_order_acquire); }
    // When a tick arrived; it must be one of the last `kept` / 2.
    std::int64_t arrived_ns(std::uint32_t tick) const {
        return shared().arrived_ns[tick % kept].load(std::memory_order_relaxed);
    }
    // Returns when there are other ticks than `count`, at a signal, or after so long.
    void wait(std::uint32_t count, std::int64_t longest_ns) const {
        await_change(shared().count, count, shared().sleeps, std::max<std::int64_t>(longest_ns, 1));
    }

  private:
    struct Shared {
        std::atomic<std::uint32_t> count, sleeps;
        std::atomic<std::int64_t> arrived_ns[kept];
    };
    Shared& shared() const { return *static_cast<Shared*>(memory_.begin()); }

    SharedMemory memory_;
};

}  // namespace softdock
