// What a history remembers, as numbers of a saved state.
#include <algorithm>

#include "core/history.hpp"
#include "core/unit.hpp"

namespace softdock {

std::size_t History::number_count() const { return values_.size() + 4; }

std::size_t History::mark_count() const { return stamps_.size() + dues_.size() + 10; }

void History::save(std::vector<double>& numbers, std::vector<std::int64_t>& marks) const {
    numbers.insert(numbers.end(), values_.begin(), values_.end());
    numbers.insert(numbers.end(), {kept_.value, normal_, began_, ended_});
    marks.insert(marks.end(),
                 {newest_, kept_.time_ns, kept_due_, latest_due_, facts_.sent, facts_.dropped,
                  facts_.late, facts_.held, facts_.oldest_ns, last_read_ns_});
    marks.insert(marks.end(), stamps_.begin(), stamps_.end());
    marks.insert(marks.end(), dues_.begin(), dues_.end());
}

// Times far from the ends of 64 bits, so that their differences fit.
bool History::is_sound(const std::int64_t* marks) const {
    const auto* stamps = marks + 10;
    return marks[0] >= 0 && marks[0] <= reach_ns && in_reach(marks[1]) &&
           std::all_of(stamps, stamps + stamps_.size(), in_reach);
}

void History::restore(const double*& numbers, const std::int64_t*& marks) {
    std::copy_n(numbers, values_.size(), values_.begin());
    numbers += values_.size();
    kept_.value = numbers[0];
    normal_ = numbers[1];
    began_ = numbers[2];
    ended_ = numbers[3];
    numbers += 4;
    move_to(marks[0]);
    kept_.time_ns = marks[1];
    kept_due_ = marks[2];
    kept_number_ = -1;  // not known
    latest_due_ = marks[3];
    facts_ = {marks[4], marks[5], marks[6], marks[7], marks[8]};
    last_read_ns_ = marks[9];
    marks += 10;
    std::copy_n(marks, stamps_.size(), stamps_.begin());
    marks += stamps_.size();
    std::copy_n(marks, dues_.size(), dues_.begin());
    marks += dues_.size();
}

}  // namespace softdock
