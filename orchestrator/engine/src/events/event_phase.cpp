#include "events/event_phase.hpp"

#include <algorithm>
#include <utility>

#include "core/unit_steps.hpp"

namespace softdock {

namespace {

// Exchanges or updates at one moment: more, and the units do not come to rest.
constexpr int most_rounds = 100;

}  // namespace

EventPhase::EventPhase(EventTable table, std::size_t signals)
    : table_(std::move(table)),
      parts_(table_.members.size()),
      entry_(signals),
      inputs_(signals),
      ticked_(table_.clocks.size()),
      moving_(table_.lines.size()) {}

Unit& EventPhase::unit(const Context& context, std::size_t part) const {
    return *context.members[static_cast<std::size_t>(table_.members[part])].unit;
}

Status EventPhase::blame(std::size_t part, Status status, Outcome& outcome) const {
    if (!failed(status)) return status;
    outcome.unit = table_.members[part];
    return status;
}

Status EventPhase::unsettled(Outcome& outcome) const {
    auto& failure = outcome.failure;
    failure.kind = FailureKind::unsettled;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (parts_[i].again) failure.units.push_back(table_.members[i]);
    }
    for (std::size_t i = 0; i < moving_.size(); ++i) {
        if (moving_[i]) failure.copies.push_back(table_.lines[i].copy);
    }
    return Status::error;
}

Status EventPhase::begin(Context& context, std::int64_t start_ns, Outcome& outcome) {
    for (auto& part : parts_) part.called = true;
    const auto status = instant(context, outcome);
    return failed(status) ? status : handle(context, start_ns, false, outcome);
}

// Everything that happens at one moment; units that have more to do there have it after that.
Status EventPhase::handle(Context& context, std::int64_t now_ns, bool stepped, Outcome& outcome) {
    auto& signals = context.signals;
    int rounds = 0;
    for (; call(context, now_ns, stepped && rounds == 0); ++rounds) {
        for (std::size_t i = 0; i < parts_.size(); ++i) parts_[i].again = parts_[i].called;
        if (rounds == most_rounds) return unsettled(outcome);
        const auto status = instant(context, outcome);
        forced_ = -1;
        if (failed(status)) return status;
    }
    for (std::size_t i = 0; i < ticked_.size(); ++i) {
        if (!ticked_[i]) continue;
        signals[static_cast<std::size_t>(table_.clocks[i].slot)] = 1.0;
        ticked_[i] = 0;
    }
    if (rounds > 0) context.reset_extrapolation();
    const auto ender = std::exchange(ender_, -1);
    if (ender < 0) return Status::ok;
    return blame(static_cast<std::size_t>(ender), wants_end(now_ns, outcome), outcome);
}

// Finds the units that have an event now.
bool EventPhase::call(const Context& context, std::int64_t now_ns, bool stepped) {
    bool any = false;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const auto& candidate = unit(context, i);
        auto& part = parts_[i] = Part{};
        const auto due = candidate.due_ns();
        part.called =
            due <= now_ns || (stepped && candidate.reached().event) || table_.members[i] == forced_;
        if (due < now_ns) {
            ++counts_.late;
            counts_.latest_ns = std::max(counts_.latest_ns, now_ns - due);
        }
        any |= part.called;
    }
    for (const auto& line : table_.lines) {
        if (line.kind != EventLine::Kind::discrete) continue;
        const auto& copy = context.copies[line.copy];
        const double value = copy.factor * context.get(copy.source) + copy.offset;
        if (value == context.get(copy.target)) continue;
        any = parts_[static_cast<std::size_t>(line.target)].called = true;
    }
    return any;
}

// One passage of event mode, of the units that were called and of all that they touch.
Status EventPhase::instant(Context& context, Outcome& outcome) {
    auto& signals = context.signals;
    for (const auto& clock : table_.clocks) signals[static_cast<std::size_t>(clock.slot)] = 0.0;
    entry_ = signals;
    ++counts_.instants;
    bool more = true;
    for (int rounds = 0; more; ++rounds) {
        if (rounds == most_rounds) return unsettled(outcome);
        auto status = exchange(context, outcome);
        if (!failed(status)) status = update(context, more, outcome);
        if (!failed(status)) status = collect(context, outcome);
        if (failed(status)) return status;
        more |= copy(context);
    }
    return leave(context, outcome);
}

Status EventPhase::enter(Context& context, Outcome& outcome) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        auto& part = parts_[i];
        if (!part.called || part.active) continue;
        auto& called = unit(context, i);
        const ModeKept kept(called);
        const auto status = called.enter_event_mode();
        if (failed(status)) return blame(i, status, outcome);
        part.active = part.dirty = true;
    }
    return Status::ok;
}

// Values and ticks go along all lines until nothing changes any more.
Status EventPhase::exchange(Context& context, Outcome& outcome) {
    auto status = enter(context, outcome);
    for (int rounds = 0; !failed(status); ++rounds) {
        status = collect(context, outcome);
        if (failed(status)) return status;
        copy(context);
        status = enter(context, outcome);
        if (failed(status)) return status;
        bool any = false;
        for (const auto& part : parts_) any |= part.dirty;
        if (!any) return Status::ok;
        if (rounds == most_rounds) return unsettled(outcome);
        for (std::size_t i = 0; i < parts_.size() && !failed(status); ++i) {
            if (!std::exchange(parts_[i].dirty, false)) continue;
            const auto& member = context.members[static_cast<std::size_t>(table_.members[i])];
            const ModeKept kept(*member.unit);
            status = member.unit->set_inputs(context.signals.data() + member.inputs);
            status = blame(i, status, outcome);
        }
    }
    return status;
}

Status EventPhase::collect(Context& context, Outcome& outcome) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (!parts_[i].active) continue;
        const auto& member = context.members[static_cast<std::size_t>(table_.members[i])];
        const ModeKept kept(*member.unit);
        const auto status = get_outputs(context, member, outcome);
        if (failed(status)) return blame(i, status, outcome);
    }
    for (std::size_t i = 0; i < ticked_.size(); ++i) {
        const auto& clock = table_.clocks[i];
        const bool active = parts_[static_cast<std::size_t>(clock.source)].active;
        if (active && context.get(clock.slot) != 0.0) ticked_[i] = 1;
    }
    return Status::ok;
}

// Returns whether any value changed; whom it concerns is called.
bool EventPhase::copy(Context& context) {
    auto& signals = context.signals;
    bool any = false;
    for (std::size_t i = 0; i < table_.lines.size(); ++i) {
        const auto& line = table_.lines[i];
        const auto& row = context.copies[line.copy];
        auto& part = parts_[static_cast<std::size_t>(line.target)];
        const auto source = static_cast<std::size_t>(row.source);
        auto& target = signals[static_cast<std::size_t>(row.target)];
        const double value = row.factor * signals[source] + row.offset;
        moving_[i] = 0;
        const bool jumps = line.kind == EventLine::Kind::continuous
                               ? signals[source] != entry_[source]
                               : line.kind != EventLine::Kind::clocked;
        // What made a unit return at once is what it goes on with.
        const bool holds = line.kind == EventLine::Kind::continuous &&
                           table_.members[static_cast<std::size_t>(line.target)] == forced_;
        if (!((part.active && !holds) || jumps)) continue;
        const bool stays = value == target;
        target = value;  // also from 0.0 to -0.0, which is no event
        if (stays) continue;
        any = part.called = part.dirty = true;
        moving_[i] = 1;
    }
    return any;
}

Status EventPhase::update(Context& context, bool& again, Outcome& outcome) {
    again = false;
    ++counts_.updates;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (!parts_[i].active) continue;
        Discrete found;
        auto& called = unit(context, i);
        const ModeKept kept(called);
        const auto status = called.update_discrete(found);
        if (failed(status)) return blame(i, status, outcome);
        if (found.terminate && ender_ < 0) ender_ = static_cast<std::int32_t>(i);
        again |= parts_[i].again = found.again;
    }
    // Ticks are over with the update.
    auto& signals = context.signals;
    for (const auto& line : table_.lines) {
        if (line.kind != EventLine::Kind::clock) continue;
        signals[static_cast<std::size_t>(context.copies[line.copy].target)] = 0.0;
    }
    return Status::ok;
}

Status EventPhase::leave(Context& context, Outcome& outcome) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        auto& part = parts_[i];
        if (!part.active) continue;
        auto& called = unit(context, i);
        const ModeKept kept(called);
        const auto status = called.enter_step_mode();
        if (failed(status)) return blame(i, status, outcome);
        part = Part{};
    }
    return Status::ok;
}

}  // namespace softdock
