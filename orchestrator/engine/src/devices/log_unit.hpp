// A recording in the place of a component: its outputs as they were, its inputs compared.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/unit.hpp"

namespace softdock {

// What was recorded of a component, row by row; a row of an input is what it was held at in the
// step that ended then.
struct Log {
    std::vector<std::int64_t> times_ns;  // increasing
    std::size_t columns = 0;
    std::vector<double> values;  // rows x columns
    std::vector<bool> held;      // by column: between two rows the one before holds, else linear
};

// How far an input was from the recording, at most.
struct LogDifference {
    double most = 0.0;
    std::int64_t time_ns = 0;  // end of the step in which it was
    std::uint64_t steps = 0;   // that differed at all
};

class LogUnit final : public Unit {
  public:
    static constexpr std::int64_t unrecorded = -1;

    // Throws if its parts do not fit together.
    LogUnit(std::string name, Log log);
    // The columns of inputs, or `unrecorded`, and those of outputs.
    void bind(std::vector<std::int64_t> inputs, std::vector<std::int64_t> outputs);
    // Goes to the start of a run, where nothing is compared.
    Status begin(std::int64_t time_ns);

    const std::vector<LogDifference>& differences() const { return now_.differences; }
    // Steps that ended between two rows, and those that were compared.
    std::uint64_t interpolated() const { return now_.interpolated; }
    std::uint64_t compared() const { return now_.compared; }

    Status set_inputs(const double* values) override;
    Status step(std::int64_t time_ns, std::int64_t step_ns) override;
    Status get_outputs(double* values) override;
    bool can_roll_back() const override { return true; }
    Status save(std::size_t number) override;
    Status restore(std::size_t number) override;

  private:
    struct State {
        std::size_t row = 0;  // the last one that is not after the present time
        double weight = 0.0;  // of the row after it
        std::uint64_t interpolated = 0, compared = 0;
        std::vector<LogDifference> differences;
    };

    Status go(std::int64_t time_ns);
    double value(std::int64_t column) const;
    void compare(std::int64_t time_ns);

    Log log_;
    std::vector<std::int64_t> inputs_, outputs_;
    std::vector<double> given_;
    State now_;
    std::vector<State> kept_;
};

}  // namespace softdock
