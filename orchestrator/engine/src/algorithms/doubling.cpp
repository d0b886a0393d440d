// Step doubling (Richardson): a step is done whole and in two halves; the difference tells the
// error of the halves, which are what counts.
#include <cmath>

#include "algorithms/step_control.hpp"

namespace softdock {

namespace {

class Doubling final : public RetryingControl {
  public:
    explicit Doubling(const Rule& rule)
        : RetryingControl(rule), whole_(rule_.checked.size()), errors_(rule_.checked.size()) {}

  private:
    Status attempt(StepExecutor& executor, std::int64_t time_ns, std::int64_t length, double& found,
                   Outcome& outcome) override {
        const auto& context = executor.context();
        auto status = executor.execute_step(time_ns, length, outcome);
        if (failed(status)) return status;
        for (std::size_t i = 0; i < whole_.size(); ++i) whole_[i] = context.get(rule_.checked[i]);
        status = executor.restore(outcome);
        if (failed(status)) return status;
        const auto half = length / 2;
        if (half > 0) {
            status = executor.execute_step(time_ns, half, outcome);
            if (failed(status)) return status;
        }
        status = executor.execute_step(time_ns + half, length - half, outcome);
        if (failed(status)) return status;
        const double scale = std::pow(2.0, rule_.order) - 1.0;
        for (std::size_t i = 0; i < whole_.size(); ++i) {
            errors_[i] = (context.get(rule_.checked[i]) - whole_[i]) / scale;
        }
        found = excess(context, errors_);
        return Status::ok;
    }

    std::vector<double> whole_, errors_;
};

}  // namespace

std::unique_ptr<StepControl> make_doubling(const Rule& rule) {
    return std::make_unique<Doubling>(rule);
}

}  // namespace softdock
