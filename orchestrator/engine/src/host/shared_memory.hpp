// Memory that two processes share, and how they wake each other.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace softdock {

// A mapping of the memory behind a file descriptor. A fork of its process does not inherit it:
// memory of its own, of zeros, stands there instead, and a child that was made without the C
// library's fork has none at all.
class SharedMemory {
  public:
    // Throws if the memory is too small or cannot be mapped.
    SharedMemory(int file, std::size_t bytes);
    ~SharedMemory();
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;

    // Whether this process is a fork of the one that made it.
    bool foreign() const { return foreign_; }
    void* begin() const { return begin_; }

  private:
    static void leave();  // in a fork of this process

    bool foreign_ = false;
    std::size_t bytes_;
    void* begin_;
};

// Gives a counter a new value and wakes who sleeps on it.
void announce(std::atomic<std::uint32_t>& counter, std::uint32_t value,
              std::atomic<std::uint32_t>& sleeps);

// Sleeps until a counter is no longer `old`, a time (0: without end) has passed, or a signal came.
// Spinning first would save half of a round trip where both sides have a core to themselves, and
// cost ten of them where they have not.
void await_change(std::atomic<std::uint32_t>& counter, std::uint32_t old,
                  std::atomic<std::uint32_t>& sleeps, std::int64_t time_ns);

}  // namespace softdock
