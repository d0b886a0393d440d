// A compiled system as the engine takes it: tables of plain rows.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "read.hpp"
#include "unit.hpp"

namespace softdock {

// One operation of a communication step. `first` and `count` select rows of the operation's table.
enum class Code : std::int32_t {
    copy = 0,           // signals[target] = factor * signals[source] + offset
    read = 1,           // the same from a history: see read.hpp
    step = 2,           // for units first..: set the inputs, step, get the outputs
    push = 3,           // append the newest value to histories
    blend = 4,          // the same as copy, of a mean of the source's values at the step's ends
    extend = 5,         // the same as copy, of what the source's last two values lead to
    solve = 6,          // the `count` operations that follow are the body of loop `first`
    text = 7,           // texts[target] = texts[source]
    first_half = 8,     // for units first..: set the inputs, step half as far; outputs come later
    second_half = 9,    // the same for the rest of the step, and get the outputs
    tabulate = 10,      // signals become what tables say of their values
    disturb = 11,       // let faults act on inputs and readings: see fault.hpp
    disturb_past = 12,  // let faults act on the newest samples of histories
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

// blend: begin + weight * (now - begin); extend: now + weight * (change per step before) * step.
struct Mix {
    std::int32_t source, target;
    double weight, factor, offset;
};

struct Member {
    Unit* unit;
    std::size_t inputs, outputs;  // where its segments begin in the buffer
    std::int32_t ticks = 1;       // communication steps that one step of this unit takes
    bool sloped = false;          // its inputs have slopes within a step
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

}  // namespace softdock
