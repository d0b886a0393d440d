// Fixed-point iteration: plain, with Aitken's relaxation, or with Anderson's mixing.
//
// Aitken: the relaxation of the vector form, Irons and Tuck 1969. Anderson: D. G. Anderson 1965, in
// the form of Walker and Ni 2011 (10.1137/10078356X): the residuals' differences of the last few
// iterations are combined, by least squares, to the smallest residual.
#include <algorithm>
#include <cmath>

#include "algorithms/loop_solver.hpp"

namespace softdock {

namespace {

// Of a step over the residual, squared: what least_pivot is to Newton's method.
constexpr double most_jump = 1e16;
constexpr std::size_t deepest = 5;  // iterations that Anderson's mixing looks back

double dot(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

class FixedPoint final : public LoopSolver {
  public:
    FixedPoint(const Loop& loop, std::int32_t number)
        : LoopSolver(loop, number),
          last_residual_(size()),
          last_g_(size()),
          mixed_(size()),
          before_(size()) {
        const auto depth = std::min(deepest, size());
        steps_.assign(depth, std::vector<double>(size()));
        changes_ = steps_;
    }

  private:
    Status iterate(Outcome& outcome) override {
        held_ = 0;
        double relaxation = 1.0;
        for (bool first = true;; first = false) {
            const auto status = evaluate(x_, outcome);
            if (failed(status)) return status;
            if (excess() <= 1.0) return Status::ok;
            if (exhausted()) return give_up(outcome);
            before_ = x_;
            if (loop_.method == Loop::Method::anderson) {
                mix(first);
            } else {
                if (!first && loop_.method == Loop::Method::aitken) relaxation *= aitken();
                for (std::size_t i = 0; i < size(); ++i) x_[i] += relaxation * residual_[i];
            }
            last_residual_ = residual_;
            last_g_ = g_;
            // A jump is the residual over (1 - gain): without end at a gain of 1.
            double jump = 0.0;
            for (std::size_t i = 0; i < size(); ++i)
                jump += (x_[i] - before_[i]) * (x_[i] - before_[i]);
            if (jump > most_jump * dot(residual_, residual_)) return give_up(outcome);
        }
    }

    // What the relaxation is multiplied by.
    double aitken() const {
        double above = 0.0, below = 0.0;
        for (std::size_t i = 0; i < size(); ++i) {
            const double change = residual_[i] - last_residual_[i];
            above += last_residual_[i] * change;
            below += change * change;
        }
        return below > 0.0 ? -above / below : 1.0;
    }

    // x = g - sum gamma_k * (change of g)_k, gamma from an orthogonalised basis of the changes of
    // the residual: directions that are nearly dependent on newer ones are left out.
    void mix(bool first) {
        if (!first) remember();
        mixed_ = residual_;
        x_ = g_;
        for (std::size_t k = 0; k < held_; ++k) {
            const double gamma = dot(changes_[k], mixed_);
            for (std::size_t i = 0; i < size(); ++i) {
                mixed_[i] -= gamma * changes_[k][i];
                x_[i] -= gamma * steps_[k][i];
            }
        }
    }

    // Puts the newest change into the basis, made orthogonal to those it has; a full basis is begun
    // anew.
    void remember() {
        if (changes_.empty()) return;  // a loop of whole numbers and texts alone
        if (held_ == changes_.size()) held_ = 0;
        auto& change = changes_[held_];
        auto& step = steps_[held_];
        for (std::size_t i = 0; i < size(); ++i) {
            change[i] = residual_[i] - last_residual_[i];
            step[i] = g_[i] - last_g_[i];
        }
        const double whole = std::sqrt(dot(change, change));
        for (std::size_t k = 0; k < held_; ++k) {
            const double part = dot(changes_[k], change);
            for (std::size_t i = 0; i < size(); ++i) {
                change[i] -= part * changes_[k][i];
                step[i] -= part * steps_[k][i];
            }
        }
        const double rest = std::sqrt(dot(change, change));
        if (rest <= 1e-10 * whole) return;  // nothing new, or nothing at all
        for (std::size_t i = 0; i < size(); ++i) {
            change[i] /= rest;
            step[i] /= rest;
        }
        ++held_;
    }

    std::vector<double> last_residual_, last_g_, mixed_, before_;
    std::vector<std::vector<double>> changes_, steps_;  // of the residual (orthonormal) and of g
    std::size_t held_ = 0;
};

}  // namespace

std::unique_ptr<LoopSolver> make_fixed_point(const Loop& loop, std::int32_t number) {
    return std::make_unique<FixedPoint>(loop, number);
}

}  // namespace softdock
