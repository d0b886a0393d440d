// What goes wrong on the lines of a system, and when.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/history.hpp"
#include "core/read.hpp"

namespace softdock {

enum class Effect {
    drop = 0,           // the input stays what it was when the fault began
    stuck = 1,          // the value stays the first one that was sent under the fault
    bias = 2,           // value + amount
    drift = 3,          // value + amount * seconds since the fault began
    scale = 4,          // amount * value + offset
    noise = 5,          // value + amount * normal draw
    delayed_read = 6,   // the input is read from a history instead
    changed_delay = 7,  // a line of the readings is read change_ns later
};

// One fault of one scalar. It acts on communication points, or samples, from begin to before until.
//
// A step may be done again, as a whole or by a loop: what a fault remembers is kept with the time
// that it belongs to, so that the same moment gives the same value however often it is computed.
struct Fault {
    Effect effect = Effect::bias;
    std::int32_t place = 0;  // a slot; a history for samples; a reading for effects on delays
    std::int64_t begin_ns = 0, until_ns = 0;
    double amount = 0.0, offset = 0.0;
    std::int64_t change_ns = 0;
    std::uint64_t key = 0;  // of the draws
    double held = 0.0;
    std::int64_t held_at_ns = std::numeric_limits<std::int64_t>::max();

    bool acts(std::int64_t time_ns) const { return begin_ns <= time_ns && time_ns < until_ns; }
    // What becomes of a value that is sent, or arrives, at a time.
    double apply(double value, std::int64_t time_ns);
    // By how much the result changes with the value.
    double gain(std::int64_t time_ns) const;
};

// All faults of a schedule.
class Faults {
  public:
    explicit Faults(std::vector<Fault> rows);

    std::vector<Fault>& rows() { return rows_; }
    const std::vector<Fault>& rows() const { return rows_; }
    bool empty() const { return rows_.empty(); }
    void forget();
    // The first time after `time_ns` at which a fault begins or ends; the largest number if none.
    std::int64_t next_change(std::int64_t time_ns) const;
    bool changes_at(std::int64_t time_ns) const;

  private:
    std::vector<Fault> rows_;
    std::vector<std::int64_t> changes_;  // sorted
};

}  // namespace softdock
