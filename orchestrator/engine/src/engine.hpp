// Executes a compiled Schedule: plain tables of operations on one buffer of signals.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fault.hpp"
#include "history.hpp"
#include "schedule.hpp"
#include "texts.hpp"
#include "value_tables.hpp"

namespace softdock {

class Crew;
class EventPhase;
class LoopSolver;
class StepControl;

struct Outcome {
    std::int64_t steps = 0;      // whole communication steps that were done
    Status status = Status::ok;  // of what ended the run, else ok
    int unit = -1;               // index of the unit that ended it, or -1
    int loop = -1;               // index of the loop that did not converge, or -1
    std::int64_t early_ns = -1;  // where the step ends instead, as that unit returned early, or -1
    int read = -1;               // row of the reads that could not be read, or -1
    std::string reason;
};

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
    Engine(std::size_t signals, std::vector<Member> members, std::vector<History> histories,
           std::vector<Copy> copies, std::vector<Read> reads, std::vector<Mix> mixes,
           std::vector<Loop> loops, std::vector<Operation> operations, const Rule& rule,
           std::size_t threads, std::vector<Fault> faults);
    ~Engine();

    // Adds the signals that are no numbers; throws if the schedule's operations do not fit them.
    void carry(Texts texts);
    Texts& texts() { return texts_; }
    // Reads the text outputs of all units anew: after they went back to a state.
    Status read_texts();

    // Adds the tables of values; throws if the schedule's operations do not fit them.
    void tabulate(ValueTables tables);

    // Lets units with event mode handle their events together.
    void handle_events(std::unique_ptr<EventPhase> events);
    EventPhase* events() { return events_.get(); }

    // Where steps differ in length: see Read::share, one for each reading.
    void stretch_reads(const std::vector<double>& shares);
    void start(std::int64_t start_ns, std::int64_t step_ns);
    // Faults that act at the start: what inputs stay at, and what the past was. Initialising knows
    // no faults, so this comes last.
    void begin_faults();
    // Executes one line operation, also outside of a step while initialising. Returns -1, or the
    // row of a line that could not be read; unread() says why. Rows of tables of values count on
    // from those of readings.
    std::int32_t execute_lines(const Operation& operation);
    // Does up to `steps` steps, those of varying length up to `goal_ns`, which the last one meets;
    // writes a row of recorded signals after every `every`-th.
    Outcome run(std::int64_t steps, std::int64_t goal_ns);

    EngineState save();
    // Throws, and changes nothing, if the state does not fit this engine's tables.
    void restore(const EngineState& state);

    // All tables are checked when they are handed over: the loop itself checks nothing.
    void check(const Operation& operation) const;
    void record(std::vector<std::int32_t> slots, std::int64_t every);
    void attach(double* rows, std::int64_t* times, std::size_t capacity);
    void write_row();
    std::size_t rows() const { return rows_; }

    std::int64_t time_ns() const { return time_ns_; }
    std::int64_t done() const { return done_; }
    std::vector<double>& signals() { return signals_; }
    const char* unread() const { return unread_; }
    const std::vector<History>& histories() const { return histories_; }
    double get(std::int32_t slot) const { return signals_[static_cast<std::size_t>(slot)]; }
    const std::vector<std::unique_ptr<LoopSolver>>& loops() const { return loops_; }
    const StepControl& control() const { return *control_; }
    const Crew& crew() const { return *crew_; }

    // For loops and for the control of the step.

    // All operations from `time_ns` to `time_ns + step_ns`.
    Status sweep(std::int64_t time_ns, std::int64_t step_ns, Outcome& outcome);
    Status execute(std::size_t first, std::size_t end, Outcome& outcome);
    // One step of one unit, which may be in several threads at once for several units.
    Status advance(std::int32_t member, Outcome& outcome);
    const Unit& unit(std::int32_t member) const { return *members_[member].unit; }
    // What changes of signals at the end of a step the operations first..end - 1 make of those
    // that stand in tangent(): through the lines, and through the units' feed-through.
    Status differentiate(std::size_t first, std::size_t end, Outcome& outcome);
    std::vector<double>& tangent() { return tangent_; }
    // A unit that asks for the end of the run gets it: the step does not count.
    static Status wants_end(Outcome& outcome) {
        outcome.reason = "it asked for the end of the run";
        return Status::discard;
    }
    Status save_unit(std::int32_t member, std::size_t number, Outcome& outcome);
    Status restore_unit(std::int32_t member, std::size_t number, Outcome& outcome);
    // Keeps everything that a sweep changes, and goes back to it; all units but one, if it is
    // given.
    Status mark(Outcome& outcome);
    Status rewind(Outcome& outcome, std::int32_t but = -1);
    const std::vector<double>& begin() const { return begin_; }
    const std::vector<double>& before() const { return before_; }
    double stretch() const { return stretch_; }

    // For events.

    // The step just done counts: what it began with is what the next one extends from.
    void accept();
    // Sets inputs and steps from `begin` to `end`; gets the outputs if the step ends there.
    Status move(std::int32_t member, std::int64_t begin, std::int64_t end, Outcome& outcome);
    Status halves(const Operation& operation, Outcome& outcome);
    Status collect(const Member& member, Outcome& outcome);
    const std::vector<Member>& members() const { return members_; }
    const Copy& line(std::int32_t copy) const { return copies_[copy]; }
    // Whether the step ends on the grid, where the past is remembered.
    void remember(bool on_grid) { on_grid_ = on_grid; }
    // The values after the events are those of this moment; nothing is extended across a jump.
    void jump();
    // Signals that are set from outside have these values from this moment on.
    void renew(std::size_t first, const std::vector<double>& values);

  private:
    Status other_end(const Reached& reached, Outcome& outcome) const;
    std::int32_t disturb(const Operation& operation);
    void disturb_past(const Operation& operation);
    void pass_changes();
    void check_tables();
    void check_faults() const;
    void check_rule() const;
    std::vector<std::vector<double>*> memories();

    std::vector<Member>::iterator owner_of(const Read& line);

    std::vector<double> signals_;
    std::vector<double> slopes_;  // of inputs per second, at their places in the buffer
    std::vector<Member> members_;
    std::vector<History> histories_;
    std::vector<Copy> copies_;
    std::vector<Read> reads_;
    std::vector<Mix> mixes_;
    std::vector<std::unique_ptr<LoopSolver>> loops_;
    std::vector<Operation> operations_;
    std::unique_ptr<StepControl> control_;
    std::unique_ptr<Crew> crew_;
    std::unique_ptr<EventPhase> events_;
    Faults faults_;

    bool on_grid_ = true;
    bool remembers_ = false;      // whether the values at a step's begin are needed
    std::vector<double> begin_;   // signals at the begin of this step
    std::vector<double> before_;  // and of the one before, with its length at the end
    double stretch_ = 0.0;        // this step as a multiple of the one before
    std::int64_t last_ns_ = 0;    // length of the step before, 0 at the start
    // Steps of varying length after a fault began or ended: outputs jump in the first of them, so
    // neither that nor the next one extends what was before.
    std::int64_t settling_ = 0;
    std::vector<double> marked_signals_;
    std::vector<double> tangent_;
    std::vector<std::string> marked_texts_;
    std::vector<std::int64_t> marked_newest_;

    Texts texts_;
    ValueTables tables_;
    std::vector<std::int32_t> recorded_;
    const char* unread_ = "";
    std::int64_t every_ = 1;
    double* sink_ = nullptr;
    std::int64_t* times_ = nullptr;
    std::size_t capacity_ = 0;
    std::size_t rows_ = 0;

    std::int64_t time_ns_ = 0;  // reached by whole steps
    std::int64_t now_ns_ = 0;   // where the step in hand begins
    std::int64_t step_ns_ = 1;
    std::int64_t first_ns_ = 1;  // the step that shifts of readings are for
    std::int64_t done_ = 0;
};

}  // namespace softdock
