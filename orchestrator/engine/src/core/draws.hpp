// Random numbers that are functions of a key and of counters: no state, so whoever asks again gets
// the same.
#pragma once

#include <cmath>
#include <cstdint>

namespace softdock {

// The output function of SplitMix64: a bijection of 64 bits that leaves no pattern of a counter.
inline std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

// In [0, 1), a multiple of 2^-53; a number has four streams.
inline double uniform_draw(std::uint64_t key, std::int64_t number, std::uint64_t stream) {
    const auto counter = 4 * static_cast<std::uint64_t>(number) + stream + 1;
    return static_cast<double>(mixed(key + 0x9E3779B97F4A7C15u * counter) >> 11) * 0x1p-53;
}

// Of mean 0 and variance 1, by Box and Muller, from streams 1 and 2.
inline double normal_draw(std::uint64_t key, std::int64_t number) {
    constexpr double pi = 3.141592653589793;
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform_draw(key, number, 1)));
    return radius * std::cos(2.0 * pi * uniform_draw(key, number, 2));
}

}  // namespace softdock
