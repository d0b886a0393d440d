// What a run and the process of a device share: the newest sample and the newest command.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "host/shared_memory.hpp"
#include "pacing/tick_counter.hpp"

namespace softdock {

// The newest of a row of records of one size: one writes, others read, and nobody waits for anyone
// (a seqlock). A reader that finds the record being written tries again, and gives up if its writer
// has stopped in the middle.
class Record {
  public:
    static std::size_t size(std::size_t words);
    Record(void* begin, std::size_t words);

    void write(const std::uint64_t* words);
    // False if there is none yet, or it is half written for good; then nothing is changed.
    bool read(std::uint64_t* words) const;
    // Records so far, modulo 2^32: another process can sleep until it changes.
    std::uint32_t count() const { return head().count.load(std::memory_order_acquire); }
    // Sleeps while the count is `old`, for a time at most.
    void wait(std::uint32_t old, std::int64_t time_ns) const;

  private:
    struct Head {
        std::atomic<std::uint32_t> version;  // odd while the record is being written
        std::atomic<std::uint32_t> count;
        std::atomic<std::uint32_t> sleeps;
    };
    Head& head() const { return *static_cast<Head*>(begin_); }
    std::atomic<std::uint64_t>* words() const;

    void* begin_;
    std::size_t count_of_words_;
};

// What is known of a sample beside its values. Only fields of 64 bits.
struct SampleFacts {
    std::int64_t received_ns = 0;  // CLOCK_MONOTONIC
    double device_time = 0.0;      // in seconds; NaN: the device sends none
    std::uint64_t number = 0;      // of the samples that were taken so far
    std::uint64_t lost = 0, late = 0, repeated = 0, malformed = 0, restarts = 0;
    std::uint64_t valid = 0, status = 0;
    std::uint64_t shaped = 0;  // commands that were faster than their limit, and sent slower
    std::int64_t taken = -1;   // number of the newest command that the device took; -1: unknown
    std::uint64_t missed = 0;  // commands that it passed over
};

struct CommandFacts {
    std::int64_t given_ns = 0;  // CLOCK_MONOTONIC
    std::uint64_t number = 0;   // 1 for the first
    std::int64_t step_ns = 0;   // of the run, after which the next is due; 0: not known yet
};

// The memory of one device.
class DeviceBlock {
  public:
    static std::size_t size(std::size_t commands, std::size_t measurements);
    DeviceBlock(int file, std::size_t commands, std::size_t measurements);

    // By the device's process.
    void put_sample(const SampleFacts& facts, const double* values);
    bool newest_command(CommandFacts& facts, double* values);

    // By the run.
    bool newest_sample(SampleFacts& facts, double* values);
    void put_command(const CommandFacts& facts, const double* values);

    // By the device's process, when it gives up: `why` is what is told, at most so long.
    static constexpr std::size_t longest_reason = 2048;
    void lose(const std::string& why);
    // What is wrong with the samples at present, in words; empty: nothing.
    void remark(const std::string& what);
    std::string remark() const;
    bool lost() const { return tail().lost.load(std::memory_order_acquire) != 0; }
    std::string reason() const;
    // Whether the device is held or comes to rest, so that no command of the run is sent.
    void hold(bool held) { tail().held.store(held ? 1 : 0, std::memory_order_release); }
    bool held() const { return lost() || tail().held.load(std::memory_order_acquire) != 0; }

    const Record& samples() const { return samples_; }
    const Record& commands() const { return commands_; }
    // Of the device's own clock, counted by its process.
    TickCounter& ticks() { return ticks_; }
    std::size_t command_count() const { return command_count_; }
    std::size_t measurement_count() const { return measurement_count_; }

  private:
    struct Tail {
        std::atomic<std::uint32_t> lost;
        std::atomic<std::uint32_t> held;
        std::atomic<std::uint32_t> newest;  // of the remarks
        char remarks[2][longest_reason];    // each ends with a zero
        char reason[longest_reason];        // ends with a zero
    };
    Tail& tail() const { return *static_cast<Tail*>(tail_); }

    std::size_t command_count_, measurement_count_;
    SharedMemory memory_;
    Record samples_, commands_;
    TickCounter ticks_;
    void* tail_;
    std::vector<std::uint64_t> sample_words_, command_words_;
};

}  // namespace softdock
