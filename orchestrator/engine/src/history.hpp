// The past of one delayed signal on the time grid of its source.
#pragma once

#include <cstdint>
#include <vector>

namespace softdock {

// How a value between two samples is made.
enum class Reading { hold = 0, linear = 1 };

class History {
  public:
    // depth: samples kept; at least the longest read-back in steps, plus two.
    History(std::size_t slot, std::size_t depth, Reading reading);

    // The signal is constant at `value` up to the first sample, taken at start_ns.
    void start(std::int64_t start_ns, std::int64_t step_ns, double value);
    void push(double value);
    // The value at a time; past the newest sample it is extrapolated (linear) or held (hold).
    double read(std::int64_t time_ns) const;

    std::size_t slot() const { return slot_; }

    // The samples as they lie in memory, and the number of the newest: all that changes in a run.
    std::vector<double>& ring() { return ring_; }
    std::int64_t newest() const { return newest_; }
    void set_newest(std::int64_t newest) { newest_ = newest; }

  private:
    double sample(std::int64_t index) const;

    std::size_t slot_;
    Reading reading_;
    std::vector<double> ring_;
    std::int64_t start_ns_ = 0;
    std::int64_t step_ns_ = 1;
    std::int64_t newest_ = 0;
};

}  // namespace softdock
