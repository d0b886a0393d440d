// One instance of an FMI 1.0 Co-Simulation FMU (a slave, in the words of that version).
#pragma once

#include <string>
#include <vector>

#include "fmi/fmi1.hpp"
#include "fmi/fmu.hpp"

namespace softdock {

// Where an FMI 1.0 FMU comes from, and what it is made with.
struct Origin1 {
    std::string library, identifier, name, guid, location;
    bool logging = false;
};

class Fmu1 final : public Fmu {
  public:
    // Inputs or outputs: reals first, then integers, then Booleans.
    struct Ports {
        References reals, integers, booleans;
        std::vector<std::string> integer_names;
        std::vector<double> signs;  // of reals: -1 for the negated alias; empty if all are 1
        std::size_t size() const { return reals.size() + integers.size() + booleans.size(); }
    };

    explicit Fmu1(Origin1 origin);
    ~Fmu1() override;

    void bind(Ports inputs, Ports outputs);
    Status set_inputs(const double* values) override;
    Status step(std::int64_t time_ns, std::int64_t step_ns) override;
    Status get_outputs(double* values) override;

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

    Status set_strings(const References& references, const char** values,
                       std::size_t count) override;
    Status get_strings(const References& references, const char** values,
                       std::size_t count) override;
    fmi1::Functions& functions() { return call_; }

  private:
    void load();
    void instantiate();
    Status send(const double* values);

    const Origin1 origin_;
    fmi1::Functions call_{};
    Ports inputs_, outputs_;
    std::vector<double> given_, used_;  // inputs: set last; set when it was initialised
    std::vector<int> integers_;
    std::vector<char> booleans_;
    std::vector<int> orders_;  // 1 for each Real input
    bool takes_slopes_ = false, initialised_ = false;
};

}  // namespace softdock
