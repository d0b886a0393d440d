// One instance of an FMI 2.0 FMU; made for Model Exchange it does not step by itself.
#pragma once

#include <string>
#include <vector>

#include "fmi/fmi2.hpp"
#include "fmi/scalar_fmu.hpp"

namespace softdock {

class Fmu2 final : public ScalarFmu<fmi2::Functions, fmi2Boolean> {
  public:
    Fmu2(const std::string& library, const std::string& name, const std::string& guid,
         const std::string& resources, bool logging, fmi2Type type = fmi2CoSimulation);
    ~Fmu2() override;

    void bind(Binding inputs, Binding outputs);
    Status set_inputs(const double* values) override;
    Status step(std::int64_t time_ns, std::int64_t step_ns) override;
    Status get_outputs(double* values) override;
    Status advance_row(const UnitRow& row, RowEnd& end) override;
    const void* row_kind() const override { return real_step_.applies ? &row_of_reals : nullptr; }

    // What the model description declares; without it the functions are not called.
    void declare(bool rolls_back, int input_order, bool has_derivatives);
    int input_order() const override { return call_.set_slopes ? input_order_ : 0; }
    Status set_input_derivatives(const InputDerivatives& derivatives) override;
    bool has_derivatives() const override { return has_derivatives_ && call_.get_derivative; }
    Status derivative(const double* inputs, double* outputs) override;

    void log_categories(const std::vector<std::string>& categories) override {
        turn_on(call_.set_debug_logging, categories);
    }
    Status setup(double start, bool has_stop, double stop, bool has_tolerance, double tolerance);
    Status enter_initialization();
    Status exit_initialization();
    Status terminate();

    double last_successful_time();

  private:
    void load(bool steps);
    // An input's derivative of an order.
    struct Derivative {
        std::size_t input;
        int order;
    };
    template <class Given>
    void list_moving(const Given& given);

    // What a step needs where inputs and outputs are Reals, side by side in memory.
    struct RealStep {
        bool applies = false;
        decltype(fmi2::Functions::set_real) set = nullptr;
        decltype(fmi2::Functions::do_step) step = nullptr;
        decltype(fmi2::Functions::get_real) get = nullptr;
        const std::uint32_t *inputs = nullptr, *outputs = nullptr;
        std::size_t input_count = 0, output_count = 0;
    };
    Status discarded(std::int64_t begin_ns);
    Status advance_reals(const double* inputs, const Stride& stride);
    static constexpr char row_of_reals = 0;

    RealStep real_step_;
    fmi2CallbackFunctions callbacks_{};
    // Of the Real inputs, order after order: those that were not zero once, and the others.
    std::vector<Derivative> moving_, still_;
    References references_;  // of the moving
    std::vector<int> orders_;
    std::vector<double> values_;
    int input_order_ = 0;
    bool has_derivatives_ = false;
};

}  // namespace softdock
