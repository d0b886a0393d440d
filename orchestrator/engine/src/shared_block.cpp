#include "shared_block.hpp"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

namespace softdock {

namespace {

constexpr std::int64_t second = 1000000000;

// The arrays begin at a cache line of their own.
constexpr std::size_t front = (sizeof(Header) + 63) / 64 * 64;

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* timeout) {
    return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, timeout,
                   nullptr, 0);
}

}  // namespace

std::size_t SharedBlock::size(std::size_t inputs, std::size_t outputs) {
    return front + (3 * inputs + 2 * outputs) * sizeof(double);
}

SharedBlock::SharedBlock(int file, std::size_t inputs, std::size_t outputs)
    : most_inputs_(inputs), most_outputs_(outputs), bytes_(size(inputs, outputs)) {
    struct stat found;
    if (fstat(file, &found) != 0 || static_cast<std::size_t>(found.st_size) < bytes_) {
        throw std::runtime_error("the shared memory is smaller than its unit's signals");
    }
    void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) {
        throw std::runtime_error(std::string("shared memory cannot be mapped: ") +
                                 std::strerror(errno));
    }
    header_ = static_cast<Header*>(memory);
    doubles_ = reinterpret_cast<double*>(static_cast<char*>(memory) + front);
}

SharedBlock::~SharedBlock() { munmap(header_, bytes_); }

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

std::int64_t now_ns() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * second + now.tv_nsec;
}

}  // namespace softdock
