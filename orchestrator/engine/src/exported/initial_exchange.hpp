// Consistent signals at the start of an exported system: what master/run/assembly.py does.
#pragma once

#include <cstdint>
#include <vector>

#include "exported/tables.hpp"
#include "run/engine.hpp"

namespace softdock {

class InitialExchange {
  public:
    // `units` are those of the members, in initialisation mode.
    InitialExchange(const SystemTables& tables, Engine& engine, std::vector<Unit*> units)
        : tables_(tables), engine_(engine), units_(std::move(units)) {}

    // Exchanges until nothing changes. Throws std::runtime_error if a unit fails, a loop has no
    // solution, or a signal is not finite in the end.
    void run(std::int64_t start_ns);
    // What units have as outputs once they have exited their initialisation.
    void follow(std::int64_t start_ns);
    // What events of several units changed of what signals were before them.
    void follow_events(std::int64_t start_ns, const std::vector<double>& before);

  private:
    using Numbers = std::vector<double>;

    void settle(bool past_events);

    void pass(std::size_t first, std::size_t end);
    void lines(const Operation& operation);
    void evaluate(std::int32_t member);
    void read_outputs(std::size_t number);
    void solve(std::size_t loop, std::size_t first, std::size_t end);
    // Whether the pass from there could be done; `image` is what came out, else no numbers.
    bool tried(const Numbers& x, Numbers& image);
    Numbers pass_from(const Numbers& x);
    bool newton_step(const Numbers& x, const Numbers& residual, Numbers& step);
    void shorten(Numbers& x, Numbers& image, const Numbers& step, const Numbers& residual);
    [[noreturn]] void give_up(const Numbers& residual) const;
    void expect_sound() const;

    const SystemTables& tables_;
    Engine& engine_;
    std::vector<Unit*> units_;
    std::int64_t start_ns_ = 0;
    std::int32_t unread_ = -1;  // row of a line that could not be read in the last pass
    // The loop in hand.
    std::size_t loop_ = 0, first_ = 0, end_ = 0;
};

}  // namespace softdock
