// Executes a compiled Schedule: plain tables of operations on one buffer of signals.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/step_control.hpp"
#include "algorithms/step_executor.hpp"
#include "core/context.hpp"
#include "core/outcome.hpp"
#include "events/event_phase.hpp"
#include "run/range_watch.hpp"
#include "run/recorder.hpp"

namespace softdock {

// Everything of the engine that a step changes; rows of recorded signals are the caller's.
struct EngineState {
    std::int64_t done = 0, time_ns = 0;
    std::vector<double> signals;
    // Of all histories, one after the other: see History::save.
    std::vector<double> samples;
    std::vector<std::int64_t> marks;
    std::vector<double> memory;  // of loops and of the step's control
};

class Engine {
  public:
    // At most so many threads; 0: as many as there are processors. Throws if a row of a table
    // points out of another.
    Engine(Schedule schedule, std::size_t threads);
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    // Adds the signals that are no numbers; throws if the schedule's operations do not fit them.
    void set_texts(Texts texts);
    // Adds the tables of values; throws if the schedule's operations do not fit them.
    void set_value_tables(ValueTables tables);
    // Lets units with event mode handle their events together.
    void handle_events(std::unique_ptr<EventPhase> events);
    // Throws if an operation has rows that its table has not: the loop itself checks nothing.
    void check(const Operation& operation) const;

    void start(std::int64_t start_ns, std::int64_t step_ns);
    // Does up to `steps` steps, those of varying length up to `goal_ns`, which the last one meets.
    Outcome run(std::int64_t steps, std::int64_t goal_ns);
    // Whether a run of so many steps, up to `goal_ns`, has one to do yet.
    bool has_steps(const Outcome& outcome, std::int64_t steps, std::int64_t goal_ns) const {
        return outcome.steps < steps && !(control_->varies() && time_ns() >= goal_ns);
    }
    // One step of a run, counted and recorded unless it failed.
    void step(std::int64_t goal_ns, Outcome& outcome);

    EngineState save();
    // Throws, and changes nothing, if the state does not fit this engine's tables.
    void restore(const EngineState& state);
    // Reads the text outputs of all units anew: after they went back to a state.
    Status read_texts();

    // Reads delayed lines elsewhere from the next step on: the shift and span of each row, in its
    // order; throws if there are not as many.
    void redelay(const std::vector<std::pair<std::int64_t, std::int64_t>>& shifts);

    Context& context() { return context_; }
    const Context& context() const { return context_; }
    const StepExecutor& executor() const { return executor_; }
    const StepControl& control() const { return *control_; }
    EventPhase* events() { return events_.get(); }
    Recorder& recorder() { return recorder_; }
    // Watches inputs from now on, the present values included; throws if a slot is none.
    void watch(std::vector<WatchRow> rows);
    const RangeWatch& range_watch() const { return range_watch_; }
    std::int64_t time_ns() const { return time_ns_.load(std::memory_order_relaxed); }
    void end_run(Outcome& outcome);
    void write_row() { recorder_.write_row(context_, time_ns()); }

  private:
    void pass_changes();
    void be_at(std::int64_t time_ns) { time_ns_.store(time_ns, std::memory_order_relaxed); }
    std::vector<std::vector<double>*> memories();

    Context context_;
    StepExecutor executor_;
    std::unique_ptr<StepControl> control_;
    std::unique_ptr<EventPhase> events_;
    Recorder recorder_;
    RangeWatch range_watch_;
    std::atomic<std::int64_t> time_ns_{0};  // reached by whole steps; any thread may read it
    bool proposes_ = false;  // whether loops put samples into pasts that may be taken back
};

}  // namespace softdock
