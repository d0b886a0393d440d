// Predictor and corrector: inputs are extrapolated along the line through the last two values of
// their sources; what the sources turn out to be at the end of the step tells the error of that. It
// costs no further evaluation. The indicator is that of Schierz, Arnold and Clauss 2012
// (10.3384/ecp12076205) with a linear instead of a constant prediction.
#include "algorithms/step_control.hpp"

namespace softdock {

namespace {

class Embedded final : public RetryingControl {
  public:
    explicit Embedded(const Rule& rule) : RetryingControl(rule), errors_(rule_.checked.size()) {}

    // There is no line through one value: the first step is short, and is not judged.
    void start(std::int64_t step_ns) override {
        StepControl::start(step_ns);
        restart();
    }
    void restart() override { set_next(static_cast<double>(rule_.first_ns) / 100.0); }

  private:
    Status attempt(StepExecutor& executor, std::int64_t time_ns, std::int64_t length, double& found,
                   Outcome& outcome) override {
        const auto status = executor.execute_step(time_ns, length, outcome);
        if (!failed(status) && executor.context().step_ratio > 0.0) {
            found = error(executor.context());
        };
        return status;
    }

    double error(const Context& context) {
        for (std::size_t i = 0; i < errors_.size(); ++i) {
            const auto slot = static_cast<std::size_t>(rule_.checked[i]);
            const double begin = context.begin[slot];
            const double predicted = begin + context.step_ratio * (begin - context.before[slot]);
            errors_[i] = context.get(rule_.checked[i]) - predicted;
        }
        return excess(context, errors_);
    }

    std::vector<double> errors_;
};

}  // namespace

std::unique_ptr<StepControl> make_embedded(const Rule& rule) {
    return std::make_unique<Embedded>(rule);
}

}  // namespace softdock
