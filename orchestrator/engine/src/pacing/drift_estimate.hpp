// By how much the clock of a device runs apart from that of this computer: the slope of a straight
// line through the moments of its ticks, by least squares over all of them, in constant memory.
// Where the device was silent the line begins anew, with the same slope: silence is no slow clock.
#pragma once

#include <cstdint>
#include <limits>

namespace softdock {

class DriftEstimate {
  public:
    // The device was silent where a tick comes by so much later than the one before let expect.
    explicit DriftEstimate(std::int64_t silence_ns = std::numeric_limits<std::int64_t>::max())
        : silence_ns_(silence_ns) {}

    // A tick: nanoseconds by the device, and by this computer.
    void add(std::int64_t device_ns, std::int64_t here_ns);

    std::int64_t samples() const { return samples_; }
    // How much longer the device's second is than ours, in millionths; 0 before the second sample.
    double ppm() const;
    // Its standard deviation, from what is left over; 0 before the third sample.
    double sigma_ppm() const;
    // How often the device was silent, and for how long in all.
    std::int64_t silences() const { return silences_; }
    std::int64_t silent_ns() const { return silent_ns_; }

  private:
    void begin_line(std::int64_t device_ns, std::int64_t here_ns);

    std::int64_t silence_ns_, silences_ = 0, silent_ns_ = 0;
    std::int64_t samples_ = 0, on_line_ = 0, first_device_ns_ = 0, first_here_ns_ = 0;
    std::int64_t last_ahead_ns_ = 0;
    // Means on the line, and sums of squares and products about them (Welford), over all lines, of
    // the device's time and of how far ours is ahead of it: that is small, so nothing is lost to
    // rounding.
    double time_ = 0.0, ahead_ = 0.0, time2_ = 0.0, product_ = 0.0, ahead2_ = 0.0;
};

}  // namespace softdock
