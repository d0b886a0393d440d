#include "pacing/latency_histogram.hpp"

#include <algorithm>

namespace softdock {

namespace {

constexpr std::int64_t linear = 64;  // durations below it have buckets of their own
constexpr int linear_bits = 6;
constexpr std::size_t parts = 32;  // of a doubling

}  // namespace

std::size_t LatencyHistogram::bucket_of(std::int64_t ns) {
    if (ns < linear) return static_cast<std::size_t>(std::max<std::int64_t>(ns, 0));
    const int doubling = 63 - __builtin_clzll(static_cast<unsigned long long>(ns));
    const auto row = static_cast<std::size_t>(doubling - linear_bits);
    const auto part = static_cast<std::size_t>(ns >> (doubling - 5)) - parts;
    return std::min(static_cast<std::size_t>(linear) + row * parts + part, buckets - 1);
}

std::int64_t LatencyHistogram::lowest(std::size_t bucket) {
    if (bucket < static_cast<std::size_t>(linear)) return static_cast<std::int64_t>(bucket);
    const auto beyond = bucket - static_cast<std::size_t>(linear);
    return static_cast<std::int64_t>(parts + beyond % parts) << (beyond / parts + 1);
}

void LatencyHistogram::add(std::int64_t ns) {
    ++counts_[bucket_of(ns)];
    minimum_ = count_ ? std::min(minimum_, ns) : ns;
    maximum_ = count_ ? std::max(maximum_, ns) : ns;
    total_ += ns;
    ++count_;
}

}  // namespace softdock
