// The ticks of a device, in the memory that its process shares with a run: that process counts each
// of them, and a clock waits for the next.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/wall_clock.hpp"
#include "host/shared_memory.hpp"

namespace softdock {

class TickCounter {
  public:
    // Ticks whose moments are kept.
    static constexpr std::uint32_t kept = 16;

    static constexpr std::size_t size() { return sizeof(Shared); }
    // In size() bytes of memory, which lives longer; zero at first.
    explicit TickCounter(void* memory) : shared_(static_cast<Shared*>(memory)) {}

    // One tick, which arrived at a moment of now_ns(); wakes who waits. One writer, one who waits.
    void tick(std::int64_t arrived_ns) {
        const auto next = shared_->count.load(std::memory_order_relaxed) + 1;
        shared_->arrived_ns[next % kept].store(arrived_ns, std::memory_order_relaxed);
        announce(shared_->count, next, shared_->sleeps);
    }
    // Ticks so far, modulo 2^32.
    std::uint32_t count() const { return shared_->count.load(std::memory_order_acquire); }
    // When a tick arrived; it must be one of the last `kept` / 2.
    std::int64_t arrived_ns(std::uint32_t tick) const {
        return shared_->arrived_ns[tick % kept].load(std::memory_order_relaxed);
    }
    // Returns when there are other ticks than `count`, at a signal, or after so long.
    void wait(std::uint32_t count, std::int64_t longest_ns) const {
        await_change(shared_->count, count, shared_->sleeps, std::max<std::int64_t>(longest_ns, 1));
    }

  private:
    struct Shared {
        std::atomic<std::uint32_t> count, sleeps;
        std::atomic<std::int64_t> arrived_ns[kept];
    };

    Shared* shared_;
};

}  // namespace softdock
