#include "isolation/remote_unit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace softdock {

namespace {

Status known(std::int32_t status) {
    const bool sound = status >= 0 && status <= static_cast<int>(Status::pending);
    return sound ? static_cast<Status>(status) : Status::error;
}

}  // namespace

RemoteUnit::RemoteUnit(RemoteProcess& process, std::string name, int memory,
                       std::size_t most_inputs, std::size_t most_outputs)
    : Unit(std::move(name)), process_(process), block_(memory, most_inputs, most_outputs) {
    last_.resize(most_outputs);
    failure_.reserve(sizeof(UnitHeader::failure));
    number_ = process.enter(*this);
}

void RemoteUnit::bind(std::size_t inputs, std::size_t outputs) {
    if (inputs > block_.most_inputs() || outputs > block_.most_outputs()) {
        throw std::invalid_argument("more connectors are bound than the unit has");
    }
    input_count_ = inputs;
    output_count_ = outputs;
}

void RemoteUnit::declare(bool rolls_back, int input_order, bool has_derivatives,
                         bool has_event_mode) {
    rolls_back_ = rolls_back;
    input_order_ = input_order;
    has_derivatives_ = has_derivatives;
    has_event_mode_ = has_event_mode;
}

Status RemoteUnit::ask(Command command) {
    auto& header = block_.header();
    header.command = static_cast<std::uint32_t>(command);
    header.has_inputs = new_inputs_;
    header.order = static_cast<std::uint32_t>(new_order_);
    new_inputs_ = false;
    new_order_ = 0;
    if (process_.ask(*this)) return answer();
    cause_.clear();
    failure_ = process_.loss(number_);
    return Status::fatal;
}

Status RemoteUnit::answer() {
    failure_.clear();
    cause_.clear();
    const auto& header = block_.header();
    const auto status = known(header.status);
    if (failed(status) || failed(known(header.outputs_status))) {
        failure_.assign(header.failure, strnlen(header.failure, sizeof header.failure));
        if (header.early_return) cause_.kind = FailureKind::early_return;
    }
    return status;
}

Status RemoteUnit::ask_or_hold(Command command) {
    if (held_) return Status::ok;
    const auto status = ask(command);
    if (!lost() || !holds_) return status;
    hold(now_ns_);
    return Status::ok;
}

void RemoteUnit::hold(std::int64_t time_ns) {
    held_ = true;
    held_ns_ = time_ns;
    held_reason_ = failure_.empty() ? "the unit gave no reason" : failure_;
    outputs_status_ = Status::ok;
    fresh_ = true;
}

Status RemoteUnit::flush() {
    return new_inputs_ || new_order_ ? ask_or_hold(Command::set) : Status::ok;
}

void RemoteUnit::ring() {
    fresh_ = false;
    process_.ring();
}

void RemoteUnit::lose(std::string why) {
    process_.lose(std::move(why), number_);
    failure_ = loss();
}

std::string RemoteUnit::late() const {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%g", static_cast<double>(limit_ns_) / 1e9);
    return std::string("no answer within ") + seconds +
           " s (step_timeout), so its process was ended";
}

Status RemoteUnit::set_inputs(const double* values) {
    if (expected_) return Status::ok;
    std::memcpy(block_.inputs(), values, input_count_ * sizeof(double));
    new_inputs_ = true;
    fresh_ = held_;
    return Status::ok;
}

Status RemoteUnit::set_input_derivatives(const InputDerivatives& derivatives) {
    if (expected_) return Status::ok;
    if (derivatives.order > input_order_) return cannot("take such derivatives of its inputs");
    auto* place = block_.derivatives();
    for (int k = 1; k <= derivatives.order; ++k) {
        place = std::copy_n(derivatives.of(k), input_count_, place);
    }
    new_order_ = derivatives.order;
    return Status::ok;
}

Status RemoteUnit::step(std::int64_t time_ns, std::int64_t step_ns) {
    reached_ = {time_ns + step_ns};
    now_ns_ = reached_.time_ns;
    if (held_) return Status::ok;
    auto status = Status::ok;
    bool helpless = !help_;
    if (help_ && (stale_ || past_.size() >= every_) && !keep()) {
        status = Status::fatal;
        helpless = stale_ || past_.size() > every_;  // no room to remember this step
    }
    if (!helpless) {
        past_.add({time_ns, step_ns, new_inputs_, new_order_}, block_.inputs(),
                  block_.derivatives());
    }
    if (status == Status::ok) status = play(time_ns, step_ns);
    const auto broken = [&] { return failed(status) && status != Status::discard; };
    while (broken() && !helpless && help_(Help::restart)) status = replay();
    if (!broken() || !holds_) return status;
    hold(time_ns);
    return Status::ok;
}

void RemoteUnit::expect_step(const double* inputs, const InputDerivatives& derivatives,
                             std::int64_t time_ns, std::int64_t step_ns) {
    if (held_ || lost() || derivatives.order > input_order_) return;
    set_inputs(inputs);
    if (derivatives.order) set_input_derivatives(derivatives);
    auto& header = block_.header();
    header.command = static_cast<std::uint32_t>(Command::step);
    header.time_ns = time_ns;
    header.step_ns = step_ns;
    header.has_inputs = new_inputs_;
    header.order = static_cast<std::uint32_t>(new_order_);
    expected_ = true;
    process_.expect(*this);
}

void RemoteUnit::withdraw_step() {
    if (expected_) {
        new_inputs_ = false;
        new_order_ = 0;
    }
    expected_ = false;
    process_.withdraw();
}

Status RemoteUnit::play(std::int64_t time_ns, std::int64_t step_ns) {
    auto& header = block_.header();
    auto status = Status::ok;
    if (std::exchange(expected_, false) && process_.ask_expected(*this)) {
        new_inputs_ = false;
        new_order_ = 0;
        status = answer();
    } else {
        header.time_ns = time_ns;
        header.step_ns = step_ns;
        status = ask(Command::step);
    }
    // Of a step that failed, only one that was answered says where it ended.
    if (failed(status) && status != Status::discard) return status;
    reached_ = {header.reached_ns, header.early != 0, header.event != 0, header.terminate != 0};
    if (failed(status)) return status;
    outputs_status_ = known(header.outputs_status);
    fresh_ = true;
    const auto outputs = check_outputs();
    if (failed(outputs) && (holds_ || help_)) return outputs;
    if (!failed(outputs_status_)) {
        std::memcpy(last_.data(), block_.outputs(), output_count_ * sizeof(double));
    }
    return status;
}

// The engine refuses outputs that are not finite; a unit that shall go on must notice it first.
Status RemoteUnit::check_outputs() {
    if (failed(outputs_status_)) return outputs_status_;
    const double* outputs = block_.outputs();
    for (std::size_t i = 0; (holds_ || help_) && i < output_count_; ++i) {
        if (std::isfinite(outputs[i])) continue;
        failure_ = "output number " + std::to_string(i) + " is not finite";
        cause_.kind = FailureKind::output_not_finite;
        cause_.output = static_cast<std::int64_t>(i);
        return Status::error;
    }
    return Status::ok;
}

Status RemoteUnit::fetch() {
    if (fresh_) return outputs_status_;
    outputs_status_ = ask_or_hold(Command::outputs);
    if (held_) return Status::ok;
    if (!failed(outputs_status_)) {
        std::memcpy(last_.data(), block_.outputs(), output_count_ * sizeof(double));
        fresh_ = true;
    }
    return outputs_status_;
}

Status RemoteUnit::get_outputs(double* values) {
    const auto status = fetch();
    if (!failed(status)) std::memcpy(values, last_.data(), output_count_ * sizeof(double));
    return status;
}

// What is held after a failure belongs to the moment that a unit went back to, which it may not
// tell any more.
Status RemoteUnit::save(std::size_t number) {
    block_.header().number = number;
    const auto status = ask_or_hold(Command::save);
    if (failed(status) || !holds_) return status;
    const auto outputs = fetch();
    if (kept_.size() <= number) kept_.resize(number + 1);
    kept_[number].time_ns = now_ns_;
    kept_[number].outputs = last_;
    return std::max(status, outputs);
}

Status RemoteUnit::restore(std::size_t number) {
    block_.header().number = number;
    fresh_ = held_;
    stale_ = true;
    if (holds_ && !held_) {
        now_ns_ = kept_[number].time_ns;
        last_ = kept_[number].outputs;
        fresh_ = true;
    }
    return ask_or_hold(Command::restore);
}

Status RemoteUnit::derivative(const double* inputs, double* outputs) {
    if (!has_derivatives_) return cannot("give derivatives");
    std::memcpy(block_.seeds(), inputs, input_count_ * sizeof(double));
    const auto status = ask_or_hold(Command::derivative);
    if (held_) {
        std::fill_n(outputs, output_count_, 0.0);
    } else if (!failed(status)) {
        std::memcpy(outputs, block_.changes(), output_count_ * sizeof(double));
    }
    return status;
}

Status RemoteUnit::enter_event_mode() {
    stale_ = true;
    return ask_or_hold(Command::enter_event_mode);
}

Status RemoteUnit::update_discrete(Discrete& update) {
    const auto status = ask_or_hold(Command::update_discrete);
    fresh_ = held_;
    const auto& header = block_.header();
    update = {};
    if (held_ || failed(status)) return status;
    update = {header.again != 0, header.discrete_terminate != 0, header.values_changed != 0,
              header.has_next != 0, header.next_ns};
    return status;
}

Status RemoteUnit::enter_step_mode() {
    fresh_ = held_;
    return ask_or_hold(Command::enter_step_mode);
}

}  // namespace softdock
