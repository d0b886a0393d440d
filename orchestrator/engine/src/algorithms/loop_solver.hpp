// Iterates the body of a loop until it gives the outputs that it was started from.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/context.hpp"
#include "core/outcome.hpp"

namespace softdock {

class StepExecutor;

class LoopSolver {
  public:
    LoopSolver(Loop loop, std::int32_t number);
    virtual ~LoopSolver() = default;

    // The body is the operations first..end - 1 of the step. Begins with the values that stand in
    // the unknowns' slots, and leaves them, the units and all signals of the body at the end of the
    // step.
    Status solve(StepExecutor& executor, std::size_t first, std::size_t end, Outcome& outcome);

    const Loop& loop() const { return loop_; }
    // Of the last evaluation, one for each unknown.
    const std::vector<double>& residual() const { return residual_; }
    // Evaluations of the body in all steps so far, and the most in one of them.
    std::int64_t evaluations() const { return evaluations_; }
    std::int64_t worst() const { return worst_; }
    // Of the last step, without those for derivatives only.
    std::int64_t here() const { return here_ - uncounted_; }
    // What goes from one step to the next.
    std::vector<double>& memory() { return memory_; }

  protected:
    // Finds x with body(x) = x, from x_ on; ends with the body evaluated.
    virtual Status iterate(Outcome& outcome) = 0;

    // g_ = body(x), from the begin of the step; residual_ = g_ - x.
    Status evaluate(const std::vector<double>& x, Outcome& outcome);
    // The change of body(x) with one of the x, where x was evaluated last, by the units'
    // derivatives.
    Status differentiate(std::size_t unknown, std::vector<double>& change, Outcome& outcome);
    // The largest residual in tolerances: converged where it is at most 1.
    double excess() const;
    bool exhausted() const { return here_ - uncounted_ >= loop_.most_iterations; }
    // Whether a failed evaluation says something of the point alone: then it is forgotten, and
    // another point may be tried.
    bool forgive(Status status, Outcome& outcome) const;
    Status give_up(Outcome& outcome) const;
    std::size_t size() const { return loop_.unknowns.size(); }

    Loop loop_;
    std::vector<double> x_, g_, residual_, memory_;
    std::int64_t uncounted_ = 0;  // evaluations of this step for derivatives only

  private:
    bool forgivable(Status status, const Outcome& outcome) const;

    std::int32_t number_;
    std::vector<double> discrete_;
    std::vector<std::string> texts_;
    bool changed_ = false;  // a discrete output, or a text, did not come out as it went in
    std::size_t first_ = 0, end_ = 0;
    StepExecutor* executor_ = nullptr;
    std::int64_t here_ = 0, evaluations_ = 0, worst_ = 0;
};

std::unique_ptr<LoopSolver> make_fixed_point(const Loop& loop, std::int32_t number);
std::unique_ptr<LoopSolver> make_newton(const Loop& loop, std::int32_t number);

}  // namespace softdock
