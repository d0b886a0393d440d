#include "core/read.hpp"

#include <algorithm>
#include <cmath>

namespace softdock {

namespace {

constexpr const char* too_old = "it is read further back than its samples are kept";
constexpr const char* no_rotation = "a quaternion of length zero is not a rotation";

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

const char* Read::follow(History& past, std::int64_t begin_ns, std::int64_t length_ns,
                         std::int64_t now_ns, std::vector<double>& signals,
                         std::vector<double>& derivatives) const {
    Waveform found;
    if (!past.follow({begin_ns, length_ns, keeps_end != 0}, now_ns, found)) return too_old;
    if (order < most_order) {
        found = found.reduced(static_cast<double>(length_ns) / 1e9, order, keeps_end != 0);
    }
    signals[target] = factor * found.value + offset;
    for (std::int32_t k = 0; k < order; ++k) {
        derivatives[static_cast<std::size_t>(k) * signals.size() + target] =
            factor * found.derivatives[k];
    }
    return nullptr;
}

const char* Read::execute(std::vector<History>& histories, std::int64_t now_ns,
                          std::int64_t excess_ns, std::vector<double>& signals,
                          std::vector<double>& derivatives) const {
    auto& past = histories[history];
    auto begin_ns = now_ns + shift_ns + fault_ns;
    if (excess_ns) begin_ns += std::llround(share * static_cast<double>(excess_ns));
    if (past.interpolation() == Interpolation::slerp)
        return turn(histories, begin_ns, now_ns, signals.data());
    if (order) return follow(past, begin_ns, span_ns + excess_ns, now_ns, signals, derivatives);
    const bool smoothed = past.extrapolation() == Extrapolation::smoothed;
    double value = 0.0, end = 0.0;
    if (!smoothed && !past.read(begin_ns, now_ns, value)) return too_old;
    if (smoothed || span_ns) {
        if (!past.read(begin_ns + span_ns, now_ns, end)) return too_old;
        if (smoothed) value = past.smooth(now_ns, end);
        if (span_ns) {
            const double span = static_cast<double>(span_ns) / 1e9;
            derivatives[target] = factor * ((end - value) / span);
        } else {
            value = 0.5 * (value + end);
        }
    }
    signals[target] = factor * value + offset;
    return nullptr;
}

}  // namespace softdock
