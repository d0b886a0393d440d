#include "devices/log_unit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <utility>

namespace softdock {

LogUnit::LogUnit(std::string name, Log log) : Unit(std::move(name)), log_(std::move(log)) {
    if (log_.times_ns.empty() || log_.values.size() != log_.times_ns.size() * log_.columns ||
        log_.held.size() != log_.columns) {
        throw std::invalid_argument("the parts of a recording do not fit together");
    }
}

void LogUnit::bind(std::vector<std::int64_t> inputs, std::vector<std::int64_t> outputs) {
    const auto within = [&](std::int64_t least) {
        return [=](std::int64_t column) {
            return column >= least && column < static_cast<std::int64_t>(log_.columns);
        };
    };
    if (!std::all_of(inputs.begin(), inputs.end(), within(unrecorded)) ||
        !std::all_of(outputs.begin(), outputs.end(), within(0))) {
        throw std::invalid_argument("a column is bound that the recording has not");
    }
    inputs_ = std::move(inputs);
    outputs_ = std::move(outputs);
    given_.assign(inputs_.size(), 0.0);
    now_.differences.assign(inputs_.size(), {});
    input_count_ = inputs_.size();
    output_count_ = outputs_.size();
}

Status LogUnit::begin(std::int64_t time_ns) {
    const auto status = go(time_ns);
    now_.interpolated = 0;
    return status;
}

Status LogUnit::go(std::int64_t time_ns) {
    const auto& times = log_.times_ns;
    if (time_ns < times.front() || time_ns > times.back()) {
        char text[160];
        std::snprintf(text, sizeof text,
                      "the recording has values from %.9g s to %.9g s, not for t = %.9g s",
                      to_seconds(times.front()), to_seconds(times.back()), to_seconds(time_ns));
        failure_ = text;
        return Status::error;
    }
    auto& row = now_.row;
    const bool near = row + 1 < times.size() && times[row] <= time_ns && time_ns <= times[row + 1];
    if (near) {
        if (time_ns == times[row + 1]) ++row;
    } else {
        const auto after = std::upper_bound(times.begin(), times.end(), time_ns);
        row = static_cast<std::size_t>(after - times.begin()) - 1;
    }
    now_.weight = 0.0;
    if (time_ns == times[row]) return Status::ok;
    now_.weight = static_cast<double>(time_ns - times[row]) /
                  static_cast<double>(times[row + 1] - times[row]);
    ++now_.interpolated;
    return Status::ok;
}

double LogUnit::value(std::int64_t column) const {
    const auto place = static_cast<std::size_t>(column);
    const double* row = log_.values.data() + now_.row * log_.columns;
    if (now_.weight == 0.0 || log_.held[place]) return row[place];
    return row[place] + now_.weight * (row[place + log_.columns] - row[place]);
}

void LogUnit::compare(std::int64_t time_ns) {
    ++now_.compared;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        if (inputs_[i] == unrecorded) continue;
        const double difference = std::fabs(given_[i] - value(inputs_[i]));
        if (difference == 0.0) continue;
        auto& found = now_.differences[i];
        ++found.steps;
        if (difference > found.most) {
            found.most = difference;
            found.time_ns = time_ns;
        }
    }
}

Status LogUnit::set_inputs(const double* values) {
    std::copy_n(values, given_.size(), given_.begin());
    return Status::ok;
}

Status LogUnit::step(std::int64_t time_ns, std::int64_t step_ns) {
    const auto end_ns = time_ns + step_ns;
    const auto status = go(end_ns);
    if (failed(status)) return status;
    if (now_.weight == 0.0) compare(end_ns);
    reached_ = {end_ns};
    return Status::ok;
}

Status LogUnit::get_outputs(double* values) {
    for (std::size_t i = 0; i < outputs_.size(); ++i) values[i] = value(outputs_[i]);
    return Status::ok;
}

Status LogUnit::save(std::size_t number) {
    if (kept_.size() <= number) kept_.resize(number + 1);
    kept_[number] = now_;
    return Status::ok;
}

Status LogUnit::restore(std::size_t number) {
    now_ = kept_[number];
    return Status::ok;
}

}  // namespace softdock
