#include "core/fault.hpp"

#include <algorithm>
#include <utility>

#include "core/draws.hpp"

namespace softdock {

namespace {

constexpr std::int64_t no_time = std::numeric_limits<std::int64_t>::max();

}  // namespace

double Fault::apply(double value, std::int64_t time_ns) {
    const bool acting = acts(time_ns);
    if (effect == Effect::drop) {
        if (acting) return held;
        held = value;
        return value;
    }
    if (!acting) return value;
    switch (effect) {
        case Effect::stuck:
            if (held_at_ns >= begin_ns && held_at_ns < time_ns) return held;
            held = value;
            held_at_ns = time_ns;
            return value;
        case Effect::bias:
            return value + amount;
        case Effect::drift:
            return value + amount * (static_cast<double>(time_ns - begin_ns) / 1e9);
        case Effect::scale:
            return amount * value + offset;
        case Effect::noise:
            return value + amount * normal_draw(key, time_ns);
        case Effect::drop:
        case Effect::delayed_read:
        case Effect::changed_delay:
            break;
    }
    return value;
}

double Fault::gain(std::int64_t time_ns) const {
    if (!acts(time_ns)) return 1.0;
    if (effect == Effect::drop || effect == Effect::delayed_read) return 0.0;
    if (effect == Effect::stuck) {
        return held_at_ns >= begin_ns && held_at_ns < time_ns ? 0.0 : 1.0;
    }
    return effect == Effect::scale ? amount : 1.0;
}

Faults::Faults(std::vector<Fault> rows) : rows_(std::move(rows)) {
    for (const auto& row : rows_) {
        changes_.push_back(row.begin_ns);
        if (row.until_ns != no_time) changes_.push_back(row.until_ns);
    }
    std::sort(changes_.begin(), changes_.end());
}

void Faults::forget() {
    for (auto& row : rows_) {
        row.held = 0.0;
        row.held_at_ns = no_time;
    }
}

std::int64_t Faults::next_change(std::int64_t time_ns) const {
    const auto found = std::upper_bound(changes_.begin(), changes_.end(), time_ns);
    return found == changes_.end() ? no_time : *found;
}

bool Faults::changes_at(std::int64_t time_ns) const {
    return std::binary_search(changes_.begin(), changes_.end(), time_ns);
}

}  // namespace softdock
