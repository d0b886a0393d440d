// Counts of durations in buckets whose width grows with the duration: linear below 64 ns, from
// there 32 buckets for each doubling, so a bucket is at most 1/32 of what is in it wide. The idea
// is that of HdrHistogram (hdrhistogram.org). It has one size and allocates nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace softdock {

class LatencyHistogram {
  public:
    // From 2^43 ns on, two and a half hours, all is one bucket.
    static constexpr std::size_t buckets = 64 + 37 * 32 + 1;

    // What is below 0 is counted with 0; minimum and total have it as it is.
    void add(std::int64_t ns);

    std::int64_t count() const { return count_; }
    std::int64_t minimum() const { return minimum_; }
    std::int64_t maximum() const { return maximum_; }
    std::int64_t total() const { return total_; }
    std::int64_t in_bucket(std::size_t bucket) const { return counts_[bucket]; }
    static std::size_t bucket_of(std::int64_t ns);
    // The least duration of a bucket, for `buckets` - 1 as well.
    static std::int64_t lowest(std::size_t bucket);

  private:
    std::array<std::int64_t, buckets> counts_{};
    std::int64_t count_ = 0, minimum_ = 0, maximum_ = 0, total_ = 0;
};

}  // namespace softdock
