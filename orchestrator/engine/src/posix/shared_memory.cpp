#include "host/shared_memory.hpp"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace softdock {

namespace {

constexpr std::int64_t second = 1000000000;

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* timeout) {
    return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, timeout,
                   nullptr, 0);
}

// All mappings of this process, for its forks. The lock is held while it forks.
struct Mappings {
    std::mutex mutex;
    std::vector<SharedMemory*> all;
};

Mappings& mappings() {
    static auto* known = new Mappings;  // a fork may come at any time, also at the process's end
    return *known;
}

}  // namespace

void SharedMemory::leave() {
    for (auto* memory : mappings().all) {
        memory->foreign_ = true;
        mmap(memory->begin_, memory->bytes_, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    }
    mappings().mutex.unlock();
}

SharedMemory::SharedMemory(int file, std::size_t bytes) : bytes_(bytes) {
    struct stat found;
    if (fstat(file, &found) != 0 || static_cast<std::size_t>(found.st_size) < bytes_) {
        throw std::runtime_error("the shared memory is smaller than its unit's signals");
    }
    begin_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (begin_ == MAP_FAILED) {
        throw std::runtime_error(std::string("shared memory cannot be mapped: ") +
                                 std::strerror(errno));
    }
    static const int watched =
        pthread_atfork([] { mappings().mutex.lock(); }, [] { mappings().mutex.unlock(); }, &leave);
    if (watched != 0 || madvise(begin_, bytes_, MADV_DONTFORK) != 0) {
        munmap(begin_, bytes_);
        throw std::runtime_error("shared memory cannot be kept from forks");
    }
    const std::lock_guard<std::mutex> lock(mappings().mutex);
    mappings().all.push_back(this);
}

SharedMemory::~SharedMemory() {
    {
        const std::lock_guard<std::mutex> lock(mappings().mutex);
        auto& all = mappings().all;
        all.erase(std::find(all.begin(), all.end(), this));
    }
    munmap(begin_, bytes_);
}

void announce(std::atomic<std::uint32_t>& counter, std::uint32_t value,
              std::atomic<std::uint32_t>& sleeps) {
    counter.store(value);  // sequentially consistent, as what follows: one side sees the other
    if (sleeps.load()) futex(counter, FUTEX_WAKE, 1, nullptr);
}

void await_change(std::atomic<std::uint32_t>& counter, std::uint32_t old,
                  std::atomic<std::uint32_t>& sleeps, std::int64_t time_ns) {
    const timespec limit{static_cast<time_t>(time_ns / second),
                         static_cast<long>(time_ns % second)};
    sleeps.store(1);
    if (counter.load() == old) futex(counter, FUTEX_WAIT, old, time_ns > 0 ? &limit : nullptr);
    sleeps.store(0);
}

}  // namespace softdock
