#include "core/context.hpp"

#include <memory>
#include <utility>

#include "core/exchange.hpp"

namespace softdock {

namespace {

__extension__ typedef __int128 Wide;

std::vector<History> make_histories(const Schedule& schedule) {
    std::vector<std::shared_ptr<const Channel>> channels;
    for (const auto& each : schedule.channels) {
        channels.push_back(std::make_shared<const Channel>(each));
    }
    std::vector<History> histories;
    for (const auto& row : schedule.histories) {
        histories.emplace_back(
            row.slot, row.depth, row.interpolation, row.extrapolation,
            row.channel < 0 ? nullptr : channels.at(static_cast<std::size_t>(row.channel)));
    }
    return histories;
}

}  // namespace

Context::Context(Schedule& schedule)
    : members(std::move(schedule.members)),
      histories(make_histories(schedule)),
      copies(std::move(schedule.copies)),
      reads(std::move(schedule.reads)),
      mixes(std::move(schedule.mixes)),
      compensations(std::move(schedule.compensations)),
      operations(std::move(schedule.operations)),
      faults(std::move(schedule.faults)),
      signals(schedule.signals),
      derivatives(most_order * schedule.signals),
      begin(schedule.signals),
      before(schedule.signals),
      tangent(schedule.signals) {}

void Context::start(std::int64_t start_ns, std::int64_t length_ns) {
    now_ns = start_ns;
    step_ns = first_ns = length_ns;
    done = 0;
    begin = before = signals;
    step_ratio = 0.0;
    last_ns = settling = 0;
    for (auto& history : histories) history.start(start_ns, signals[history.slot()]);
    const void* last = nullptr;
    for (auto& member : members) {
        const bool held = member.ticks == 1 && !member.order;
        const auto* kind = held ? member.unit->row_kind() : nullptr;
        member.joins = kind && kind == last;
        last = kind;
    }
}

std::int64_t Context::rest_ns(std::int64_t count) const {
    const auto twice = static_cast<Wide>(2) * count * rest_numerator + rest_denominator;
    return static_cast<std::int64_t>(twice / (static_cast<Wide>(2) * rest_denominator));
}

std::int64_t Context::next_length(std::int64_t whole_ns) const {
    return whole_ns + rest_ns(done + 1) - rest_ns(done);
}

void Context::begin_step(std::int64_t time_ns, std::int64_t length_ns) {
    now_ns = time_ns;
    step_ns = length_ns;
    if (!remembers) return;
    step_ratio = last_ns ? static_cast<double>(step_ns) / static_cast<double>(last_ns) : 0.0;
    begin = signals;
}

void Context::accept_step() {
    if (remembers) before = begin;
    last_ns = settling > 0 ? 0 : step_ns;
    if (settling > 0) --settling;
}

void Context::reset_extrapolation() {
    last_ns = 0;
    if (!on_grid) return;
    for (auto& history : histories) history.amend(signals[history.slot()]);
    for (const auto& operation : operations) {
        if (operation.code == Code::inject_sample_fault) inject_sample_faults(*this, operation);
    }
}

void Context::set_external(std::size_t first, const std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (is_same(signals[first + i], values[i])) continue;
        signals[first + i] = values[i];
        for (auto& history : histories) {
            if (history.slot() == first + i) history.amend(values[i]);
        }
    }
}

}  // namespace softdock
