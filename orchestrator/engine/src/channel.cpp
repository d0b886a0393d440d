#include "channel.hpp"

#include <algorithm>
#include <cmath>

namespace softdock {

namespace {

// The output function of SplitMix64: a bijection of 64 bits that leaves no pattern of a counter.
std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

constexpr double pi = 3.141592653589793;

std::int64_t rounded(double ns) { return static_cast<std::int64_t>(std::floor(ns + 0.5)); }

}  // namespace

// In [0, 1), a multiple of 2^-53.
double Channel::uniform(std::int64_t number, std::uint64_t stream) const {
    const auto counter = 4 * static_cast<std::uint64_t>(number) + stream + 1;
    return static_cast<double>(mix(key + 0x9E3779B97F4A7C15u * counter) >> 11) * 0x1p-53;
}

// Uniform again, but through a normal variable that a first-order filter correlates in time.
double Channel::correlated(std::int64_t number, std::int64_t gap_ns, double& normal) const {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform(number, 1)));
    const double fresh = radius * std::cos(2.0 * pi * uniform(number, 2));
    if (number == 1) {
        normal = fresh;
    } else {
        const double kept =
            std::exp(-static_cast<double>(gap_ns) / static_cast<double>(correlation_ns));
        normal = kept * normal + std::sqrt(1.0 - kept * kept) * fresh;
    }
    return 0.5 * std::erfc(-normal / std::sqrt(2.0));
}

Delivery Channel::recorded(std::int64_t time_ns) const {
    const auto after = std::upper_bound(times_ns.begin(), times_ns.end(), time_ns);
    const auto next = static_cast<std::size_t>(after - times_ns.begin());
    const auto row = next ? next - 1 : 0;  // before the first row, the first holds
    const auto delay = delays_ns[row];
    if (delay < 0) return {0, true};
    if (!interpolated || !next || next == times_ns.size() || delays_ns[next] < 0) {
        return {delay, false};
    }
    const double share = static_cast<double>(time_ns - times_ns[row]) /
                         static_cast<double>(times_ns[next] - times_ns[row]);
    const double change = static_cast<double>(delays_ns[next] - delay);
    return {delay + rounded(share * change), false};
}

Delivery Channel::deliver(std::int64_t number, std::int64_t time_ns, std::int64_t gap_ns,
                          double& normal) const {
    Delivery found{nominal_ns, false};
    if (!times_ns.empty()) {
        found = recorded(time_ns);
    } else if (!quantiles.empty()) {
        const double share =
            correlation_ns ? correlated(number, gap_ns, normal) : uniform(number, 1);
        const auto last = quantiles.size() - 1;
        const double place = share * static_cast<double>(last);
        const auto below = std::min(static_cast<std::size_t>(place), last - 1);
        const double rest = place - static_cast<double>(below);
        const double low = quantiles[below];
        found.delay_ns = rounded(low + rest * (quantiles[below + 1] - low));
    }
    if (loss > 0.0 && uniform(number, 0) < loss) found.lost = true;
    return found;
}

}  // namespace softdock
