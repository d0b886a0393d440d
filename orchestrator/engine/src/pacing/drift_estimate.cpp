#include "pacing/drift_estimate.hpp"

#include <algorithm>
#include <cmath>

namespace softdock {

void DriftEstimate::add(std::int64_t device_ns, std::int64_t here_ns) {
    if (samples_ == 0) {
        first_device_ns_ = device_ns;
        first_here_ns_ = here_ns;
    }
    ++samples_;
    const auto device = device_ns - first_device_ns_;
    const auto time = static_cast<double>(device);
    const auto ahead = static_cast<double>(here_ns - first_here_ns_ - device);
    const auto share = 1.0 / static_cast<double>(samples_);
    const auto from_time = time - time_, from_ahead = ahead - ahead_;
    time_ += share * from_time;
    ahead_ += share * from_ahead;
    time2_ += from_time * (time - time_);
    product_ += from_time * (ahead - ahead_);
    ahead2_ += from_ahead * (ahead - ahead_);
}

double DriftEstimate::ppm() const { return time2_ > 0.0 ? 1e6 * product_ / time2_ : 0.0; }

double DriftEstimate::sigma_ppm() const {
    if (samples_ < 3 || time2_ <= 0.0) return 0.0;
    const auto rest = std::max(ahead2_ - product_ * product_ / time2_, 0.0);
    return 1e6 * std::sqrt(rest / static_cast<double>(samples_ - 2) / time2_);
}

}  // namespace softdock
