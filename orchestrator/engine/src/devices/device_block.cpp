#include "devices/device_block.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace softdock {

namespace {

constexpr std::size_t line = 64;  // bytes of a cache line
constexpr int tries = 10000;      // some 10 us: a record is written in less than one

constexpr std::size_t in_lines(std::size_t bytes) { return (bytes + line - 1) / line * line; }

template <class Facts>
constexpr std::size_t words_of(std::size_t values) {
    static_assert(std::is_trivially_copyable_v<Facts> && sizeof(Facts) % sizeof(std::uint64_t) == 0,
                  "facts are whole words");
    return sizeof(Facts) / sizeof(std::uint64_t) + values;
}

template <class Facts>
void pack(const Facts& facts, const double* values, std::vector<std::uint64_t>& words) {
    std::memcpy(words.data(), &facts, sizeof facts);
    std::memcpy(words.data() + words_of<Facts>(0), values,
                (words.size() - words_of<Facts>(0)) * sizeof(double));
}

template <class Facts>
void unpack(const std::vector<std::uint64_t>& words, Facts& facts, double* values) {
    std::memcpy(static_cast<void*>(&facts), words.data(), sizeof facts);
    std::memcpy(values, words.data() + words_of<Facts>(0),
                (words.size() - words_of<Facts>(0)) * sizeof(double));
}

}  // namespace

std::size_t Record::size(std::size_t words) {
    return in_lines(sizeof(Head)) + in_lines(words * sizeof(std::uint64_t));
}

Record::Record(void* begin, std::size_t words) : begin_(begin), count_of_words_(words) {}

std::atomic<std::uint64_t>* Record::words() const {
    static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "two processes share it");
    return reinterpret_cast<std::atomic<std::uint64_t>*>(static_cast<char*>(begin_) +
                                                         in_lines(sizeof(Head)));
}

void Record::write(const std::uint64_t* values) {
    auto& own = head();
    const auto version = own.version.load(std::memory_order_relaxed);
    own.version.store(version + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    auto* place = words();
    for (std::size_t i = 0; i < count_of_words_; ++i) {
        place[i].store(values[i], std::memory_order_relaxed);
    }
    own.version.store(version + 2, std::memory_order_release);
    announce(own.count, own.count.load(std::memory_order_relaxed) + 1, own.sleeps);
}

bool Record::read(std::uint64_t* values) const {
    const auto& own = head();
    for (int i = 0; i < tries; ++i) {
        const auto version = own.version.load(std::memory_order_acquire);
        if (version == 0) return false;
        if (version % 2 != 0) continue;
        const auto* place = words();
        for (std::size_t k = 0; k < count_of_words_; ++k) {
            values[k] = place[k].load(std::memory_order_relaxed);
        }
        std::atomic_thread_fence(std::memory_order_acquire);
        if (own.version.load(std::memory_order_relaxed) == version) return true;
    }
    return false;
}

void Record::wait(std::uint32_t old, std::int64_t time_ns) const {
    auto& own = head();
    if (count() == old) await_change(own.count, old, own.sleeps, time_ns);
}

std::size_t DeviceBlock::size(std::size_t commands, std::size_t measurements) {
    return Record::size(words_of<SampleFacts>(measurements)) +
           Record::size(words_of<CommandFacts>(commands)) + in_lines(TickCounter::size()) +
           sizeof(Tail);
}

DeviceBlock::DeviceBlock(int file, std::size_t commands, std::size_t measurements)
    : command_count_(commands),
      measurement_count_(measurements),
      memory_(file, size(commands, measurements)),
      samples_(memory_.begin(), words_of<SampleFacts>(measurements)),
      commands_(
          static_cast<char*>(memory_.begin()) + Record::size(words_of<SampleFacts>(measurements)),
          words_of<CommandFacts>(commands)),
      ticks_(static_cast<char*>(memory_.begin()) + size(commands, measurements) - sizeof(Tail) -
             in_lines(TickCounter::size())),
      tail_(static_cast<char*>(memory_.begin()) + size(commands, measurements) - sizeof(Tail)),
      sample_words_(words_of<SampleFacts>(measurements)),
      command_words_(words_of<CommandFacts>(commands)) {}

namespace {

void put_text(char* place, const std::string& text) {
    const auto length = std::min(text.size(), DeviceBlock::longest_reason - 1);
    std::memcpy(place, text.data(), length);
    place[length] = 0;
}

}  // namespace

void DeviceBlock::remark(const std::string& what) {
    auto& own = tail();
    const auto other = 1 - own.newest.load(std::memory_order_relaxed);
    put_text(own.remarks[other], what);
    own.newest.store(other, std::memory_order_release);
}

std::string DeviceBlock::remark() const {
    const char* found = tail().remarks[tail().newest.load(std::memory_order_acquire)];
    return {found, strnlen(found, longest_reason)};
}

void DeviceBlock::lose(const std::string& why) {
    auto& own = tail();
    put_text(own.reason, why);
    own.lost.store(1, std::memory_order_release);
}

std::string DeviceBlock::reason() const {
    return {tail().reason, strnlen(tail().reason, longest_reason)};
}

void DeviceBlock::put_sample(const SampleFacts& facts, const double* values) {
    pack(facts, values, sample_words_);
    samples_.write(sample_words_.data());
}

bool DeviceBlock::newest_sample(SampleFacts& facts, double* values) {
    if (!samples_.read(sample_words_.data())) return false;
    unpack(sample_words_, facts, values);
    return true;
}

void DeviceBlock::put_command(const CommandFacts& facts, const double* values) {
    pack(facts, values, command_words_);
    commands_.write(command_words_.data());
}

bool DeviceBlock::newest_command(CommandFacts& facts, double* values) {
    if (!commands_.read(command_words_.data())) return false;
    unpack(command_words_, facts, values);
    return true;
}

}  // namespace softdock
