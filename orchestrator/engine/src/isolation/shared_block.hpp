// The memory that a master and the process of units share, and how they wake each other.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/waveform.hpp"

namespace softdock {

// What a master asks for. Inputs and their derivatives that were given before go with the next
// command.
enum class Command : std::uint32_t {
    set = 0,  // nothing but the inputs
    step,     // step, then get the outputs
    outputs,
    save,
    restore,
    derivative,
    enter_event_mode,
    update_discrete,
    enter_step_mode,
};

// No member of a process.
constexpr std::uint32_t no_member = UINT32_MAX;

// Of a process: who is asked, and how both sides wake each other. Both read the fields of the other
// only after its counter has changed. The worker runs foreign code: the master believes nothing
// here that could lead it out of bounds.
struct ProcessHeader {
    std::atomic<std::uint32_t> request;  // counts what was asked
    std::atomic<std::uint32_t> answer;   // the last request that was done
    std::atomic<std::uint32_t> worker_sleeps, master_sleeps;
    std::atomic<std::uint32_t> at;  // the member at work, or none
    // The first member that is asked; none: a message lies on the socket, for the worker's Python.
    std::uint32_t first;
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "futexes need plain words");

// Of one unit in it.
struct UnitHeader {
    std::atomic<std::uint32_t> served;  // the last request in which it had its turn
    std::uint32_t next;                 // the member that is asked after it, or none
    std::uint32_t command;
    std::uint32_t has_inputs, order;  // of the derivatives of the inputs
    std::uint64_t number;
    std::int64_t time_ns, step_ns;
    std::int32_t status, outputs_status;
    std::uint32_t early_return;  // it failed because it returned early, which was not allowed
    std::int64_t reached_ns;
    std::uint32_t early, event, terminate;
    std::uint32_t again, discrete_terminate, values_changed, has_next;
    std::int64_t next_ns;
    char failure[4096];  // ends with a zero
};

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

// What a process as a whole shares with its master.
class ProcessBlock {
  public:
    static constexpr std::size_t size() { return sizeof(ProcessHeader); }
    explicit ProcessBlock(int file) : memory_(file, size()) {}

    bool foreign() const { return memory_.foreign(); }
    ProcessHeader& header() const { return *static_cast<ProcessHeader*>(memory_.begin()); }

  private:
    SharedMemory memory_;
};

// What one unit shares with its master: the header, then arrays of doubles.
class SharedBlock {
  public:
    // Bytes for units of up to so many inputs and outputs.
    static std::size_t size(std::size_t inputs, std::size_t outputs);
    SharedBlock(int file, std::size_t inputs, std::size_t outputs);

    UnitHeader& header() const { return *static_cast<UnitHeader*>(memory_.begin()); }
    double* inputs() const { return doubles_; }
    // One after the other for each order.
    double* derivatives() const { return inputs() + most_inputs_; }
    double* seeds() const { return derivatives() + most_order * most_inputs_; }
    double* outputs() const { return seeds() + most_inputs_; }
    double* changes() const { return outputs() + most_outputs_; }
    std::size_t most_inputs() const { return most_inputs_; }
    std::size_t most_outputs() const { return most_outputs_; }

  private:
    std::size_t most_inputs_, most_outputs_;
    SharedMemory memory_;
    double* doubles_;
};

// Gives a counter a new value and wakes who sleeps on it.
void announce(std::atomic<std::uint32_t>& counter, std::uint32_t value,
              std::atomic<std::uint32_t>& sleeps);

// Sleeps until a counter is no longer `old`, a time (0: without end) has passed, or a signal came.
// Spinning first would save half of a round trip where both sides have a core to themselves, and
// cost ten of them where they have not.
void await_change(std::atomic<std::uint32_t>& counter, std::uint32_t old,
                  std::atomic<std::uint32_t>& sleeps, std::int64_t time_ns);

// Of a clock that does not go back.
std::int64_t now_ns();

}  // namespace softdock
