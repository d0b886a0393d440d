// What a step works on: the tables of a schedule, all values, and where in time the step is. It
// knows nothing of how steps are chosen, repeated or iterated.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/fault.hpp"
#include "core/history.hpp"
#include "core/schedule.hpp"
#include "core/texts.hpp"
#include "core/unit_costs.hpp"
#include "core/value_tables.hpp"

namespace softdock {

// To the bit: 0.0 and -0.0 are two values.
inline bool is_same(double one, double other) { return std::memcmp(&one, &other, sizeof one) == 0; }

struct Context {
    // Takes the tables of a schedule but those of loops and steps.
    explicit Context(Schedule& schedule);

    // Begins at a time with the signals that stand in the buffer.
    void start(std::int64_t start_ns, std::int64_t length_ns);
    // The operations that follow are those of a step.
    void begin_step(std::int64_t time_ns, std::int64_t length_ns);
    // By how much so many steps are longer than whole ones, rounded; halves up.
    std::int64_t rest_ns(std::int64_t count) const;
    // Length of the next step on the grid.
    std::int64_t next_length(std::int64_t whole_ns) const;
    // The step just done counts: what it began with is what the next one extrapolates from.
    void accept_step();
    // The values after events are those of this moment; nothing is extrapolated across a jump.
    void reset_extrapolation();
    // Signals from `first` on that are set from outside have these values from this moment on.
    void set_external(std::size_t first, const std::vector<double>& values);

    double get(std::int32_t slot) const { return signals[static_cast<std::size_t>(slot)]; }

    // The tables of the schedule.
    std::vector<Member> members;
    std::vector<History> histories;
    std::vector<Copy> copies;
    std::vector<Read> reads;
    std::vector<Mix> mixes;
    std::vector<Compensation> compensations;
    std::vector<Operation> operations;
    Faults faults;
    Texts texts;
    ValueTables tables;

    std::vector<double> signals;
    // Of inputs, at their places in the buffer; one buffer after the other for each order.
    std::vector<double> derivatives;
    std::vector<double> begin;      // signals at the begin of this step
    std::vector<double> before;     // and of the one before, with its length at the end
    std::vector<double> tangent;    // changes of signals, for derivatives
    bool remembers = false;         // whether the values at a step's begin are needed
    std::atomic<bool> ends{false};  // whether a unit that did its step wants the run to end
    const char* read_error = "";    // why the last line that could not be read could not

    std::int64_t now_ns = 0;  // where the step in hand begins
    std::int64_t step_ns = 1;
    std::int64_t first_ns = 1;  // the step that shifts of readings are for
    std::int64_t last_ns = 0;   // length of the step before, 0 at the start
    double step_ratio = 0.0;    // this step as a multiple of the one before
    std::int64_t done = 0;      // steps
    // What each step is longer than `first_ns`, in ns, on a grid whose points are rounded.
    std::int64_t rest_numerator = 0, rest_denominator = 1;
    // Steps of varying length after a fault began or ended: outputs jump in the first of them, so
    // neither that nor the next one extrapolates what was before.
    std::int64_t settling = 0;
    bool on_grid = true;               // whether the step ends where the past is remembered
    bool allows_early_return = false;  // of units
    // Whether the whole floating-point mode is read after each unit: since it was found changed in
    // a way that arithmetic does not show.
    bool reads_modes = false;
    UnitCosts* costs = nullptr;  // where the steps of units are timed, if they are
};

}  // namespace softdock
