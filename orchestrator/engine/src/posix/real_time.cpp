#include "host/real_time.hpp"

#include <sys/mman.h>
#include <time.h>

#include <cerrno>

namespace softdock {

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

int error_of(int result) { return result == 0 ? 0 : errno; }

}  // namespace

void sleep_until(std::int64_t moment_ns) {
    const timespec moment{static_cast<time_t>(moment_ns / second_ns),
                          static_cast<long>(moment_ns % second_ns)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, nullptr);
}

int lock_memory() { return error_of(mlockall(MCL_CURRENT)); }

int unlock_memory() { return error_of(munlockall()); }

void ask_for_large_pages([[maybe_unused]] void* begin, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
    constexpr std::size_t page = 4096, large = std::size_t{1} << 22;
    if (bytes < large) return;
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    const auto skipped = (page - address % page) % page;
    madvise(static_cast<char*>(begin) + skipped, bytes - skipped, MADV_HUGEPAGE);
#endif
}

}  // namespace softdock
