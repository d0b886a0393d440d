// A compiled system as the engine takes it: tables of plain rows.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/channel.hpp"
#include "core/compensation.hpp"
#include "core/fault.hpp"
#include "core/history.hpp"
#include "core/read.hpp"
#include "core/unit.hpp"

namespace softdock {

// One operation of a communication step. `first` and `count` select rows of the operation's table.
enum class Code : std::int32_t {
    copy = 0,              // signals[target] = factor * signals[source] + offset
    read = 1,              // the same from a history: see read.hpp
    step = 2,              // for units first..: set the inputs, step, get the outputs
    push = 3,              // append the newest value to histories
    interpolate_mean = 4,  // as copy, of a mean of the source's values at the step's ends
    extrapolate = 5,       // as copy, of what the source's last two values lead to
    solve = 6,             // the `count` operations that follow are the body of loop `first`
    text = 7,              // texts[target] = texts[source]
    first_half = 8,     // for units first..: set the inputs, step half as far; outputs come later
    second_half = 9,    // the same for the rest of the step, and get the outputs
    lookup = 10,        // signals become what tables of values say
    inject_fault = 11,  // on inputs and readings: see fault.hpp
    inject_sample_fault = 12,  // on the newest samples of histories
    compensate = 13,           // inputs, after their lines: see compensation.hpp
    correct = 14,              // outputs, after the step: see output_correction.hpp
    propose = 15,  // histories: the value at the end of the step as far as a loop has come; the
                   // push after the loop makes it count
};

// Done in every `every`-th step, counted from 0, where the rest of the division is `phase`.
struct Operation {
    Code code;
    std::int32_t first, count;
    std::int32_t every = 1, phase = 0;
};

struct Copy {
    std::int32_t source, target;
    double factor, offset;
};

// interpolate_mean: begin + weight * (now - begin); extrapolate: now + weight * (change per step
// before) * step.
struct Mix {
    std::int32_t source, target;
    double weight, factor, offset;
};

struct Member {
    Unit* unit;
    std::size_t inputs, outputs;  // where its segments begin in the buffer
    std::int32_t ticks = 1;       // communication steps that one step of this unit takes
    int order = 0;                // of the derivatives that its inputs have within a step
    bool joins = false;           // what steps the unit before it steps it too: Unit::advance_row
};

// The past of one signal: see history.hpp. The channel is a row of those, or -1.
struct HistoryRow {
    std::uint32_t slot, depth;
    Interpolation interpolation;
    Extrapolation extrapolation;
    std::int32_t channel;
};

// Operations that are repeated until the outputs that they start from are those they give.
struct Loop {
    enum class Method : std::int32_t {
        fixed_point = 0,
        aitken = 1,
        anderson = 2,
        newton = 3,                // by differences through the whole step
        newton_by_derivatives = 4  // by those that units give, while they do
    };
    Method method;
    double tolerance;  // of every unknown, relative to its size or 1, whichever is larger
    std::int32_t most_iterations;
    std::vector<std::int32_t> unknowns;  // slots
    std::vector<std::int32_t> discrete;  // slots that must come out as they went in
    std::vector<std::int32_t> members;   // that go back to the step's begin for every iteration
    std::vector<std::string> sources;    // names of the unknowns, of the discrete ones, of texts
    std::vector<std::int32_t> texts;     // rows of texts that must come out as they went in
};

// How long the steps are where that is not fixed.
struct Rule {
    enum class Method : std::int32_t { fixed = 0, doubling = 1, embedded = 2, ecco = 3 };
    Method method = Method::fixed;
    double relative = 0.0, absolute = 0.0;  // tolerances
    std::int32_t order = 1;                 // of the error of one step of the schedule, less one
    std::int64_t least_ns = 1, most_ns = 1, first_ns = 1;
    std::vector<std::int32_t> checked;  // slots whose error is kept below the tolerances
    // Two slots each, the product of which is a power that goes from one unit to another.
    std::vector<std::pair<std::int32_t, std::int32_t>> bonds;
};

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

// The exchange of values at the start.
struct InitialTable {
    std::int32_t passes = 1;               // at most, until all signals are consistent
    std::vector<std::int32_t> read_early;  // members that a pass reads before it comes to them
    std::int32_t first_held_back = 0;      // copies that are made in event mode only
    std::int32_t held_back = 0;
};

struct Schedule {
    std::size_t signals = 0;  // length of their buffer
    std::vector<Member> members;
    std::vector<Channel> channels;
    std::vector<HistoryRow> histories;
    std::vector<Copy> copies;
    std::vector<Read> reads;
    std::vector<Mix> mixes;
    std::vector<Loop> loops;
    std::vector<Operation> operations;
    Rule rule;
    std::vector<Fault> faults;
    std::vector<Compensation> compensations;
};

}  // namespace softdock
