// One instance of an FMI 3.0 FMU.
#pragma once

#include <string>
#include <vector>

#include "fmi/clock_scheduler.hpp"
#include "fmi/fmi3.hpp"
#include "fmi/fmu.hpp"
#include "fmi/ports3.hpp"

namespace softdock {

// What the importer asks of an FMI 3.0 FMU when it makes an instance.
struct Options3 {
    bool logging = false;
    bool event_mode = false;    // the FMU has one, and leaves its events to the importer
    bool early_return = false;  // a step may end before its end
    bool exchange = false;      // Model Exchange: it does not step by itself
    // Continuous inputs that it takes while it steps (intermediate update); none: it holds them.
    References followed{};
};

class Fmu3 final : public Fmu {
  public:
    Fmu3(const std::string& library, const std::string& name, const std::string& token,
         const std::string& resources, Options3 options);
    ~Fmu3() override;

    void bind(std::vector<Port3> inputs, std::vector<Port3> outputs);
    // Input clocks that nothing but time makes tick.
    void drive(std::vector<Timer> timers);
    // In step mode of an FMU with event mode, a discrete input that changes is an event of its own.
    Status set_inputs(const double* values) override;
    Status step(std::int64_t time_ns, std::int64_t step_ns) override;
    Status get_outputs(double* values) override;
    Failure cause() const override;

    // What the model description declares; without it the functions are not called.
    void declare(bool rolls_back, bool has_derivatives);
    bool has_derivatives() const override { return has_derivatives_ && call_.get_derivative; }
    Status derivative(const double* inputs, double* outputs) override;

    // By intermediate update, as often as the FMU asks within its step.
    int input_order() const override { return options_.followed.empty() ? 0 : most_order; }
    Status set_input_derivatives(const InputDerivatives& derivatives) override;
    // The FMU is within a step, and asks for its inputs at a time.
    void update_inputs(double seconds);
    // When a step began first whose inputs moved and in which the FMU did not ask; `never`: none.
    std::int64_t unasked_ns() const { return moving_.unasked_ns; }
    // The first step that it ended well, but said to have gone elsewhere than to its end.
    struct Astray {
        std::int64_t begin_ns = never;
        double said_s = 0.0;
    };
    const Astray& astray() const { return astray_; }

    bool has_event_mode() const override { return options_.event_mode; }
    // Clocks of its own that are due tick then.
    Status enter_event_mode() override;
    Status update_discrete(Discrete& update) override;
    Status enter_step_mode() override;
    std::int64_t due_ns() const override { return clock_scheduler_.due_ns(); }
    // Updates discrete states until nothing asks for more, and enters step mode.
    Status settle();

    void log_categories(const std::vector<std::string>& categories) override {
        turn_on(call_.set_debug_logging, categories);
    }
    Status initialise(double start, bool has_stop, double stop, bool has_tolerance,
                      double tolerance);
    // Leaves an FMU with event mode in that.
    Status exit_initialization();
    Status terminate();

    // Whether a clock ticks in the present event mode, as far as it was set or read there.
    bool ticks(fmi3ValueReference clock) const;
    Status set_clock(fmi3ValueReference clock, bool ticks);
    Status get_clock(fmi3ValueReference clock, bool& ticks);
    Status interval(fmi3ValueReference clock, bool fraction, Interval& found);
    Status shift(fmi3ValueReference clock, double& seconds);
    void silence();  // no clock ticks any more

    const fmi3::Functions& functions() const { return call_; }

    Status set_strings(const References& references, const char** values,
                       std::size_t count) override;
    Status get_strings(const References& references, const char** values,
                       std::size_t count) override;
    Status set_binaries(const References& references, const std::size_t* sizes,
                        const std::uint8_t** values, std::size_t count) override;
    Status get_binaries(const References& references, std::size_t* sizes,
                        const std::uint8_t** values, std::size_t count) override;
    int mode() const override { return mode_; }
    void set_mode(int mode) override;
    std::vector<std::int64_t>* times() override {
        return options_.event_mode ? &clock_scheduler_.row() : nullptr;
    }

  private:
    enum Mode { initial, stepping, in_event };

    void load();
    void make_instance(const std::string& token, const std::string& resources);
    void find_values();

    const Options3 options_;
    fmi3::Functions call_{};
    Ports3 inputs_, outputs_;
    bool has_derivatives_ = false;
    int mode_ = initial;
    bool event_due_ = false;  // the last step ended with an event
    bool refused_early_return_ = false;
    Astray astray_;
    // Inputs that move within a step: their values and derivatives at its begin, and those now.
    struct Moving {
        std::vector<double> begin, derivatives, now, at_event;
        bool moves = false, asked = false, moved = false;  // moved: `now` is where a step has led
        double begin_s = 0.0, end_s = 0.0;
        Status status = Status::ok;
        std::int64_t unasked_ns = never;
    };
    void note_end(std::int64_t begin_ns, std::int64_t end_ns, double said, bool told);
    void move_inputs(double seconds);
    const double* inputs_at_event(const double* values);
    Status follow_inputs(std::int64_t time_ns, std::int64_t end_ns, Status status);

    Moving moving_;
    ClockScheduler clock_scheduler_;
    std::vector<std::pair<fmi3ValueReference, bool>> clocks_;  // whether they tick
};

}  // namespace softdock
