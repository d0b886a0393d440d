// A set of places of a ring, with the nearest member from any place upwards and downwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace softdock {

// Bits in levels: a bit of a level says whether a word of the level below has any. A step through
// 64**k places takes k words. Nothing is allocated once the size is set.
class PlaceSet {
  public:
    static constexpr std::int64_t none = -1;

    // Places 0 to size - 1, none of them in the set.
    void resize(std::size_t size) {
        levels_.clear();
        do {
            size = (size + 63) / 64;
            levels_.emplace_back(size, 0);
        } while (size > 1);
    }
    void clear() {
        for (auto& level : levels_) level.assign(level.size(), 0);
    }
    void insert(std::size_t place) {
        for (auto& level : levels_) {
            level[place / 64] |= std::uint64_t{1} << place % 64;
            place /= 64;
        }
    }
    void erase(std::size_t place) {
        for (auto& level : levels_) {
            auto& word = level[place / 64];
            word &= ~(std::uint64_t{1} << place % 64);
            if (word != 0) return;
            place /= 64;
        }
    }
    // The member at a place or next above it, or none.
    std::int64_t from(std::size_t place) const {
        for (std::size_t k = 0; k < levels_.size() && place / 64 < levels_[k].size(); ++k) {
            const auto above = levels_[k][place / 64] & (~std::uint64_t{0} << place % 64);
            if (above != 0) return lowest(k, place / 64 * 64 + trailing(above));
            place = place / 64 + 1;
        }
        return none;
    }
    // The member at a place or next below it, or none.
    std::int64_t until(std::size_t place) const {
        for (std::size_t k = 0; k < levels_.size(); ++k) {
            const auto below = levels_[k][place / 64] & (~std::uint64_t{0} >> (63 - place % 64));
            if (below != 0) return highest(k, place / 64 * 64 + leading(below));
            if (place / 64 == 0) return none;
            place = place / 64 - 1;
        }
        return none;
    }

  private:
    static std::size_t trailing(std::uint64_t word) {
        std::size_t bit = 0;
        for (std::size_t step = 32; step > 0; step /= 2) {
            if ((word & ((std::uint64_t{1} << step) - 1)) == 0) {
                word >>= step;
                bit += step;
            }
        }
        return bit;
    }
    static std::size_t leading(std::uint64_t word) {
        std::size_t bit = 0;
        for (std::size_t step = 32; step > 0; step /= 2) {
            if (word >> step != 0) {
                word >>= step;
                bit += step;
            }
        }
        return bit;
    }
    // The least and the greatest place below a bit of a level.
    std::int64_t lowest(std::size_t level, std::size_t bit) const {
        while (level-- > 0) bit = bit * 64 + trailing(levels_[level][bit]);
        return static_cast<std::int64_t>(bit);
    }
    std::int64_t highest(std::size_t level, std::size_t bit) const {
        while (level-- > 0) bit = bit * 64 + leading(levels_[level][bit]);
        return static_cast<std::int64_t>(bit);
    }

    std::vector<std::vector<std::uint64_t>> levels_;
};

}  // namespace softdock
