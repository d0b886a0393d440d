// The memory that a master and the process of units share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/waveform.hpp"
#include "host/shared_memory.hpp"

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

}  // namespace softdock
