// A device in the place of a component: it reads the newest sample and leaves the newest command.
#pragma once

#include <string>
#include <vector>

#include "core/unit.hpp"
#include "devices/device_block.hpp"

namespace softdock {

// What is done with a device that is silent, and with commands beyond their range.
struct DeviceRules {
    std::int64_t stale_ns = 0;  // from this age on a sample is stale
    bool holds = false;         // a stale sample does not end the run
    bool clamps = true;         // a command beyond its range is sent as the nearest within it
};

// One scalar of a command.
struct CommandLimit {
    std::string name;
    double least = 0.0, most = 0.0;
    double start = 0.0;
};

// Its step waits for nothing and asks the device for nothing: a process of its own does. A run asks
// it for each step once.
class DeviceUnit final : public Unit {
  public:
    // What is known of the samples, as outputs behind the measurements, in this order.
    enum Health {
        sample_age,
        lost,
        late,
        repeated,
        malformed,
        restarts,
        clamped,
        valid,
        samples,
        command_taken,
        commands_missed,
        healths
    };

    DeviceUnit(DeviceBlock& block, std::string name, DeviceRules rules,
               std::vector<CommandLimit> limits);

    // Which scalars are set, by their number among the commands, and which are read, by their
    // number among measurements and health.
    void bind(std::vector<std::size_t> inputs, std::vector<std::size_t> outputs);
    // From now on commands go out, the present one at once.
    Status begin();
    // Sets one scalar of the command, connected or not.
    Status give(std::size_t number, double value);
    // Reads the newest sample.
    void refresh();

    bool has_sample() const { return facts_.number > 0; }
    const SampleFacts& facts() const { return facts_; }
    const std::vector<double>& values() const { return values_; }
    // Steps whose sample was stale, and when the first of them began.
    std::uint64_t stale_steps() const { return stale_steps_; }
    std::int64_t first_stale_ns() const { return first_stale_ns_; }
    std::int64_t first_clamped_ns() const { return first_clamped_ns_; }
    // Commands beyond their range while the device was held, which were not sent, and the first.
    std::uint64_t unsent() const { return unsent_; }
    std::int64_t first_unsent_ns() const { return first_unsent_ns_; }

    Status set_inputs(const double* values) override;
    Status step(std::int64_t time_ns, std::int64_t step_ns) override;
    Status get_outputs(double* values) override;

  private:
    Status enforce(std::size_t number, double& value);
    void send();
    Status refuse_stale();

    DeviceBlock& block_;
    DeviceRules rules_;
    std::vector<CommandLimit> limits_;
    std::vector<std::size_t> inputs_, outputs_;
    std::vector<double> command_, values_;  // values_: measurements, then health
    SampleFacts facts_;
    CommandFacts sent_;
    bool begun_ = false;
    std::int64_t now_ns_ = 0;  // of the run
    std::uint64_t clamped_ = 0, unsent_ = 0, stale_steps_ = 0;
    std::int64_t first_stale_ns_ = 0, first_clamped_ns_ = 0, first_unsent_ns_ = 0;
};

}  // namespace softdock
