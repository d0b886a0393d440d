// What the engine steps: an FMU or a Python block behind one interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace softdock {

// The values of fmi2Status; every kind of unit reports in these.
enum class Status { ok = 0, warning = 1, discard = 2, error = 3, fatal = 4, pending = 5 };

inline bool failed(Status status) { return status > Status::warning; }

inline double to_seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }

class Unit {
  public:
    explicit Unit(std::string name) : name_(std::move(name)) {}
    virtual ~Unit() = default;
    Unit(const Unit&) = delete;
    Unit& operator=(const Unit&) = delete;

    // Inputs and outputs are contiguous doubles in the order in which they were bound. Integers and
    // Booleans of FMI 2.0 (32 bits) are exact in a double.
    virtual Status set_inputs(const double* values) = 0;
    virtual Status step(std::int64_t time_ns, std::int64_t step_ns) = 0;
    virtual Status get_outputs(double* values) = 0;

    std::size_t input_count() const { return input_count_; }
    std::size_t output_count() const { return output_count_; }
    const std::string& name() const { return name_; }
    // Why the last call failed; empty if the unit did not say.
    const std::string& failure() const { return failure_; }

  protected:
    std::size_t input_count_ = 0;
    std::size_t output_count_ = 0;
    std::string failure_;

  private:
    std::string name_;
};

}  // namespace softdock
