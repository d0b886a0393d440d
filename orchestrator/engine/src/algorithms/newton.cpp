// Newton's method on the interface: x with body(x) = x.
//
// The Jacobian of the residual is made by finite differences through the whole step (each column is
// one evaluation from the step's begin) or of directional derivatives of the units, kept from step
// to step, and corrected after every iteration by Broyden's update (1965). It is made anew, by
// differences, where the residual falls by less than half.
#include <algorithm>
#include <cmath>
#include <utility>

#include "algorithms/elimination.hpp"
#include "algorithms/loop_solver.hpp"

namespace softdock {

namespace {

constexpr int most_halvings = 6;  // of a step that makes the residual grow

class Newton final : public LoopSolver {
  public:
    Newton(const Loop& loop, std::int32_t number)
        : LoopSolver(loop, number),
          factors_(size() * size()),
          step_(size()),
          there_(size()),
          base_(size()),
          values_(size()) {
        // The Jacobian, whether it is made by differences from now on, and whether there is one.
        memory_.assign(size() * size() + 2, 0.0);
    }

  private:
    Status iterate(Outcome& outcome) override {
        auto status = evaluate(x_, outcome);
        if (failed(status)) return status;
        double before = excess();
        bool fresh = false;
        while (excess() > 1.0) {
            if (exhausted()) return give_up(outcome);
            if (!memory_.back()) {
                fresh = !by_derivatives();
                status = fresh ? differences(outcome) : derivatives(outcome);
                if (failed(status)) return status;
            }
            if (!direction()) {
                if (fresh) return give_up(outcome);
                renew();
                continue;
            }
            status = go(before, outcome);
            if (failed(status)) return status;
            const double now = excess();
            // A kept Jacobian that does not help is made anew; a fresh one is corrected.
            if (now > 0.5 * before && now > 1.0 && !fresh) renew();
            fresh = false;
            before = now;
        }
        return Status::ok;
    }

    // Along the step, half as far while the residual grows or a unit refuses the point.
    Status go(double before, Outcome& outcome) {
        base_ = residual_;
        double part = 1.0;
        for (int halving = 0;; ++halving) {
            for (std::size_t i = 0; i < size(); ++i) there_[i] = x_[i] + part * step_[i];
            const auto status = evaluate(there_, outcome);
            if (!failed(status)) {
                const bool enough = excess() <= std::max(1.0, 1.5 * before);
                if (enough || halving >= most_halvings || exhausted()) break;
            } else if (exhausted() || !forgive(status, outcome)) {
                return status;
            }
            part *= 0.5;
        }
        update(part);
        x_ = there_;
        return Status::ok;
    }

    double& jacobian(std::size_t row, std::size_t column) { return memory_[row * size() + column]; }

    // J += (change of residual - J s) s' / (s' s), with s = part * step_.
    void update(double part) {
        double square = 0.0;
        for (const double value : step_) square += part * part * value * value;
        if (square == 0.0) return;
        for (std::size_t i = 0; i < size(); ++i) {
            double miss = residual_[i] - base_[i];
            for (std::size_t k = 0; k < size(); ++k) miss -= jacobian(i, k) * part * step_[k];
            for (std::size_t k = 0; k < size(); ++k) {
                jacobian(i, k) += miss * part * step_[k] / square;
            }
        }
    }

    // Units tell what an input does at once, not what it does through a state during the step.
    // Where that is not enough, differences are taken for good.
    bool by_derivatives() const {
        return loop_.method == Loop::Method::newton_by_derivatives &&
               memory_[memory_.size() - 2] == 0.0;
    }

    void renew() {
        memory_[memory_.size() - 2] = 1.0;
        memory_.back() = 0.0;
    }

    Status derivatives(Outcome& outcome) {
        for (std::size_t k = 0; k < size(); ++k) {
            const auto status = LoopSolver::differentiate(k, base_, outcome);
            if (failed(status)) return status;
            for (std::size_t i = 0; i < size(); ++i) {
                jacobian(i, k) = i == k ? base_[i] - 1.0 : base_[i];
            }
        }
        memory_.back() = 1.0;
        return Status::ok;
    }

    // The residual at x_ is known; ends with the body evaluated elsewhere, but residual_ at x_.
    Status differences(Outcome& outcome) {
        base_ = residual_;
        values_ = g_;
        there_ = x_;
        for (std::size_t k = 0; k < size(); ++k) {
            const double change = perturbation * std::max(1.0, std::fabs(x_[k]));
            there_[k] = x_[k] + change;
            ++uncounted_;
            auto status = evaluate(there_, outcome);
            if (failed(status) && forgive(status, outcome)) {  // the edge of where it is defined
                there_[k] = x_[k] - change;
                ++uncounted_;
                status = evaluate(there_, outcome);
            }
            if (failed(status)) return status;
            for (std::size_t i = 0; i < size(); ++i) {
                jacobian(i, k) = (residual_[i] - base_[i]) / (there_[k] - x_[k]);
            }
            there_[k] = x_[k];
        }
        residual_ = base_;
        g_ = values_;
        memory_.back() = 1.0;
        return Status::ok;
    }

    // step_ = -J^-1 residual_; false where J is singular.
    bool direction() {
        std::copy_n(memory_.begin(), factors_.size(), factors_.begin());
        for (std::size_t i = 0; i < size(); ++i) step_[i] = -residual_[i];
        return eliminate(factors_, step_);
    }

    std::vector<double> factors_;
    std::vector<double> step_, there_, base_, values_;
};

}  // namespace

std::unique_ptr<LoopSolver> make_newton(const Loop& loop, std::int32_t number) {
    return std::make_unique<Newton>(loop, number);
}

}  // namespace softdock
