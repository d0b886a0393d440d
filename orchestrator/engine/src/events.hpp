// The event mode of a system: units handle events at the same instant, together.
#pragma once

#include <cstdint>
#include <vector>

#include "engine.hpp"

namespace softdock {

class StepControl;

// An undelayed connection into a unit with event mode; one for every scalar.
struct EventLine {
    // When it takes its target into event mode: a jump of its source; a value that differs; a
    // tick; never, as its value belongs to a clock.
    enum class Kind : std::int32_t { continuous = 0, discrete = 1, clock = 2, clocked = 3 };
    std::int32_t copy;    // row of the engine's copies
    std::int32_t target;  // number among the units with event mode
    Kind kind;
};

// An output clock.
struct EventClock {
    std::int32_t slot, source;
};

struct EventTable {
    std::vector<std::int32_t> members;  // units with event mode
    std::vector<EventLine> lines;
    std::vector<EventClock> clocks;
    bool splits = false;        // steps may end where an event is due
    bool early_return = false;  // units may return early: all go back and step as far as that
};

class EventPhase {
  public:
    struct Counts {
        std::int64_t instants = 0, updates = 0, splits = 0, early = 0, late = 0, latest_ns = 0;
    };

    EventPhase(EventTable table, std::size_t signals);

    // One communication step, with all events that belong to it.
    Status step(Engine& engine, StepControl& control, std::int64_t time_ns, std::int64_t goal_ns,
                std::int64_t& taken_ns, Outcome& outcome);
    // Of units that left their initialisation in event mode.
    Status begin(Engine& engine, std::int64_t start_ns, Outcome& outcome);
    // What was set from outside between two steps happens before the next.
    Status change(Engine& engine, std::int64_t now_ns, Outcome& outcome) {
        return handle(engine, now_ns, false, outcome);
    }

    const EventTable& table() const { return table_; }
    const Counts& counts() const { return counts_; }
    bool allows_early_return() const { return table_.early_return; }

  private:
    struct Part {
        bool called = false;  // it shall enter event mode
        bool active = false;  // it is in event mode
        bool dirty = false;   // its inputs are to be set
        bool again = false;   // it asks for another update
    };

    Unit& unit(const Engine& engine, std::size_t part) const;
    std::int64_t next_ns(const Engine& engine, std::int64_t after_ns, std::int64_t end_ns) const;
    Status sweep(Engine& engine, std::int64_t now_ns, std::int64_t& stop_ns, std::int64_t end_ns,
                 Outcome& outcome);
    Status go_back(Engine& engine, std::int64_t now_ns, Outcome& outcome);
    Status handle(Engine& engine, std::int64_t now_ns, bool stepped, Outcome& outcome);
    bool call(const Engine& engine, std::int64_t now_ns, bool stepped);
    Status instant(Engine& engine, Outcome& outcome);
    Status enter(Engine& engine, Outcome& outcome);
    Status exchange(Engine& engine, Outcome& outcome);
    Status collect(Engine& engine, Outcome& outcome);
    bool copy(Engine& engine);
    Status update(Engine& engine, bool& again, Outcome& outcome);
    Status leave(Engine& engine, Outcome& outcome);
    Status blame(const Engine& engine, std::size_t part, Status status, Outcome& outcome) const;
    Status unsettled(Outcome& outcome) const;

    EventTable table_;
    Counts counts_;
    std::vector<Part> parts_;
    std::vector<double> entry_;   // signals when the instant began
    std::vector<double> inputs_;  // of a unit that returned at once
    std::vector<char> ticked_;    // by clock
    std::vector<char> moving_;    // by line: it changed in the last exchange
    std::int32_t forced_ = -1;    // engine's number of a unit that must have its event
};

}  // namespace softdock
