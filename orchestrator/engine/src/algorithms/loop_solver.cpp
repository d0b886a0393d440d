#include "algorithms/loop_solver.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "algorithms/step_executor.hpp"
#include "algorithms/tangent.hpp"
#include "core/unit_steps.hpp"

namespace softdock {

LoopSolver::LoopSolver(Loop loop, std::int32_t number)
    : loop_(std::move(loop)),
      x_(size()),
      g_(size()),
      residual_(size()),
      number_(number),
      discrete_(loop_.discrete.size()),
      texts_(loop_.texts.size()) {}

Status LoopSolver::solve(StepExecutor& executor, std::size_t first, std::size_t end,
                         Outcome& outcome) {
    executor_ = &executor;
    const auto& context = executor.context();
    first_ = first;
    end_ = end;
    here_ = uncounted_ = 0;
    for (const auto member : loop_.members) {
        const auto status = save_unit(context, member, 0, outcome);
        if (failed(status)) return status;
    }
    for (std::size_t i = 0; i < size(); ++i) x_[i] = context.get(loop_.unknowns[i]);
    for (std::size_t i = 0; i < discrete_.size(); ++i)
        discrete_[i] = context.get(loop_.discrete[i]);
    for (std::size_t i = 0; i < texts_.size(); ++i)
        texts_[i] = context.texts.buffer()[loop_.texts[i]];
    const auto status = iterate(outcome);
    // Units did the step once, from where it began: what fails later is the iteration.
    if (failed(status) && here_ > 1 && forgivable(status, outcome)) outcome.loop = number_;
    evaluations_ += here_;
    worst_ = std::max(worst_, here_);
    return status;
}

Status LoopSolver::evaluate(const std::vector<double>& x, Outcome& outcome) {
    if (here_ > 0) {
        for (const auto member : loop_.members) {
            const auto status = restore_unit(executor_->context(), member, 0, outcome);
            if (failed(status)) return status;
        }
    }
    ++here_;
    auto& signals = executor_->context().signals;
    for (std::size_t i = 0; i < size(); ++i) signals[loop_.unknowns[i]] = x[i];
    for (std::size_t i = 0; i < discrete_.size(); ++i) signals[loop_.discrete[i]] = discrete_[i];
    auto& texts = executor_->context().texts.buffer();
    for (std::size_t i = 0; i < texts_.size(); ++i) texts[loop_.texts[i]] = texts_[i];
    const auto status = executor_->execute(first_, end_, outcome);
    if (failed(status)) return status;
    changed_ = false;
    for (std::size_t i = 0; i < discrete_.size(); ++i) {
        const double found = signals[loop_.discrete[i]];
        changed_ = changed_ || found != discrete_[i];
        discrete_[i] = found;
    }
    for (std::size_t i = 0; i < texts_.size(); ++i) {
        changed_ = changed_ || texts[loop_.texts[i]] != texts_[i];
        texts_[i] = texts[loop_.texts[i]];
    }
    for (std::size_t i = 0; i < size(); ++i) {
        g_[i] = signals[loop_.unknowns[i]];
        residual_[i] = g_[i] - x[i];
    }
    return Status::ok;
}

Status LoopSolver::differentiate(std::size_t unknown, std::vector<double>& change,
                                 Outcome& outcome) {
    auto& tangent = executor_->context().tangent;
    std::fill(tangent.begin(), tangent.end(), 0.0);
    tangent[loop_.unknowns[unknown]] = 1.0;
    const auto status = softdock::differentiate(executor_->context(), first_, end_, outcome);
    for (std::size_t i = 0; i < size(); ++i) change[i] = tangent[loop_.unknowns[i]];
    return status;
}

double LoopSolver::excess() const {
    double largest = changed_ ? 2.0 : 0.0;
    for (std::size_t i = 0; i < size(); ++i) {
        const double allowed = loop_.tolerance * std::max(1.0, std::fabs(g_[i]));
        largest = std::max(largest, std::fabs(residual_[i]) / allowed);
    }
    return largest;
}

bool LoopSolver::forgivable(Status status, const Outcome& outcome) const {
    return status != Status::fatal && outcome.unit >= 0 &&
           !executor_->context().members[outcome.unit].unit->interrupted();
}

bool LoopSolver::forgive(Status status, Outcome& outcome) const {
    if (!forgivable(status, outcome)) return false;
    outcome.unit = -1;
    outcome.failure.clear();
    return true;
}

Status LoopSolver::give_up(Outcome& outcome) const {
    outcome.loop = number_;
    return Status::discard;  // a shorter step may have a solution
}

}  // namespace softdock
