// The memory that a master and the process of one unit share, and how they wake each other.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace softdock {

// What a master asks for. Inputs and slopes that were given before go with the next command.
enum class Command : std::uint32_t {
    message = 0,  // the request is a message on the socket, for the worker's Python
    set,          // nothing but the inputs
    step,         // step, then get the outputs
    outputs,
    save,
    restore,
    derivative,
    enter_event_mode,
    update_discrete,
    enter_step_mode,
};

// Both sides read the fields of the other only after its counter has changed. The worker runs
// foreign code: the master believes nothing here that could lead it out of bounds.
struct Header {
    std::atomic<std::uint32_t> request;  // counts what was asked
    std::atomic<std::uint32_t> answer;   // the last request that was done
    std::atomic<std::uint32_t> worker_sleeps, master_sleeps;
    std::uint32_t command;
    std::uint32_t has_inputs, has_slopes;
    std::uint64_t number;
    std::int64_t time_ns, step_ns;
    std::int32_t status, outputs_status;
    std::int64_t reached_ns;
    std::uint32_t early, event, terminate;
    std::uint32_t again, discrete_terminate, values_changed, has_next;
    std::int64_t next_ns;
    char failure[4096];  // ends with a zero
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "futexes need plain words");

// A mapping of the memory behind a file descriptor: the header, then arrays of doubles.
class SharedBlock {
  public:
    // Bytes for units of up to so many inputs and outputs.
    static std::size_t size(std::size_t inputs, std::size_t outputs);
    // Throws if the memory is too small or cannot be mapped.
    SharedBlock(int file, std::size_t inputs, std::size_t outputs);
    ~SharedBlock();
    SharedBlock(const SharedBlock&) = delete;
    SharedBlock& operator=(const SharedBlock&) = delete;

    Header& header() const { return *header_; }
    double* inputs() const { return doubles_; }
    double* slopes() const { return inputs() + most_inputs_; }
    double* seeds() const { return slopes() + most_inputs_; }
    double* outputs() const { return seeds() + most_inputs_; }
    double* changes() const { return outputs() + most_outputs_; }
    std::size_t most_inputs() const { return most_inputs_; }
    std::size_t most_outputs() const { return most_outputs_; }

  private:
    std::size_t most_inputs_, most_outputs_, bytes_;
    Header* header_;
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
