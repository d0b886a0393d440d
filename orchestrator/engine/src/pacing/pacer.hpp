// Keeps the steps of a run to a clock: waits for their moments, sees which end too late, and what
// then. It allocates nothing while it does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/unit_costs.hpp"
#include "pacing/latency_histogram.hpp"
#include "pacing/step_clock.hpp"

namespace softdock {

// What follows an overrun: the next steps hurry, or all moments become later, or so many in a row
// end the run.
enum class OverrunPolicy : int { catch_up = 0, slip = 1, stop = 2 };

struct PaceRules {
    double factor = 1.0;  // simulated time over wall time
    OverrunPolicy policy = OverrunPolicy::catch_up;
    std::int64_t most_overruns = 1;             // in a row, that end the run
    std::int64_t step_budget_ns = 0;            // computing time of a step; 0: no such limit
    std::vector<std::int64_t> unit_budgets_ns;  // and of each unit in it
    std::size_t kept = 0;                       // overruns that are kept: the latest
};

struct Overrun {
    std::int64_t step = 0, time_ns = 0;  // that was done, from this time of the simulation on
    std::int64_t late_ns = 0;            // behind its deadline; below 0: before it
    std::int64_t woken_ns = 0;           // behind the moment at which it was to begin
    std::int64_t computed_ns = 0;
    std::int32_t unit = -1;  // most over its budget, else that with the longest computing time
    std::int64_t unit_ns = 0;
    bool late = false, over_budget = false, unit_over_budget = false;
};

class Pacer {
  public:
    enum class End { none, interrupted, silent, overrun };

    // The rules have a budget for each unit.
    Pacer(PaceRules rules, StepClock& clock);

    // What stands at this time of the simulation is due now. What was counted stays.
    void start(std::int64_t time_ns);
    // Waits for the moment of a step that begins at this time; false: it must not begin.
    bool begin_step(std::int64_t time_ns);
    // A step is done; false: no other may begin.
    bool end_step(std::int64_t step, std::int64_t begin_ns, std::int64_t end_ns);

    UnitCosts& costs() { return costs_; }
    // Why begin_step() or end_step() said no.
    End end() const { return end_; }
    const PaceRules& rules() const { return rules_; }
    StepClock& clock() { return clock_; }
    std::int64_t overruns() const { return overruns_; }
    std::int64_t longest_row() const { return longest_row_; }
    std::int64_t slipped_ns() const { return slipped_ns_; }
    // The overruns that are kept, the first first.
    std::vector<Overrun> listed() const;
    // How late steps began, their computing time, what was left until their deadline, or lacking.
    const LatencyHistogram& wake() const { return wake_; }
    const LatencyHistogram& computing() const { return computing_; }
    const LatencyHistogram& slack() const { return slack_; }
    const LatencyHistogram& lateness() const { return lateness_; }
    const std::vector<LatencyHistogram>& units() const { return units_; }

    // What is told after each step, to whoever reads the memory meanwhile.
    struct Told {
        std::int64_t overruns = 0, late_ns = 0, computed_ns = 0;  // late and computing: of the step
        std::int64_t longest_late_ns = 0;
    };
    // Lets every step be told here, from the next on; null: to nobody.
    void tell(Told* told) { told_ = told; }

    // Lets somebody else end a piece of the run: a count in memory that is shared with them, which
    // is looked at before each step; null: nobody.
    void listen(const std::int64_t* asked) { asked_ = asked; }

    // Counts signals from here on; a run of steps makes one.
    void watch(const SignalWatch* signals) { signals_ = signals; }

  private:
    bool is_asked();
    std::int64_t offset_ns(std::int64_t time_ns) const;
    void blame_unit(Overrun& overrun);
    void note(const Overrun& overrun);

    PaceRules rules_;
    StepClock& clock_;
    UnitCosts costs_;
    LatencyHistogram wake_, computing_, slack_, lateness_;
    std::vector<LatencyHistogram> units_;
    std::vector<Overrun> ring_;
    std::int64_t overruns_ = 0, in_row_ = 0, longest_row_ = 0, slipped_ns_ = 0;
    std::int64_t start_ns_ = 0;                 // of the simulation, where the clock's offset is 0
    std::int64_t begun_ns_ = 0, woken_ns_ = 0;  // of the step in hand
    const SignalWatch* signals_ = nullptr;
    Told* told_ = nullptr;
    const std::int64_t* asked_ = nullptr;
    std::int64_t heard_ = 0;  // that count when it was looked at last
    End end_ = End::none;
};

}  // namespace softdock
