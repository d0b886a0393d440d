// One instance of an FMI 1.0 Co-Simulation FMU (a slave, in the words of that version).
#pragma once

#include <string>
#include <vector>

#include "fmi/fmi1.hpp"
#include "fmi/scalar_fmu.hpp"

namespace softdock {

// Where an FMI 1.0 FMU comes from, and what it is made with.
struct Origin1 {
    std::string library, identifier, name, guid, location;
    bool logging = false;
};

class Fmu1 final : public ScalarFmu<fmi1::Functions, fmi1::Boolean> {
  public:
    explicit Fmu1(Origin1 origin);
    ~Fmu1() override;

    // Signs of the real outputs: -1 for a negated alias; empty if all are 1.
    void bind(Binding inputs, Binding outputs, std::vector<double> signs);
    Status set_inputs(const double* values) override;
    Status step(std::int64_t time_ns, std::int64_t step_ns) override;
    Status get_outputs(double* values) override;

    // FMI 1.0 has no categories.
    void log_categories(const std::vector<std::string>&) override {}
    void declare(bool takes_slopes) { takes_slopes_ = takes_slopes; }
    int input_order() const override { return takes_slopes_ && call_.set_slopes; }
    Status set_input_derivatives(const InputDerivatives& derivatives) override;

    // Initialises with the inputs that were set last.
    Status initialise(double start, bool has_stop, double stop);
    bool is_initialised() const { return initialised_; }
    // Whether inputs have changed since it was initialised: it would start from other values.
    bool is_stale() const { return initialised_ && given_ != used_; }
    // Makes a new instance in the place of one that was initialised; its values are its defaults.
    void renew();
    Status terminate();
    double last_successful_time(double otherwise);

  private:
    void load();
    void instantiate();

    const Origin1 origin_;
    std::vector<double> signs_;
    std::vector<double> given_, used_;  // inputs: set last; set when it was initialised
    std::vector<int> orders_;           // 1 for each Real input
    bool takes_slopes_ = false, initialised_ = false;
};

}  // namespace softdock
