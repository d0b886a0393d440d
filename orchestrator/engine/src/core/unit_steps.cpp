#include "core/unit_steps.hpp"

#include <algorithm>
#include <cmath>

namespace softdock {

namespace {

// So many units are stepped before their outputs are asked for, all in the nearest cache.
constexpr std::int32_t at_once = 16;

Status other_end(const Context& context, const Reached& reached, Outcome& outcome) {
    if (reached.terminate) return wants_end(reached.time_ns, outcome);
    if (reached.early && context.allows_early_return) {
        outcome.early_ns = reached.time_ns;
        return Status::discard;
    }
    outcome.failure.kind = FailureKind::other_end;
    outcome.failure.time_ns = reached.time_ns;
    return Status::error;
}

// A unit of several ticks is stepped in the last of them.
std::int64_t begin_of(const Context& context, const Member& member) {
    const auto before = member.ticks - 1;
    const auto rounded = context.rest_ns(context.done) - context.rest_ns(context.done - before);
    const auto step_ns = context.rest_numerator ? context.first_ns : context.step_ns;
    return context.now_ns - before * step_ns - rounded;
}

InputDerivatives derivatives_of(const Context& context, const Member& member) {
    if (!member.order) return {};
    return {context.derivatives.data() + member.inputs, context.signals.size(), member.order};
}

// The inputs of one unit, of every kind, and its step.
Status step_alone(Context& context, std::int32_t number, std::int64_t begin, std::int64_t end) {
    const auto& member = context.members[number];
    auto& unit = *member.unit;
    auto status = unit.set_inputs(context.signals.data() + member.inputs);
    const auto derivatives = derivatives_of(context, member);
    if (derivatives.order && !failed(status)) status = unit.set_input_derivatives(derivatives);
    if (!context.texts.places().empty() && !failed(status)) {
        status = context.texts.send(unit, static_cast<std::size_t>(number));
    }
    return failed(status) ? status : unit.step(begin, end - begin);
}

Status get_all_outputs(Context& context, std::int32_t number, Outcome& outcome) {
    const auto& member = context.members[number];
    const auto status = get_outputs(context, member, outcome);
    if (failed(status) || context.texts.places().empty()) return status;
    return context.texts.receive(*member.unit, static_cast<std::size_t>(number));
}

Status check_outputs(const Context& context, const Member& member, Outcome& outcome) {
    const double* outputs = context.signals.data() + member.outputs;
    for (std::size_t i = 0; i < member.unit->output_count(); ++i) {
        if (std::isfinite(outputs[i])) continue;
        outcome.failure.kind = FailureKind::output_not_finite;
        outcome.failure.output = static_cast<std::int64_t>(i);
        return Status::error;
    }
    return Status::ok;
}

[[gnu::cold, gnu::noinline]] Status blame(const Unit& unit, std::int32_t number, Status status,
                                          Outcome& outcome) {
    outcome.unit = number;
    if (outcome.failure.kind == FailureKind::none) outcome.failure = unit.cause();
    const auto& reached = unit.reached();
    if (outcome.failure.kind == FailureKind::none && status == Status::discard && reached.terminate)
        return wants_end(reached.time_ns, outcome);
    return status;
}

Status step_untimed(Context& context, std::int32_t number, std::int64_t begin, std::int64_t end,
                    const FloatWatch& watch, Outcome& outcome) {
    auto& unit = *context.members[number].unit;
    const ModeWatched kept(unit, watch);
    auto status = step_alone(context, number, begin, end);
    if (unit.reached().terminate) context.ends.store(true, std::memory_order_relaxed);
    if (!failed(status) && !unit.reached().is(end)) {
        status = other_end(context, unit.reached(), outcome);
    } else if (!failed(status) && end == context.now_ns + context.step_ns) {
        status = get_all_outputs(context, number, outcome);
    }
    return failed(status) ? blame(unit, number, status, outcome) : status;
}

// Steps members from `first` on: those that make a row with it, or it alone. `first` becomes the
// one after them.
Status advance_next(Context& context, std::int32_t& first, std::int32_t after,
                    const FloatWatch& watch, Outcome& outcome) {
    const auto* members = context.members.data();
    const auto& member = members[first];
    if (member.ticks != 1 || member.order) {
        const auto number = first++;
        return advance_unit(context, number, watch, outcome);
    }
    const auto end = context.now_ns + context.step_ns;
    RowEnd found{&member};
    const UnitRow row{
        &member, members + after, context.signals.data(), {context.now_ns, end}, watch};
    auto status = member.unit->advance_row(row, found);
    const auto& reached = found.last->unit->reached();
    const bool ends = !failed(status) && reached.is(end);
    if (reached.terminate) context.ends.store(true, std::memory_order_relaxed);
    const auto number = static_cast<std::int32_t>(found.last - members);
    if (ends && !found.unfit) first = number + 1;
    for (; first < number + ends; ++first) {
        const auto sound = check_outputs(context, members[first], outcome);
        if (failed(sound)) return blame(*members[first].unit, first, sound, outcome);
    }
    if (ends) return status;
    if (!failed(status)) status = other_end(context, reached, outcome);
    return blame(*found.last->unit, number, status, outcome);
}

[[gnu::cold, gnu::noinline]] Status step_timed(Context& context, std::int32_t number,
                                               std::int64_t begin, std::int64_t end,
                                               const FloatWatch& watch, Outcome& outcome) {
    const auto began = context.costs->now_ns();
    const auto status = step_untimed(context, number, begin, end, watch, outcome);
    context.costs->add(number, context.costs->now_ns() - began);
    return status;
}

}  // namespace

Status wants_end(std::int64_t time_ns, Outcome& outcome) {
    outcome.failure.kind = FailureKind::run_ended;
    outcome.failure.time_ns = time_ns;
    outcome.failure.text = "it asked for the end of the run";
    return Status::discard;
}

Status get_outputs(Context& context, const Member& member, Outcome& outcome) {
    double* outputs = context.signals.data() + member.outputs;
    const auto status = member.unit->get_outputs(outputs);
    return failed(status) ? status : check_outputs(context, member, outcome);
}

Status advance_units(Context& context, std::int32_t first, std::int32_t count,
                     const FloatWatch& watch, Outcome& outcome) {
    const auto after = first + count;
    if (context.costs || !context.texts.places().empty()) {
        for (auto i = first; i < after; ++i) {
            const auto status = advance_unit(context, i, watch, outcome);
            if (failed(status)) return status;
        }
        return Status::ok;
    }
    while (first < after) {
        const auto limit = std::min(first + at_once, after);
        const auto status = advance_next(context, first, limit, watch, outcome);
        if (failed(status)) return status;
    }
    return Status::ok;
}

Status advance_unit(Context& context, std::int32_t number, const FloatWatch& watch,
                    Outcome& outcome) {
    const auto begin = begin_of(context, context.members[number]);
    return step_unit(context, number, begin, context.now_ns + context.step_ns, watch, outcome);
}

void expect_unit(const Context& context, std::int32_t number) {
    const auto& member = context.members[number];
    const auto begin = begin_of(context, member);
    member.unit->expect_step(context.signals.data() + member.inputs,
                             derivatives_of(context, member), begin,
                             context.now_ns + context.step_ns - begin);
}

Status step_unit(Context& context, std::int32_t number, std::int64_t begin, std::int64_t end,
                 const FloatWatch& watch, Outcome& outcome) {
    if (context.costs) return step_timed(context, number, begin, end, watch, outcome);
    return step_untimed(context, number, begin, end, watch, outcome);
}

Status step_halves(Context& context, const Operation& operation, const FloatWatch& watch,
                   Outcome& outcome) {
    const auto middle = context.now_ns + context.step_ns / 2;
    for (auto i = operation.first; i < operation.first + operation.count; ++i) {
        auto status = Status::ok;
        if (operation.code == Code::second_half) {
            status =
                step_unit(context, i, middle, context.now_ns + context.step_ns, watch, outcome);
        } else if (middle > context.now_ns) {
            status = step_unit(context, i, context.now_ns, middle, watch, outcome);
        }
        if (failed(status)) return status;
    }
    return Status::ok;
}

Status save_unit(const Context& context, std::int32_t member, std::size_t number,
                 Outcome& outcome) {
    auto& unit = *context.members[member].unit;
    const ModeKept kept(unit);
    const auto status = unit.save(number);
    if (failed(status)) outcome.unit = member;
    return status;
}

Status restore_unit(const Context& context, std::int32_t member, std::size_t number,
                    Outcome& outcome) {
    auto& unit = *context.members[member].unit;
    const ModeKept kept(unit);
    const auto status = unit.restore(number);
    if (failed(status)) outcome.unit = member;
    return status;
}

}  // namespace softdock
