// Predictor and corrector: inputs are extended along the line through the last two values of their
// sources; what the sources turn out to be at the end of the step tells the error of that. It costs
// no further evaluation. The indicator is that of Schierz, Arnold and Clauss 2012
// (10.3384/ecp12076205) with a linear instead of a constant prediction.
#include "step_control.hpp"

namespace softdock {

namespace {

class Embedded final : public RetryingControl {
  public:
    explicit Embedded(const Rule& rule) : RetryingControl(rule), errors_(rule_.checked.size()) {}

    // There is no line through one value: the first step is short, and is not judged.
    void start(std::int64_t step_ns) override {
        StepControl::start(step_ns);
        renew();
    }
    void renew() override { set_next(static_cast<double>(rule_.first_ns) / 100.0); }

  private:
    Status attempt(Engine& engine, std::int64_t time_ns, std::int64_t length, double& found,
                   Outcome& outcome) override {
        const auto status = engine.sweep(time_ns, length, outcome);
        if (!failed(status) && engine.stretch() > 0.0) found = error(engine);
        return status;
    }

    double error(const Engine& engine) {
        for (std::size_t i = 0; i < errors_.size(); ++i) {
            const auto slot = static_cast<std::size_t>(rule_.checked[i]);
            const double begin = engine.begin()[slot];
            const double predicted = begin + engine.stretch() * (begin - engine.before()[slot]);
            errors_[i] = engine.get(rule_.checked[i]) - predicted;
        }
        return excess(engine, errors_);
    }

    std::vector<double> errors_;
};

}  // namespace

std::unique_ptr<StepControl> make_embedded(const Rule& rule) {
    return std::make_unique<Embedded>(rule);
}

}  // namespace softdock
