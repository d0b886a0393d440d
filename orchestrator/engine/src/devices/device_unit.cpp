#include "devices/device_unit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/wall_clock.hpp"

namespace softdock {

DeviceUnit::DeviceUnit(DeviceBlock& block, std::string name, DeviceRules rules,
                       std::vector<CommandLimit> limits)
    : Unit(std::move(name)),
      block_(block),
      rules_(rules),
      limits_(std::move(limits)),
      values_(block.measurement_count() + healths) {
    if (limits_.size() != block.command_count()) {
        throw std::invalid_argument("a device's limits are not as many as its commands");
    }
    for (const auto& limit : limits_) command_.push_back(limit.start);
}

void DeviceUnit::bind(std::vector<std::size_t> inputs, std::vector<std::size_t> outputs) {
    const auto within = [](const std::vector<std::size_t>& numbers, std::size_t size) {
        return std::all_of(numbers.begin(), numbers.end(), [=](auto i) { return i < size; });
    };
    if (!within(inputs, command_.size()) || !within(outputs, values_.size())) {
        throw std::invalid_argument("a connector is bound that the device has not");
    }
    inputs_ = std::move(inputs);
    outputs_ = std::move(outputs);
    input_count_ = inputs_.size();
    output_count_ = outputs_.size();
}

Status DeviceUnit::begin() {
    clamped_ = 0;
    for (std::size_t i = 0; i < command_.size(); ++i) {
        const auto status = enforce(i, command_[i]);
        if (failed(status)) return status;
    }
    begun_ = true;
    send();
    return Status::ok;
}

Status DeviceUnit::give(std::size_t number, double value) {
    if (number >= command_.size()) return cannot("set this input");
    if (begun_) {
        const auto status = enforce(number, value);
        if (failed(status)) return status;
    }
    command_[number] = value;
    if (begun_) send();
    return Status::ok;
}

Status DeviceUnit::enforce(std::size_t number, double& value) {
    const auto& limit = limits_[number];
    char text[160];
    if (!std::isfinite(value)) {
        failure_ =
            "its command '" + limit.name + "' is not finite (NaN or infinite); it is not sent";
        return Status::error;
    }
    if (value >= limit.least && value <= limit.most) return Status::ok;
    if (begun_ && block_.held()) {  // a rig that is engaged later has its first command judged
        if (unsent_++ == 0) first_unsent_ns_ = now_ns_;
        return Status::ok;
    }
    if (!rules_.clamps) {
        std::snprintf(text, sizeof text, "' is %g, beyond its range of %g to %g; it is not sent",
                      value, limit.least, limit.most);
        failure_ = "its command '" + limit.name + text;
        return Status::error;
    }
    value = std::clamp(value, limit.least, limit.most);
    if (clamped_++ == 0) first_clamped_ns_ = now_ns_;
    return Status::ok;
}

void DeviceUnit::send() {
    sent_.given_ns = now_ns();
    ++sent_.number;
    block_.put_command(sent_, command_.data());
}

Status DeviceUnit::set_inputs(const double* values) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        double value = values[i];
        if (begun_) {
            const auto status = enforce(inputs_[i], value);
            if (failed(status)) return status;
        }
        command_[inputs_[i]] = value;
    }
    if (begun_) send();
    return Status::ok;
}

void DeviceUnit::refresh() {
    block_.newest_sample(facts_, values_.data());
    double* health = values_.data() + block_.measurement_count();
    const auto age_ns = now_ns() - facts_.received_ns;
    health[sample_age] = has_sample() ? to_seconds(age_ns) : 0.0;
    health[lost] = static_cast<double>(facts_.lost);
    health[late] = static_cast<double>(facts_.late);
    health[repeated] = static_cast<double>(facts_.repeated);
    health[malformed] = static_cast<double>(facts_.malformed);
    health[restarts] = static_cast<double>(facts_.restarts);
    health[clamped] = static_cast<double>(clamped_);
    health[samples] = static_cast<double>(facts_.number);
    health[command_taken] = static_cast<double>(facts_.taken);
    health[commands_missed] = static_cast<double>(facts_.missed);
    health[valid] =
        has_sample() && facts_.valid && age_ns < rules_.stale_ns && !block_.lost() ? 1.0 : 0.0;
}

Status DeviceUnit::refuse_stale() {
    if (block_.lost()) {
        failure_ = block_.reason();
        return Status::error;
    }
    char text[160];
    std::snprintf(text, sizeof text,
                  "its newest valid sample is %.6g s old; expected less than %.6g s (stale_after)",
                  values_[block_.measurement_count() + sample_age], to_seconds(rules_.stale_ns));
    failure_ = text;
    const auto remark = block_.remark();
    if (!remark.empty()) failure_ += ": " + remark;
    if (facts_.malformed > 0) {
        failure_ +=
            "; datagrams that were not of its protocol: " + std::to_string(facts_.malformed);
    }
    return Status::error;
}

Status DeviceUnit::step(std::int64_t time_ns, std::int64_t step_ns) {
    refresh();
    now_ns_ = time_ns + step_ns;
    sent_.step_ns = step_ns;
    reached_ = {now_ns_};
    const bool stale =
        !has_sample() || block_.lost() ||
        values_[block_.measurement_count() + sample_age] >= to_seconds(rules_.stale_ns);
    if (!stale) return Status::ok;
    if (stale_steps_++ == 0) first_stale_ns_ = time_ns;
    return rules_.holds ? Status::ok : refuse_stale();
}

Status DeviceUnit::get_outputs(double* values) {
    if (!begun_) refresh();
    for (std::size_t i = 0; i < outputs_.size(); ++i) values[i] = values_[outputs_[i]];
    return Status::ok;
}

}  // namespace softdock
