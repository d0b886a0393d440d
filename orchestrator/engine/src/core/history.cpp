#include "core/history.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "core/unit.hpp"

namespace softdock {

namespace {

constexpr std::int64_t always = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
// In place of the number of a sample.
constexpr std::int64_t the_kept = -1;
constexpr std::int64_t none = -2;
// Of the samples around a time, those that come after the one it follows.
constexpr std::int64_t samples_after = 3;

}  // namespace

History::History(std::size_t slot, std::size_t depth, Interpolation interpolation,
                 Extrapolation extrapolation, std::shared_ptr<const Channel> channel)
    : slot_(slot),
      interpolation_(interpolation),
      extrapolation_(extrapolation),
      channel_(std::move(channel)),
      values_(std::max<std::size_t>(depth, 2)),
      stamps_(values_.size()),
      dues_(channel_ ? values_.size() : 0) {
    if (!channel_) return;
    coming_.reserve(2 * values_.size());
    if (!holds()) usable_.resize(values_.size());
}

void History::start(std::int64_t start_ns, double value) {
    start_ns_ = start_ns;
    move_to(0);
    std::fill(values_.begin(), values_.end(), value);
    std::fill(stamps_.begin(), stamps_.end(), start_ns);
    std::fill(dues_.begin(), dues_.end(), always);
    kept_ = {start_ns, value};
    kept_due_ = latest_due_ = always;
    kept_number_ = 0;
    normal_ = 0.0;
    began_ = ended_ = value;
    last_read_ns_ = always;
    facts_ = {};
}

void History::deepen(std::size_t depth) {
    if (depth <= values_.size()) return;
    std::vector<double> values(depth, values_.front());
    std::vector<std::int64_t> stamps(depth, start_ns_), dues(dues_.empty() ? 0 : depth, always);
    for (auto n = std::max<std::int64_t>(0, newest_ - size() + 1); n <= newest_; ++n) {
        const auto at = static_cast<std::size_t>(n) % depth;
        values[at] = values_[place(n)];
        stamps[at] = stamp(n);
        if (channel_) dues[at] = dues_[place(n)];
    }
    values_ = std::move(values);
    stamps_ = std::move(stamps);
    dues_ = std::move(dues);
    if (channel_) coming_.reserve(2 * depth);
    if (channel_ && !holds()) usable_.resize(depth);
    move_to(newest_);
}

void History::push(std::int64_t time_ns, double value) {
    const auto before_ns = stamp(newest_);
    ++newest_;
    if (++head_ == size()) head_ = 0;
    values_[place(newest_)] = value;
    stamps_[place(newest_)] = time_ns;
    if (!channel_) return;
    dues_[place(newest_)] = due(time_ns, before_ns);
    if (followed_to_ns_ == unfollowed) return;
    if (!holds()) {
        const auto at = place(newest_);
        usable_.erase(at);
        if (usable(newest_, followed_to_ns_)) {
            usable_.insert(at);
            return;
        }
    }
    await_due(newest_);
}

void History::put(std::int64_t time_ns, double value) {
    if (newest_ > 0 && stamp(newest_) == time_ns) {
        values_[place(newest_)] = value;
    } else {
        push(time_ns, value);
    }
}

void History::take_back(std::int64_t time_ns) {
    if (newest_ > 0 && stamp(newest_) == time_ns) move_to(newest_ - 1);
}

void History::amend(double value) {
    if (newest_ > 0) values_[place(newest_)] = value;
}

std::int64_t History::due(std::int64_t time_ns, std::int64_t before_ns) {
    const auto fate = channel_->deliver(newest_, time_ns, time_ns - before_ns, normal_);
    ++facts_.sent;
    if (fate.lost) {
        ++facts_.dropped;
        return never;
    }
    const auto late = fate.delay_ns - channel_->nominal_ns;
    if (late > 0) ++facts_.late;
    auto known = time_ns + late;
    if (!holds()) known = late > 0 ? before_ns + late : always;
    latest_due_ = std::max(latest_due_, known);
    return channel_->in_order ? latest_due_ : known;
}

Point History::point(std::int64_t number) const {
    if (number == the_kept) return kept_;
    return {stamp(number), values_[place(number)]};
}

std::int64_t History::oldest() const {
    return std::max<std::int64_t>(0, newest_ - size() + static_cast<std::int64_t>(spare_) + 1);
}

bool History::usable(std::int64_t number, std::int64_t time_ns) const {
    return !channel_ || dues_[place(number)] <= time_ns;
}

// Number of the newest sample not after a time; oldest() - 1 if there is none.
std::int64_t History::find(std::int64_t time_ns) const {
    if (stamp(newest_) <= time_ns) return newest_;
    auto low = oldest();
    // Where it was last, seen from the newest.
    const auto last = newest_ - back_;
    if (last >= low && last < newest_ && stamp(last) <= time_ns && time_ns < stamp(last + 1)) {
        return last;
    }
    if (stamp(low) > time_ns) return low - 1;
    // Where it would be if all distances were the last one.
    const auto gap = std::max<std::int64_t>(1, stamp(newest_) - stamp(newest_ - 1));
    const auto back = (stamp(newest_) - time_ns + gap - 1) / gap;
    const auto guess = std::clamp(newest_ - back, low, newest_ - 1);
    if (stamp(guess) <= time_ns && time_ns < stamp(guess + 1)) {
        back_ = newest_ - guess;
        return guess;
    }
    auto high = newest_;
    while (high - low > 1) {
        const auto middle = low + (high - low) / 2;
        (stamp(middle) <= time_ns ? low : high) = middle;
    }
    return low;
}

// The sample that came last, of those that are due; the newer of two that came together.
std::int64_t History::last_arrived(std::int64_t time_ns) const {
    auto found = the_kept;
    auto found_due = kept_due_;
    for (auto i = oldest(); i <= newest_; ++i) {
        const auto known = dues_[place(i)];
        if (known <= time_ns && known >= found_due) {
            found = i;
            found_due = known;
        }
    }
    return found;
}

// The newest sample that the receiver has, from a number downwards.
std::int64_t History::newest_sent(std::int64_t number, std::int64_t time_ns) const {
    if (channel_ && !holds()) {
        number = usable_until(number);
    } else {
        while (number >= oldest() && !usable(number, time_ns)) --number;
    }
    if (number >= oldest()) return number;
    if (channel_) return the_kept;
    return oldest() == 0 ? 0 : none;  // before the first sample the signal was constant
}

std::int64_t History::held_by_search(std::int64_t time_ns) {
    ++searches_;
    return channel_->by_arrival ? last_arrived(time_ns) : newest_sent(newest_, time_ns);
}

// Puts a sample among those that are not due yet. Samples that the ring has lost are of no use: the
// heap has room for as many of them as for others, so that they are looked for now and then only.
void History::await_due(std::int64_t number) {
    const auto known = dues_[place(number)];
    if (known == never) return;
    if (coming_.size() == coming_.capacity()) {
        const auto is_lost = [this](const Due& one) { return one.number < oldest(); };
        coming_.erase(std::remove_if(coming_.begin(), coming_.end(), is_lost), coming_.end());
        std::make_heap(coming_.begin(), coming_.end(), std::greater<>());
    }
    coming_.push_back({known, number});
    std::push_heap(coming_.begin(), coming_.end(), std::greater<>());
}

// Follows what becomes due from a time on, at which the receiver has this sample.
void History::follow_dues(std::int64_t time_ns, std::int64_t number) {
    followed_to_ns_ = time_ns;
    best_ = number == the_kept ? Due{kept_due_, kept_number_} : Due{dues_[place(number)], number};
    coming_.clear();
    for (auto i = oldest(); i <= newest_; ++i) {
        if (!usable(i, time_ns)) await_due(i);
    }
}

// The sample that a held reading has: what became due since the last one, or what that had.
std::int64_t History::held_sample(std::int64_t time_ns) {
    if (time_ns < followed_to_ns_) return held_by_search(time_ns);
    if (followed_to_ns_ == unfollowed) {
        const auto number = held_by_search(time_ns);
        follow_dues(time_ns, number);
        return number;
    }
    followed_to_ns_ = time_ns;
    while (!coming_.empty() && coming_.front().time_ns <= time_ns) {
        const auto arrived = coming_.front();
        std::pop_heap(coming_.begin(), coming_.end(), std::greater<>());
        coming_.pop_back();
        const bool better = channel_->by_arrival ? arrived > best_ : arrived.number > best_.number;
        if (better && arrived.number >= oldest()) best_ = arrived;
    }
    if (best_.number >= oldest()) return best_.number;
    // The ring has lost it: the receiver has it still, unless it has read the past since.
    return best_.number == kept_number_ ? the_kept : held_by_search(time_ns);
}

// Follows which samples a reading that interpolates can use, up to a time.
void History::follow_usable(std::int64_t time_ns) {
    if (followed_to_ns_ == unfollowed || time_ns < followed_to_ns_) {
        ++searches_;
        usable_.clear();
        coming_.clear();
        for (auto i = oldest(); i <= newest_; ++i) {
            if (usable(i, time_ns)) {
                usable_.insert(place(i));
            } else {
                await_due(i);
            }
        }
    }
    followed_to_ns_ = time_ns;
    while (!coming_.empty() && coming_.front().time_ns <= time_ns) {
        const auto number = coming_.front().number;
        std::pop_heap(coming_.begin(), coming_.end(), std::greater<>());
        coming_.pop_back();
        if (number >= oldest()) usable_.insert(place(number));
    }
}

// The usable sample with the least number from this one on, or none.
std::int64_t History::usable_from(std::int64_t number) const {
    if (number > newest_) return none;
    if (!channel_) return number;
    const auto begin = place(number);
    auto found = usable_.from(begin);
    if (begin > static_cast<std::size_t>(head_)) {
        if (found != PlaceSet::none) return newest_ - head_ - size() + found;
        found = usable_.from(0);
    }
    return found == PlaceSet::none || found > head_ ? none : newest_ - head_ + found;
}

// The usable sample with the greatest number up to this one, or one before the oldest.
std::int64_t History::usable_until(std::int64_t number) const {
    const auto before = oldest() - 1;
    if (number <= before) return before;
    if (!channel_) return number;
    const auto last = static_cast<std::int64_t>(place(number)),
               first = static_cast<std::int64_t>(place(oldest()));
    auto found = usable_.until(static_cast<std::size_t>(last));
    if (found >= (first <= last ? first : 0)) return number - (last - found);
    if (first <= last) return before;
    found = usable_.until(values_.size() - 1);
    return found < first ? before : number - last - (size() - found);
}

// The newest sample that the receiver has, and that is not after the time if it interpolates.
std::int64_t History::newest_known(std::int64_t time_ns) {
    if (channel_ && holds()) return held_sample(time_ns);
    if (channel_) follow_usable(time_ns);
    return newest_sent(find(time_ns), time_ns);
}

std::int64_t History::next(std::int64_t number) const {
    auto i = usable_from(number == the_kept ? oldest() : number + 1);
    while (i != none && stamp(i) <= point(number).time_ns) i = usable_from(i + 1);
    return i;
}

std::int64_t History::previous(std::int64_t number) const {
    if (number == the_kept) return none;
    const auto i = usable_until(number - 1);
    if (i >= oldest()) return i;
    return channel_ && kept_.time_ns < stamp(number) ? the_kept : none;
}

void History::keep(std::int64_t number) {
    if (number == the_kept) return;
    kept_ = point(number);
    kept_due_ = dues_[place(number)];
    kept_number_ = number;
}

void History::count(std::int64_t now_ns, std::int64_t sample_ns, bool held) {
    if (now_ns <= last_read_ns_) return;  // again in the same step
    last_read_ns_ = now_ns;
    if (held) ++facts_.held;
    facts_.oldest_ns = std::max(facts_.oldest_ns, now_ns - sample_ns);
}

double History::smooth(std::int64_t now_ns, double end) {
    if (now_ns > last_read_ns_) began_ = ended_;
    last_read_ns_ = now_ns;
    ended_ = end;
    return began_;
}

bool History::hold(std::int64_t time_ns, std::int64_t now_ns, double& value) {
    const auto number = newest_known(time_ns);
    if (number == none) return false;
    const auto found = point(number);
    value = found.value;
    if (channel_) {
        // Until the first sample has come, the line is only empty.
        const bool held = found.time_ns == kept_.time_ns && found.time_ns != start_ns_;
        count(now_ns, found.time_ns, held);
        keep(number);
    }
    return true;
}

bool History::around(std::int64_t time_ns, std::int64_t now_ns, Around& found) {
    const auto known = newest_known(time_ns);
    if (known == none) return false;
    auto low = known;
    auto high = next(low);
    found.beyond = high == none && time_ns > point(low).time_ns;
    found.has_after = false;
    if (high == none) {
        high = low;
        low = previous(high);
    } else {
        const auto after = next(high);
        found.has_after = after != none;
        if (found.has_after) found.after = point(after);
    }
    found.high = point(high);
    found.low = low == none ? found.high : point(low);
    const auto before = low == none ? none : previous(low);
    found.has_before = before != none;
    if (found.has_before) found.before = point(before);
    // Until the first sample has come, the line is only empty.
    const bool held = found.beyond && found.high.time_ns != start_ns_;
    if (channel_ || interpolation_ == Interpolation::slerp) count(now_ns, found.high.time_ns, held);
    if (channel_) keep(known);
    return true;
}

bool History::read(std::int64_t time_ns, std::int64_t now_ns, double& value) {
    if (holds()) return hold(time_ns, now_ns, value);
    Around found;
    if (!around(time_ns, now_ns, found)) return false;
    if (time_ns <= start_ns_) {
        value = found.low.value;
    } else if (found.high.time_ns == time_ns ||
               (found.beyond && extrapolation_ == Extrapolation::hold)) {
        value = found.high.value;
    } else if (found.beyond && extrapolation_ == Extrapolation::quadratic) {
        value = on_parabola(found, time_ns);
    } else if (found.beyond || interpolation_ == Interpolation::linear) {
        value = on_line(found, time_ns);
    } else {
        value = on_cubic(found, time_ns);
    }
    return true;
}

// Up to six samples in a row, with the time between the third and the fourth where there are as
// many on either side; none if all are newer than the time.
Points History::samples_around(std::int64_t time_ns, Room& room, std::int64_t& first) const {
    const auto found = find(time_ns);
    if (found < oldest()) return {nullptr, nullptr, 0};
    const auto last = std::min(found + samples_after, newest_);
    first = std::max(last - static_cast<std::int64_t>(most_points) + 1, oldest());
    const auto count = static_cast<std::size_t>(last - first + 1);
    const auto at = place(first);
    if (at + count <= values_.size()) {
        return {stamps_.data() + at, values_.data() + at, count};
    }
    for (std::size_t i = 0; i < count; ++i) {
        const auto from = place(first + static_cast<std::int64_t>(i));
        room.times_ns[i] = stamps_[from];
        room.values[i] = values_[from];
    }
    return {room.times_ns, room.values, count};
}

// As read(), but on the curve through six samples where that lies between two of them.
bool History::read_curve(std::int64_t time_ns, std::int64_t now_ns, double& value) {
    if (time_ns <= start_ns_ || time_ns > stamp(newest_)) return read(time_ns, now_ns, value);
    Room room;
    std::int64_t first = none;
    const auto points = samples_around(time_ns, room, first);
    if (points.count == 0) return false;
    value = value_through(points, time_ns);
    return true;
}

// The values of six samples that lie to the span, and to the newest, as those that were followed
// last: others would not be found. Null if they do not, or do not stand side by side.
const double* History::values_as_before(const Span& span) const {
    if (followed_back_ < 0 || newest_ < followed_back_) return nullptr;
    const auto at = place(newest_ - followed_back_);
    if (at + most_points > values_.size()) return nullptr;
    return weights_.are_of(stamps_.data() + at, span) ? values_.data() + at : nullptr;
}

bool History::follow(const Span& span, std::int64_t now_ns, Waveform& found) {
    if (const auto* values = values_as_before(span)) {
        found = weights_.through(values);
        return true;
    }
    const auto end_ns = span.begin_ns + span.length_ns;
    Room room;
    std::int64_t first = none;
    followed_back_ = -1;
    if (span.begin_ns >= start_ns_ && end_ns <= stamp(newest_)) {
        const auto points = samples_around(span.begin_ns, room, first);
        if (points.count == 0) return false;
        if (end_ns <= points.times_ns[points.count - 1]) {
            weights_.make(points, span);
            found = weights_.through(points.values);
            if (points.count == most_points) followed_back_ = newest_ - first;
            return true;
        }
    }
    // At different times: a span of less than 5 ns has room for fewer.
    const auto parts = std::min(span.length_ns, static_cast<std::int64_t>(most_points) - 1);
    for (std::int64_t i = 0; i <= parts; ++i) {
        room.times_ns[i] = span.begin_ns + span.length_ns * i / parts;
        if (!read_curve(room.times_ns[i], now_ns, room.values[i])) return false;
    }
    weights_.make({room.times_ns, room.values, static_cast<std::size_t>(parts) + 1}, span);
    found = weights_.through(room.values);
    return true;
}

}  // namespace softdock
