#include "host/real_time.hpp"

#include <cerrno>
#include <chrono>
#include <thread>

namespace softdock {

void sleep_until(std::int64_t moment_ns) {
    std::this_thread::sleep_until(std::chrono::steady_clock::time_point(
        std::chrono::duration_cast<std::chrono::steady_clock::duration>(
            std::chrono::nanoseconds(moment_ns))));
}

int lock_memory() { return ENOSYS; }

int unlock_memory() { return ENOSYS; }

void ask_for_large_pages(void*, std::size_t) {}

}  // namespace softdock
