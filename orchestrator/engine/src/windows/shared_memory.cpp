#include "host/shared_memory.hpp"

#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

#include <map>
#include <mutex>
#include <stdexcept>
#include <string>

namespace softdock {

namespace {

constexpr std::int64_t millisecond = 1000000;

// A mapping, with the events by which its two processes wake each other: WaitOnAddress of Windows
// sees the threads of one process only. Both sides find an event by the number of the memory and
// the place of the counter in it.
struct Mapping {
    std::string name;
    std::size_t bytes;
    std::map<std::ptrdiff_t, HANDLE> events;
};

struct Mappings {
    std::mutex mutex;
    std::map<const char*, Mapping> all;
};

Mappings& mappings() {
    static auto* known = new Mappings;
    return *known;
}

std::string name_of(int number) { return "Local\\softdock-" + std::to_string(number); }

std::string last_error() { return "error " + std::to_string(GetLastError()) + " of Windows"; }

// The event of a counter; none for a counter that is in no shared memory.
HANDLE event_of(const std::atomic<std::uint32_t>& counter) {
    const auto* address = reinterpret_cast<const char*>(&counter);
    const std::lock_guard<std::mutex> lock(mappings().mutex);
    auto after = mappings().all.upper_bound(address);
    if (after == mappings().all.begin()) return nullptr;
    auto& [begin, mapping] = *--after;
    if (address >= begin + mapping.bytes) return nullptr;
    auto& event = mapping.events[address - begin];
    if (!event) {
        const auto name = mapping.name + "-" + std::to_string(address - begin);
        event = CreateEventA(nullptr, FALSE, FALSE, name.c_str());
    }
    return event;
}

}  // namespace

// Windows has no forks.
void SharedMemory::leave() {}

SharedMemory::SharedMemory(int file, std::size_t bytes) : bytes_(bytes) {
    const auto name = name_of(file);
    const HANDLE memory = OpenFileMappingA(FILE_MAP_ALL_ACCESS, FALSE, name.c_str());
    if (!memory) throw std::runtime_error("shared memory cannot be opened: " + last_error());
    begin_ = MapViewOfFile(memory, FILE_MAP_ALL_ACCESS, 0, 0, 0);
    const auto problem = begin_ ? "" : last_error();
    CloseHandle(memory);
    if (!begin_) throw std::runtime_error("shared memory cannot be mapped: " + problem);
    MEMORY_BASIC_INFORMATION found;
    if (!VirtualQuery(begin_, &found, sizeof found) || found.RegionSize < bytes_) {
        UnmapViewOfFile(begin_);
        throw std::runtime_error("the shared memory is smaller than its unit's signals");
    }
    const std::lock_guard<std::mutex> lock(mappings().mutex);
    mappings().all[static_cast<const char*>(begin_)] = {name, bytes_, {}};
}

SharedMemory::~SharedMemory() {
    {
        const std::lock_guard<std::mutex> lock(mappings().mutex);
        const auto mapping = mappings().all.find(static_cast<const char*>(begin_));
        for (const auto& [place, event] : mapping->second.events) CloseHandle(event);
        mappings().all.erase(mapping);
    }
    UnmapViewOfFile(begin_);
}

void announce(std::atomic<std::uint32_t>& counter, std::uint32_t value,
              std::atomic<std::uint32_t>& sleeps) {
    counter.store(value);  // sequentially consistent, as what follows: one side sees the other
    if (sleeps.load()) SetEvent(event_of(counter));
}

void await_change(std::atomic<std::uint32_t>& counter, std::uint32_t old,
                  std::atomic<std::uint32_t>& sleeps, std::int64_t time_ns) {
    const auto limit =
        time_ns > 0 ? static_cast<DWORD>((time_ns + millisecond - 1) / millisecond) : INFINITE;
    sleeps.store(1);
    if (counter.load() == old) WaitForSingleObject(event_of(counter), limit);
    sleeps.store(0);
}

}  // namespace softdock
