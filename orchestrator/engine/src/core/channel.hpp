// How a line delivers its samples: the delay and the loss of each, drawn from a counter.
#pragma once

#include <cstdint>
#include <vector>

namespace softdock {

// What became of one sample.
struct Delivery {
    std::int64_t delay_ns = 0;
    bool lost = false;
};

// A draw depends on the key, on the number of the sample, and (if correlated) on the draw before:
// so a line's draws are the same whatever else is in the system.
struct Channel {
    std::uint64_t key = 0;
    std::int64_t nominal_ns = 0;
    double loss = 0.0;  // probability
    // Delays in ns at equal steps of probability, 0 to 1; empty if the delay is not drawn.
    std::vector<double> quantiles_ns;
    std::int64_t correlation_ns = 0;  // time constant; 0: each draw stands alone
    // A recorded delay over time; one below zero is a loss. Empty if there is none.
    std::vector<std::int64_t> times_ns, delays_ns;
    bool interpolated = false;  // between two recorded delays; else the one before holds
    bool in_order = false;      // no sample arrives before one that was sent earlier
    bool by_arrival = false;    // the receiver takes what came last, not what was sent last

    // Whether its tables belong together.
    bool fits() const { return quantiles_ns.size() != 1 && times_ns.size() == delays_ns.size(); }
    // The fate of sample `number` (1, 2, ..), sent gap_ns after the one before; `normal` is what
    // correlated draws remember.
    Delivery deliver(std::int64_t number, std::int64_t time_ns, std::int64_t gap_ns,
                     double& normal) const;

  private:
    double correlated(std::int64_t number, std::int64_t gap_ns, double& normal) const;
    Delivery recorded(std::int64_t time_ns) const;
};

}  // namespace softdock
