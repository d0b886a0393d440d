#include "pacing/drift_estimate.hpp"

#include <algorithm>
#include <cmath>

namespace softdock {

void DriftEstimate::begin_line(std::int64_t device_ns, std::int64_t here_ns) {
    first_device_ns_ = device_ns;
    first_here_ns_ = here_ns;
    on_line_ = last_ahead_ns_ = 0;
    time_ = ahead_ = 0.0;
}

void DriftEstimate::add(std::int64_t device_ns, std::int64_t here_ns) {
    const auto ahead_of = [&] { return here_ns - first_here_ns_ - (device_ns - first_device_ns_); };
    if (samples_ == 0) {
        begin_line(device_ns, here_ns);
    } else if (const auto late_ns = ahead_of() - last_ahead_ns_; late_ns > silence_ns_) {
        ++silences_;
        silent_ns_ += late_ns;
        begin_line(device_ns, here_ns);
    }
    ++samples_;
    ++on_line_;
    last_ahead_ns_ = ahead_of();
    const auto time = static_cast<double>(device_ns - first_device_ns_);
    const auto ahead = static_cast<double>(last_ahead_ns_);
    const auto share = 1.0 / static_cast<double>(on_line_);
    const auto from_time = time - time_, from_ahead = ahead - ahead_;
    time_ += share * from_time;
    ahead_ += share * from_ahead;
    time2_ += from_time * (time - time_);
    product_ += from_time * (ahead - ahead_);
    ahead2_ += from_ahead * (ahead - ahead_);
}

double DriftEstimate::ppm() const { return time2_ > 0.0 ? 1e6 * product_ / time2_ : 0.0; }

double DriftEstimate::sigma_ppm() const {
    const auto free = samples_ - 2 - silences_;
    if (free < 1 || time2_ <= 0.0) return 0.0;
    const auto rest = std::max(ahead2_ - product_ * product_ / time2_, 0.0);
    return 1e6 * std::sqrt(rest / static_cast<double>(free) / time2_);
}

}  // namespace softdock
