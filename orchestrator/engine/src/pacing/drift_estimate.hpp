// By how much the clock of a device runs apart from that of this computer: the slope of a straight
// line through the moments of its ticks, by least squares over all of them, in constant memory.
#pragma once

#include <cstdint>

namespace softdock {

class DriftEstimate {
  public:
    // A tick: nanoseconds by the device, and by this computer.
    void add(std::int64_t device_ns, std::int64_t here_ns);

    std::int64_t samples() const { return samples_; }
    // How much longer the device's second is than ours, in millionths; 0 before the second sample.
    double ppm() const;
    // Its standard deviation, from what is left over; 0 before the third sample.
    double sigma_ppm() const;

  private:
    std::int64_t samples_ = 0, first_device_ns_ = 0, first_here_ns_ = 0;
    // Means, and sums of squares and products about them (Welford), of the device's time and of
    // how far ours is ahead of it: that is small, so nothing is lost to rounding.
    double time_ = 0.0, ahead_ = 0.0, time2_ = 0.0, product_ = 0.0, ahead2_ = 0.0;
};

}  // namespace softdock
