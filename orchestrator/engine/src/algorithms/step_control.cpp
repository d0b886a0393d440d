#include "algorithms/step_control.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace softdock {

namespace {

constexpr double safety = 0.9, most_shrink = 0.2, most_growth = 3.0;

// Every step is as long as the first, but for what the grid is rounded by.
class Fixed final : public StepControl {
  public:
    using StepControl::StepControl;

    Status step(StepExecutor& executor, std::int64_t time_ns, std::int64_t, std::int64_t& taken_ns,
                Outcome& outcome) override {
        taken_ns = executor.context().next_length(rule_.first_ns);
        return executor.execute_step(time_ns, taken_ns, outcome);
    }
};

}  // namespace

StepControl::StepControl(Rule rule)
    : rule_(std::move(rule)), memory_(1, static_cast<double>(rule_.first_ns)) {}

void StepControl::start(std::int64_t step_ns) {
    if (!varies()) rule_.first_ns = step_ns;
    memory_[0] = static_cast<double>(rule_.first_ns);
    rejected_ = shortest_ns_ = longest_ns_ = 0;
}

void StepControl::restart() { set_next(std::min(memory_[0], static_cast<double>(rule_.first_ns))); }

void StepControl::set_next(double ns) {
    memory_[0] = std::nearbyint(
        std::clamp(ns, static_cast<double>(rule_.least_ns), static_cast<double>(rule_.most_ns)));
}

std::int64_t StepControl::length(std::int64_t time_ns, std::int64_t goal_ns) const {
    const auto left = goal_ns - time_ns, next = next_ns();
    if (left <= next) return left;
    return left < 2 * next ? left - left / 2 : next;
}

double StepControl::excess(const Context& context, const std::vector<double>& errors) {
    double largest = 0.0;
    for (std::size_t i = 0; i < errors.size(); ++i) {
        const double value = context.get(rule_.checked[i]);
        const double allowed = rule_.absolute + rule_.relative * std::fabs(value);
        const double found = std::fabs(errors[i]) / allowed;
        if (found > largest) worst_ = rule_.checked[i];
        largest = std::max(largest, found);
    }
    return largest;
}

double StepControl::factor(double excess) const {
    const double found = safety * std::pow(std::max(excess, 1e-10), -1.0 / (rule_.order + 1));
    return std::clamp(found, most_shrink, most_growth);
}

Status StepControl::too_short(std::int64_t length, double excess, Outcome& outcome) const {
    outcome.failure.kind = FailureKind::too_long;
    outcome.failure.time_ns = length;
    outcome.failure.excess = excess;
    outcome.failure.slot = worst_;
    return Status::error;
}

void StepControl::count(std::int64_t length) {
    shortest_ns_ = shortest_ns_ ? std::min(shortest_ns_, length) : length;
    longest_ns_ = std::max(longest_ns_, length);
}

Status RetryingControl::step(StepExecutor& executor, std::int64_t time_ns, std::int64_t goal_ns,
                             std::int64_t& taken_ns, Outcome& outcome) {
    auto status = executor.save(outcome);
    if (failed(status)) return status;
    auto length = this->length(time_ns, goal_ns);
    for (;;) {
        double found = 0.0;
        status = attempt(executor, time_ns, length, found, outcome);
        const bool refused = status == Status::discard || outcome.loop >= 0;
        if (failed(status) && !refused) return status;
        if (!refused && found <= 1.0) {
            taken_ns = length;
            count(length);
            set_next(static_cast<double>(length) * factor(found));
            return Status::ok;
        }
        ++rejected_;
        if (length <= rule_.least_ns) return refused ? status : too_short(length, found, outcome);
        set_next(static_cast<double>(length) * (refused ? 0.25 : factor(found)));
        length = std::max<std::int64_t>(1, std::min(next_ns(), length - 1));
        outcome.unit = outcome.loop = -1;
        outcome.failure.clear();
        status = executor.restore(outcome);
        if (failed(status)) return status;
    }
}

std::unique_ptr<StepControl> make_control(const Rule& rule) {
    switch (rule.method) {
        case Rule::Method::doubling:
            return make_doubling(rule);
        case Rule::Method::embedded:
            return make_embedded(rule);
        case Rule::Method::ecco:
            return make_ecco(rule);
        case Rule::Method::fixed:
            break;
    }
    return std::make_unique<Fixed>(rule);
}

}  // namespace softdock
