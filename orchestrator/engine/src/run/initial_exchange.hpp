// Consistent signals at the start of a run: values are exchanged until nothing changes.
#pragma once

#include <cstdint>
#include <vector>

#include "run/engine.hpp"

namespace softdock {

// Moves values between the buffer of signals and the members' units, in initialisation mode. Each
// call returns whether the unit did it; the implementation keeps the reason of a refusal.
class InitialUnits {
  public:
    virtual ~InitialUnits() = default;
    // Sets the inputs, and reads the outputs that follow from them.
    virtual bool evaluate(std::size_t member) = 0;
    // Reads the outputs that follow from the inputs that the unit has now.
    virtual bool initialise(std::size_t member) = 0;
    // Reads the outputs as they are.
    virtual bool read(std::size_t member) = 0;
};

struct InitialResult {
    bool settled = true;       // whether the exchange came to its end
    bool exchanged = false;    // whether there was anything to exchange
    std::int32_t unread = -1;  // row of a line that could not be read in the last pass
    std::int32_t loop = -1;    // that has no solution; -1: a unit refused a call
    // Of the loop.
    std::int32_t iterations = 0;
    std::vector<double> residual;
};

class InitialExchange {
  public:
    InitialExchange(Engine& engine, const InitialTable& table, InitialUnits& units,
                    std::int64_t start_ns, std::int64_t step_ns)
        : engine_(engine), table_(table), units_(units), start_ns_(start_ns), step_ns_(step_ns) {}

    // From zeros until nothing changes.
    InitialResult run();
    // What units have as outputs once they have exited their initialisation.
    InitialResult follow();
    // What events of several units changed of what the signals were before them.
    InitialResult follow_events(const std::vector<double>& before);

  private:
    using Numbers = std::vector<double>;
    // The loop in hand: its table, and the operations of its body.
    struct Body {
        const Loop& loop;
        std::size_t first, end;
    };
    struct Values {
        std::vector<double> numbers;
        std::vector<std::string> texts;
    };

    template <class Part>
    InitialResult guarded(const Part& part);
    void settle(bool past_events);
    void pass(std::size_t first, std::size_t end);
    void lines(const Operation& operation);
    void solve(std::size_t number, std::size_t first, std::size_t end);
    Numbers pass_from(const Body& body, const Numbers& x);
    // What comes out of the pass from there; no numbers where a unit is not defined.
    Numbers tried(const Body& body, const Numbers& x);
    bool newton_step(const Body& body, const Numbers& x, const Numbers& residual, Numbers& step);
    void shorten(const Body& body, Numbers& x, Numbers& image, const Numbers& step,
                 const Numbers& residual);
    Values discrete(const Loop& loop);

    Values values() const { return {engine_.context().signals, engine_.context().texts.buffer()}; }
    static bool same(const Values& one, const Values& other);

    Engine& engine_;
    const InitialTable& table_;
    InitialUnits& units_;
    const std::int64_t start_ns_, step_ns_;
    InitialResult result_;
};

}  // namespace softdock
