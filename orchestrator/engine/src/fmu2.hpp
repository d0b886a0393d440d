// One instance of an FMI 2.0 FMU; made for Model Exchange it does not step by itself.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "fmi2.hpp"
#include "unit.hpp"

namespace softdock {

struct LogMessage {
    int status;
    std::string category;
    std::string text;
};

// Value references that are set or read together, reals first.
struct Binding {
    std::vector<fmi2::ValueReference> reals, integers, booleans;
    std::size_t size() const { return reals.size() + integers.size() + booleans.size(); }
};

class Fmu2 final : public Unit {
  public:
    Fmu2(const std::string& library, const std::string& name, const std::string& guid,
         const std::string& resources, bool logging, fmi2::Type type = fmi2::co_simulation);
    ~Fmu2() override;

    void bind(Binding inputs, Binding outputs);
    Status set_inputs(const double* values) override;
    Status step(std::int64_t time_ns, std::int64_t step_ns) override;
    Status get_outputs(double* values) override;

    // What the model description declares; without it the functions are not called.
    void declare(bool rolls_back, bool takes_slopes, bool has_derivatives);
    bool can_roll_back() const override { return rolls_back_ && call_.get_state; }
    Status save(std::size_t number) override;
    Status restore(std::size_t number) override;
    bool takes_slopes() const override { return takes_slopes_ && call_.set_slopes; }
    Status set_slopes(const double* slopes) override;
    bool has_derivatives() const override { return has_derivatives_ && call_.get_derivative; }
    Status derivative(const double* inputs, double* outputs) override;

    Status setup(double start, bool has_stop, double stop, bool has_tolerance, double tolerance);
    Status enter_initialization();
    Status exit_initialization();
    Status terminate();

    fmi2::Functions& functions() { return call_; }
    // A function of the library that only Model Exchange has; throws if it is missing.
    template <class Function>
    void find_function(const char* name, Function& function) {
        function = reinterpret_cast<Function>(find_symbol(name));
    }
    const Binding& inputs() const { return inputs_; }
    fmi2::Component instance() const { return instance_; }
    // Every status that the library returns goes through here: what may be called later depends on
    // the worst of them.
    Status note(int status);
    double last_successful_time();
    // After fmi2Fatal no function of the library may be called any more (FMI 2.0.4, 2.1.3).
    bool usable() const { return worst_ < Status::fatal; }
    // After fmi2Error an instance may go on from a state that was saved before it (2.1.3).
    void recovered() { worst_ = Status::ok; }
    void count_saved(int change) { saved_ += change; }
    std::vector<LogMessage> take_log();
    void log(int status, const char* category, std::string text);

  private:
    void* find_symbol(const char* name);
    void load(const std::string& library, bool steps);

    void* library_ = nullptr;
    fmi2::Functions call_{};
    fmi2::Callbacks callbacks_{};
    fmi2::Component instance_ = nullptr;
    Binding inputs_, outputs_;
    std::vector<int> scratch_;
    std::vector<int> orders_;           // 1 for each Real input
    std::vector<fmi2::FmuState> kept_;  // by number
    bool rolls_back_ = false, takes_slopes_ = false, has_derivatives_ = false;
    Status worst_ = Status::ok;
    int saved_ = 0;  // states that somebody may still go back to
    std::mutex log_mutex_;
    std::vector<LogMessage> log_;
};

}  // namespace softdock
