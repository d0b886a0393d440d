// Steps as short as the power that the coupling itself makes asks for.
//
// Sadjina, Kyllingstad, Skjong and Pedersen 2017 (10.1007/s00366-016-0492-8): the two ends of a
// power bond see different products of effort and flow, since each holds the other's last value.
// The difference, over the step, is energy from nowhere; a PI controller keeps it small. Nothing is
// repeated, so units need not roll back.
#include <algorithm>
#include <cmath>

#include "algorithms/step_control.hpp"

namespace softdock {

namespace {

constexpr double ecco_safety = 0.8, proportional = 0.2, integral = 0.15;
constexpr double slowest = 0.2, fastest = 1.5;  // change of the length from step to step

class Ecco final : public StepControl {
  public:
    explicit Ecco(const Rule& rule) : StepControl(rule) {
        memory_.resize(2 + rule_.bonds.size(), 0.0);  // the last error, and every bond's energy
        memory_[1] = 1.0;
    }

    void start(std::int64_t step_ns) override {
        StepControl::start(step_ns);
        std::fill(memory_.begin() + 1, memory_.end(), 0.0);
        memory_[1] = 1.0;
    }

    Status step(StepExecutor& executor, std::int64_t time_ns, std::int64_t goal_ns,
                std::int64_t& taken_ns, Outcome& outcome) override {
        const auto length = this->length(time_ns, goal_ns);
        const auto status = executor.execute_step(time_ns, length, outcome);
        if (failed(status)) return status;
        taken_ns = length;
        count(length);
        const double found = this->error(executor.context(), to_seconds(length));
        const double error = found < 1e12 ? std::max(found, 1e-6) : 1e12;  // also inf and NaN
        const double change = ecco_safety * std::pow(error, -integral - proportional) *
                              std::pow(memory_[1], proportional);
        memory_[1] = error;
        set_next(static_cast<double>(length) * std::clamp(change, slowest, fastest));
        return Status::ok;
    }

  private:
    // Root mean square of the bonds' residual energies, in tolerances.
    double error(const Context& context, double seconds) {
        double sum = 0.0;
        for (std::size_t k = 0; k < rule_.bonds.size(); ++k) {
            const auto [one, other] = rule_.bonds[k];
            const auto& begin = context.begin;
            const double here = begin[other] * context.get(one);  // held effort, new flow
            const double there = begin[one] * context.get(other);
            const double residual = (here - there) * seconds;
            double& energy = memory_[2 + k];
            energy += 0.5 * (here + there) * seconds;
            const double allowed = rule_.absolute + rule_.relative * std::fabs(energy);
            sum += (residual / allowed) * (residual / allowed);
        }
        return std::sqrt(sum / static_cast<double>(rule_.bonds.size()));
    }
};

}  // namespace

std::unique_ptr<StepControl> make_ecco(const Rule& rule) { return std::make_unique<Ecco>(rule); }

}  // namespace softdock
