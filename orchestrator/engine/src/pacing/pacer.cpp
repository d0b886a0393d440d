#include "pacing/pacer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace softdock {

Pacer::Pacer(PaceRules rules, StepClock& clock)
    : rules_(std::move(rules)),
      clock_(clock),
      costs_(clock, rules_.unit_budgets_ns.size()),
      units_(rules_.unit_budgets_ns.size()),
      ring_(rules_.kept) {}

void Pacer::start(std::int64_t time_ns) {
    start_ns_ = time_ns;
    in_row_ = 0;
    clock_.start();
}

std::int64_t Pacer::offset_ns(std::int64_t time_ns) const {
    const auto simulated = time_ns - start_ns_;
    if (rules_.factor == 1.0) return simulated;
    return std::llround(static_cast<double>(simulated) / rules_.factor);
}

bool Pacer::is_asked() {
    if (asked_ == nullptr) return false;
    const auto asked = __atomic_load_n(asked_, __ATOMIC_ACQUIRE);
    const bool is_new = asked != heard_;
    heard_ = asked;
    return is_new;
}

bool Pacer::begin_step(std::int64_t time_ns) {
    end_ = End::none;
    if (is_asked()) {
        end_ = End::interrupted;
        return false;
    }
    const auto offset = offset_ns(time_ns);
    const auto wake = clock_.wait_until(offset, *signals_);
    if (wake != Wake::ready) {
        end_ = wake == Wake::silent ? End::silent : End::interrupted;
        return false;
    }
    costs_.clear();
    begun_ns_ = clock_.now_ns();
    woken_ns_ = begun_ns_ - clock_.due_ns(offset);
    wake_.add(woken_ns_);
    return true;
}

void Pacer::blame_unit(Overrun& overrun) {
    const auto& taken = costs_.taken_ns();
    std::int64_t worst = INT64_MIN;
    for (std::size_t i = 0; i < taken.size(); ++i) {
        if (taken[i] == UnitCosts::not_stepped) continue;
        units_[i].add(taken[i]);
        const auto budget = rules_.unit_budgets_ns[i];
        const bool over = budget > 0 && taken[i] > budget;
        // Those over their budgets come before all others.
        if (over == overrun.unit_over_budget && (over ? taken[i] - budget : taken[i]) <= worst) {
            continue;
        }
        if (!over && overrun.unit_over_budget) continue;
        overrun.unit_over_budget = over;
        overrun.unit = static_cast<std::int32_t>(i);
        overrun.unit_ns = taken[i];
        worst = over ? taken[i] - budget : taken[i];
    }
}

bool Pacer::end_step(std::int64_t step, std::int64_t begin_ns, std::int64_t end_ns) {
    const auto now = clock_.now_ns();
    Overrun found;
    found.step = step;
    found.time_ns = begin_ns;
    found.late_ns = now - clock_.due_ns(offset_ns(end_ns));
    found.woken_ns = woken_ns_;
    found.computed_ns = now - begun_ns_;
    found.late = found.late_ns > 0;
    found.over_budget = rules_.step_budget_ns > 0 && found.computed_ns > rules_.step_budget_ns;
    computing_.add(found.computed_ns);
    if (found.late) {
        lateness_.add(found.late_ns);
    } else {
        slack_.add(-found.late_ns);
    }
    blame_unit(found);
    const bool over = found.late || found.over_budget || found.unit_over_budget;
    if (over) note(found);
    if (told_ != nullptr) {
        *told_ = {overruns_, found.late_ns, found.computed_ns,
                  std::max(told_->longest_late_ns, found.late_ns)};
    }
    if (!over) {
        in_row_ = 0;
        return true;
    }
    if (found.late && rules_.policy == OverrunPolicy::slip) {
        slipped_ns_ += clock_.slip(found.late_ns);
    }
    if (rules_.policy != OverrunPolicy::stop || in_row_ < rules_.most_overruns) return true;
    end_ = End::overrun;
    return false;
}

void Pacer::note(const Overrun& overrun) {
    if (!ring_.empty()) ring_[static_cast<std::size_t>(overruns_) % ring_.size()] = overrun;
    ++overruns_;
    longest_row_ = std::max(longest_row_, ++in_row_);
}

std::vector<Overrun> Pacer::listed() const {
    const auto count = std::min(static_cast<std::size_t>(overruns_), ring_.size());
    std::vector<Overrun> found;
    for (auto i = static_cast<std::size_t>(overruns_) - count;
         i < static_cast<std::size_t>(overruns_); ++i) {
        found.push_back(ring_[i % ring_.size()]);
    }
    return found;
}

}  // namespace softdock
