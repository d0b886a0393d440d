// The event mode of a system: units handle events at the same instant, together.
#pragma once

#include <cstdint>
#include <vector>

#include "core/context.hpp"
#include "core/outcome.hpp"

namespace softdock {

class StepControl;
class StepExecutor;

class EventPhase {
  public:
    struct Counts {
        std::int64_t instants = 0, updates = 0, splits = 0, early = 0, late = 0, latest_ns = 0;
    };

    EventPhase(EventTable table, std::size_t signals);

    // One communication step, with all events that belong to it.
    Status step(StepExecutor& executor, StepControl& control, std::int64_t time_ns,
                std::int64_t goal_ns, std::int64_t& taken_ns, Outcome& outcome);
    // Whether the step was done, although an event at its end asked for the end of the run.
    bool ended() const { return ended_; }
    // Of units that left their initialisation in event mode.
    Status begin(Context& context, std::int64_t start_ns, Outcome& outcome);
    // What was set from outside between two steps happens before the next.
    Status change(Context& context, std::int64_t now_ns, Outcome& outcome) {
        return handle(context, now_ns, false, outcome);
    }

    const EventTable& table() const { return table_; }
    const Counts& counts() const { return counts_; }

  private:
    struct Part {
        bool called = false;  // it shall enter event mode
        bool active = false;  // it is in event mode
        bool dirty = false;   // its inputs are to be set
        bool again = false;   // it asks for another update
    };

    Unit& unit(const Context& context, std::size_t part) const;
    std::int64_t next_ns(const Context& context, std::int64_t after_ns, std::int64_t end_ns) const;
    Status last(Status status, const Outcome& outcome);
    Status execute_step(StepExecutor& executor, std::int64_t now_ns, std::int64_t& stop_ns,
                        std::int64_t end_ns, Outcome& outcome);
    Status go_back(StepExecutor& executor, std::int64_t now_ns, Outcome& outcome);
    Status handle(Context& context, std::int64_t now_ns, bool stepped, Outcome& outcome);
    bool call(const Context& context, std::int64_t now_ns, bool stepped);
    Status instant(Context& context, Outcome& outcome);
    Status enter(Context& context, Outcome& outcome);
    Status exchange(Context& context, Outcome& outcome);
    Status collect(Context& context, Outcome& outcome);
    bool copy(Context& context);
    Status update(Context& context, bool& again, Outcome& outcome);
    Status leave(Context& context, Outcome& outcome);
    Status blame(std::size_t part, Status status, Outcome& outcome) const;
    Status unsettled(Outcome& outcome) const;

    EventTable table_;
    Counts counts_;
    std::vector<Part> parts_;
    std::vector<double> entry_;   // signals when the instant began
    std::vector<double> inputs_;  // of a unit that returned at once
    std::vector<char> ticked_;    // by clock
    std::vector<char> moving_;    // by line: it changed in the last exchange
    std::int32_t forced_ = -1;    // engine's number of a unit that must have its event
    std::int32_t ender_ = -1;     // part that ends the run once all events of the moment are over
    bool ended_ = false;          // an event at the end of a step that is done ended the run
};

}  // namespace softdock
