// Executes a compiled Schedule: plain tables of operations on one buffer of signals.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "history.hpp"
#include "texts.hpp"
#include "unit.hpp"

namespace softdock {

// One operation of a communication step. `first` and `count` select rows of the operation's table.
enum class Code : std::int32_t {
    copy = 0,  // signals[target] = factor * signals[source] + offset
    read = 1,  // the same from a history, at the step's time plus the line's shift
    step = 2,  // set the inputs of unit `first`, step it, get its outputs
    push = 3,  // append the newest value to histories
    text = 4,  // texts[target] = texts[source]
};

struct Operation {
    Code code;
    std::int32_t first, count;
};

struct Copy {
    std::int32_t source, target;
    double factor, offset;
};

struct Read {
    std::int32_t history, target;
    std::int64_t shift_ns;
    double factor, offset;
};

struct Member {
    Unit* unit;
    std::size_t inputs, outputs;  // where its segments begin in the buffer
};

struct Outcome {
    std::int64_t steps = 0;      // whole communication steps that were done
    Status status = Status::ok;  // of the unit that ended the run, else ok
    int unit = -1;               // index of that unit
    std::string reason;
};

// Everything of the engine that a step changes; rows of recorded signals are the caller's.
struct EngineState {
    std::int64_t done = 0;
    std::vector<double> signals;
    std::vector<std::int64_t> newest;  // one for each history
    std::vector<double> samples;       // of all histories, one ring after the other
};

class Engine {
  public:
    Engine(std::size_t signals, std::vector<Member> members, std::vector<History> histories,
           std::vector<Copy> copies, std::vector<Read> reads, std::vector<Operation> operations);

    // Adds the signals that are no numbers; throws if the schedule's operations do not fit them.
    void carry(Texts texts);
    Texts& texts() { return texts_; }
    // Reads the text outputs of all units anew: after they went back to a state.
    Status read_texts();

    void start(std::int64_t start_ns, std::int64_t step_ns);
    // Executes one line operation outside of a step: used while initialising.
    void execute_lines(const Operation& operation);
    // Does up to `steps` steps; writes a row of recorded signals after every `every`-th.
    Outcome run(std::int64_t steps);

    EngineState save();
    // Throws, and changes nothing, if the state does not fit this engine's tables.
    void restore(const EngineState& state);

    // All tables are checked when they are handed over: the loop itself checks nothing.
    void check(const Operation& operation) const;
    void record(std::vector<std::int32_t> slots, std::int64_t every);
    void attach(double* rows, std::size_t capacity);
    void write_row();
    std::size_t rows() const { return rows_; }

    std::int64_t time_ns() const { return start_ns_ + done_ * step_ns_; }
    std::vector<double>& signals() { return signals_; }

  private:
    Status advance(const Operation& operation, Outcome& outcome);
    Status collect(const Member& member, Outcome& outcome);

    std::vector<double> signals_;
    std::vector<Member> members_;
    std::vector<History> histories_;
    std::vector<Copy> copies_;
    std::vector<Read> reads_;
    std::vector<Operation> operations_;
    Texts texts_;
    std::vector<std::int32_t> recorded_;
    std::int64_t every_ = 1;
    double* sink_ = nullptr;
    std::size_t capacity_ = 0;
    std::size_t rows_ = 0;
    std::int64_t start_ns_ = 0;
    std::int64_t step_ns_ = 1;
    std::int64_t done_ = 0;
};

}  // namespace softdock
