#include "history.hpp"

#include <algorithm>

namespace softdock {

History::History(std::size_t slot, std::size_t depth, Reading reading)
    : slot_(slot), reading_(reading), ring_(std::max<std::size_t>(depth, 2)) {}

void History::start(std::int64_t start_ns, std::int64_t step_ns, double value) {
    start_ns_ = start_ns;
    step_ns_ = step_ns;
    newest_ = 0;
    std::fill(ring_.begin(), ring_.end(), value);
}

void History::push(double value) {
    ++newest_;
    ring_[static_cast<std::size_t>(newest_) % ring_.size()] = value;
}

double History::sample(std::int64_t index) const {
    const auto oldest =
        std::max<std::int64_t>(0, newest_ - static_cast<std::int64_t>(ring_.size()) + 1);
    index = std::max(index, oldest);
    return ring_[static_cast<std::size_t>(index) % ring_.size()];
}

double History::read(std::int64_t time_ns) const {
    const std::int64_t elapsed = time_ns - start_ns_;
    if (elapsed < 0 || newest_ == 0) return sample(0);
    std::int64_t index = elapsed / step_ns_;
    if (reading_ == Reading::hold) return sample(std::min(index, newest_));
    // Beyond the newest sample: along the line through the last two.
    index = std::min(index, newest_ - 1);
    const double fraction =
        static_cast<double>(elapsed - index * step_ns_) / static_cast<double>(step_ns_);
    const double low = sample(index);
    return low + fraction * (sample(index + 1) - low);
}

}  // namespace softdock
