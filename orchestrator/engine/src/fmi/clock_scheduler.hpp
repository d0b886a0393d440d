// When an FMI 3.0 unit has its next events: time events, and ticks of its time-based clocks.
#pragma once

#include <cstdint>
#include <vector>

#include "core/unit.hpp"
#include "fmi/fmi3.hpp"

namespace softdock {

class Fmu3;

// The time until a clock ticks next: a fraction of seconds if the FMU can say it
// (resolution > 0), else a decimal.
struct Interval {
    fmi3IntervalQualifier qualifier = fmi3IntervalNotYetKnown;
    double seconds = 0.0;
    std::uint64_t counter = 0, resolution = 0;
};

// A time-based input clock: its importer sees to it that it ticks.
struct Timer {
    enum class Kind : std::int32_t { fixed = 0, tunable = 1, changing = 2, countdown = 3 };
    fmi3ValueReference clock;
    Kind kind;
    bool fraction;      // the FMU tells intervals as fractions
    Interval interval;  // of the description; not_yet_known: the FMU is asked
    double shift;       // seconds from the start to the first tick
    std::uint64_t shift_counter = 0;
};

// The first whole nanosecond that is not before a time, but for the rounding of a double.
std::int64_t not_before(double seconds);

// The time of a period's n-th multiple, without the sum of n rounding errors.
std::int64_t multiple_ns(const Interval& period, std::uint64_t n, std::uint64_t more = 0);

// All that changes lies in one row of integers, which is part of the FMU's saved states.
class ClockScheduler {
  public:
    ClockScheduler() { set({}); }
    void set(std::vector<Timer> timers);
    void start(std::int64_t start_ns);

    // The time that the unit has reached: it goes back with the unit's state.
    void reach(std::int64_t now_ns) { row_[now] = now_ns; }
    // In event mode: activates the clocks that are due.
    Status tick(Fmu3& fmu);
    // In event mode, after an update: asks for the intervals that may be new.
    Status read(Fmu3& fmu);
    void set_event(bool is_known, std::int64_t time_ns);

    // Of the next event of any kind; Unit::never if none is known.
    std::int64_t due_ns() const;
    std::vector<std::int64_t>& row() { return row_; }

  private:
    // Places in the row, and in a timer's part of it.
    enum { event, now, first };
    enum Place { next, origin, ticks, counter, resolution, decimal, more, known, width };

    std::int64_t& at(std::size_t timer, Place place) { return row_[first + timer * width + place]; }
    Interval period(std::size_t timer);
    std::int64_t nth(std::size_t timer, std::int64_t n);  // the time of a tick
    void set_period(std::size_t timer, const Interval& found, std::int64_t origin_ns);
    Status ask(Fmu3& fmu, std::size_t timer);

    std::vector<Timer> timers_;
    std::vector<std::int64_t> row_;
};

}  // namespace softdock
