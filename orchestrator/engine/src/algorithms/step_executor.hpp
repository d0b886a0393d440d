// Executes the operations of a communication step, and can do a step again.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/loop_solver.hpp"
#include "core/context.hpp"
#include "core/outcome.hpp"
#include "core/parallel_stepper.hpp"

namespace softdock {

class StepExecutor {
  public:
    // The context's tables are complete but for texts and tables of values. At most so many
    // threads; 0: as many as there are processors.
    StepExecutor(Context& context, const std::vector<Loop>& loops, std::size_t threads);

    Context& context() { return context_; }
    const Context& context() const { return context_; }
    const std::vector<std::unique_ptr<LoopSolver>>& loops() const { return loops_; }
    const ParallelStepper& stepper() const { return stepper_; }

    // All operations from `time_ns` to `time_ns + step_ns`.
    Status execute_step(std::int64_t time_ns, std::int64_t step_ns, Outcome& outcome);
    // The operations first..end - 1 of the step in hand.
    Status execute(std::size_t first, std::size_t end, Outcome& outcome);

    // Keeps everything that a step changes, and goes back to it; all units but one, if it is given.
    Status save(Outcome& outcome);
    Status restore(Outcome& outcome, std::int32_t but = -1);

  private:
    Status execute(std::size_t first, std::size_t end, const FloatWatch& watch, Outcome& outcome);

    Context& context_;
    std::vector<std::unique_ptr<LoopSolver>> loops_;
    ParallelStepper stepper_;
    // What the units do not keep themselves.
    std::vector<double> saved_signals_;
    std::vector<std::string> saved_texts_;
    std::vector<std::int64_t> saved_newest_;
};

}  // namespace softdock
