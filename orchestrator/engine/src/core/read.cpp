#include "core/read.hpp"

#include <algorithm>
#include <cmath>

namespace softdock {

namespace {

constexpr const char* too_old = "it is read further back than its samples are kept";
constexpr const char* no_rotation = "a quaternion of length zero is no rotation";

}  // namespace

const char* Read::turn(std::vector<History>& histories, std::int64_t begin_ns, std::int64_t now_ns,
                       double* signals) const {
    double low[4], high[4];
    double part = 1.0;
    for (std::int32_t i = 0; i < 4; ++i) {
        Around found;
        if (!histories[history + i].around(begin_ns, now_ns, found)) return too_old;
        low[i] = found.low.value;
        high[i] = found.high.value;
        // Never ahead of the newest, nor before the first: there the signal was constant.
        part = std::clamp(share_of(found, begin_ns), 0.0, 1.0);
    }
    if (!on_arc(low, high, part, signals + target)) return no_rotation;
    for (std::int32_t i = 0; i < 4; ++i) {
        signals[target + i] = factor * signals[target + i] + offset;
    }
    return nullptr;
}

const char* Read::execute(std::vector<History>& histories, std::int64_t now_ns,
                          std::int64_t excess_ns, double* signals, double* slopes) const {
    auto& past = histories[history];
    const auto begin_ns =
        now_ns + shift_ns + fault_ns + std::llround(share * static_cast<double>(excess_ns));
    if (past.interpolation() == Interpolation::slerp)
        return turn(histories, begin_ns, now_ns, signals);
    const bool smoothed = past.extrapolation() == Extrapolation::smoothed;
    double value = 0.0, end = 0.0;
    if (!smoothed && !past.read(begin_ns, now_ns, value)) return too_old;
    if (smoothed || span_ns) {
        if (!past.read(begin_ns + span_ns, now_ns, end)) return too_old;
        if (smoothed) value = past.smooth(now_ns, end);
        if (span_ns) {
            const double span = static_cast<double>(span_ns) / 1e9;
            slopes[target] = factor * ((end - value) / span);
        } else {
            value = 0.5 * (value + end);
        }
    }
    signals[target] = factor * value + offset;
    return nullptr;
}

}  // namespace softdock
