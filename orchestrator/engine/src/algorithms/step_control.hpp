// Chooses how long the communication steps are.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "algorithms/step_executor.hpp"

namespace softdock {

class StepControl {
  public:
    explicit StepControl(Rule rule);
    virtual ~StepControl() = default;

    // Forgets what earlier steps taught.
    virtual void start(std::int64_t step_ns);
    // What comes is not as it was before: the next step is tried no longer than the first.
    virtual void restart();
    // Does one step that counts, from `time_ns` and not beyond `goal_ns`; returns how long it was
    // in `taken_ns`.
    virtual Status step(StepExecutor& executor, std::int64_t time_ns, std::int64_t goal_ns,
                        std::int64_t& taken_ns, Outcome& outcome) = 0;

    const Rule& rule() const { return rule_; }
    bool varies() const { return rule_.method != Rule::Method::fixed; }
    std::int64_t rejected() const { return rejected_; }
    std::int64_t shortest_ns() const { return shortest_ns_; }
    std::int64_t longest_ns() const { return longest_ns_; }
    // What goes from one step to the next: the length to try, and what a method adds.
    std::vector<double>& memory() { return memory_; }

  protected:
    std::int64_t next_ns() const { return static_cast<std::int64_t>(memory_[0]); }
    void set_next(double ns);
    // The next length, shortened so that the goal is met and no sliver is left before it.
    std::int64_t length(std::int64_t time_ns, std::int64_t goal_ns) const;
    // The largest error in tolerances: `errors` belongs to the checked slots.
    double excess(const Context& context, const std::vector<double>& errors);
    // By how much a step may be longer than one with this error.
    double factor(double excess) const;
    Status too_short(std::int64_t length, double excess, Outcome& outcome) const;
    void count(std::int64_t length);

    Rule rule_;
    std::vector<double> memory_;
    std::int64_t rejected_ = 0;

  private:
    std::int64_t shortest_ns_ = 0, longest_ns_ = 0;
    std::int32_t worst_ = -1;  // slot of the largest error
};

// A control that does a step again, shorter, where its error is above the tolerances, a unit
// discards it or a loop does not converge.
class RetryingControl : public StepControl {
  public:
    using StepControl::StepControl;
    Status step(StepExecutor& executor, std::int64_t time_ns, std::int64_t goal_ns,
                std::int64_t& taken_ns, Outcome& outcome) final;

  protected:
    // Does a step and tells its error in tolerances.
    virtual Status attempt(StepExecutor& executor, std::int64_t time_ns, std::int64_t length,
                           double& found, Outcome& outcome) = 0;
};

std::unique_ptr<StepControl> make_control(const Rule& rule);
std::unique_ptr<StepControl> make_doubling(const Rule& rule);
std::unique_ptr<StepControl> make_embedded(const Rule& rule);
std::unique_ptr<StepControl> make_ecco(const Rule& rule);

}  // namespace softdock
