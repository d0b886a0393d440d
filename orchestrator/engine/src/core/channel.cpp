#include "core/channel.hpp"

#include <algorithm>
#include <cmath>

#include "core/draws.hpp"

namespace softdock {

namespace {

std::int64_t rounded(double ns) { return static_cast<std::int64_t>(std::floor(ns + 0.5)); }

}  // namespace

// Uniform again, but through a normal variable that a first-order filter correlates in time.
double Channel::correlated(std::int64_t number, std::int64_t gap_ns, double& normal) const {
    const double fresh = normal_draw(key, number);
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
    } else if (!quantiles_ns.empty()) {
        const double share =
            correlation_ns ? correlated(number, gap_ns, normal) : uniform_draw(key, number, 1);
        const auto last = quantiles_ns.size() - 1;
        const double place = share * static_cast<double>(last);
        const auto below = std::min(static_cast<std::size_t>(place), last - 1);
        const double rest = place - static_cast<double>(below);
        const double low = quantiles_ns[below];
        found.delay_ns = rounded(low + rest * (quantiles_ns[below + 1] - low));
    }
    if (loss > 0.0 && uniform_draw(key, number, 0) < loss) found.lost = true;
    return found;
}

}  // namespace softdock
