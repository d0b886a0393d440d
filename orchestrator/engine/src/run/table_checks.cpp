#include "run/table_checks.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace softdock {

namespace {

// Whether rows first..first + count - 1 exist in a table of `size` rows.
bool inside(std::int64_t first, std::size_t count, std::size_t size) {
    return first >= 0 && static_cast<std::size_t>(first) <= size &&
           count <= size - static_cast<std::size_t>(first);
}

void require(bool sound, const char* table) {
    if (!sound) throw std::out_of_range(std::string("a row points out of the table: ") + table);
}

void check_rule(const Context& context, const Rule& rule) {
    const auto size = context.signals.size();
    for (const auto slot : rule.checked) require(inside(slot, 1, size), "rule");
    for (const auto& [one, other] : rule.bonds) {
        require(inside(one, 1, size) && inside(other, 1, size), "rule");
    }
    require(rule.least_ns >= 1 && rule.most_ns >= rule.least_ns && rule.first_ns >= 1, "rule");
    require(rule.method != Rule::Method::ecco || !rule.bonds.empty(), "rule");
}

void check_compensations(const Context& context) {
    const auto size = context.signals.size();
    for (const auto& row : context.compensations) {
        require(inside(row.source, 1, size) && inside(row.target, 1, size) && row.order >= 0 &&
                    row.order <= 2 && inside(row.answered, 1, size) && row.answer_factor != 0.0,
                "compensations");
        const bool corrects = row.method == Compensation::Method::direct_response;
        require(corrects ? inside(row.answer, 1, context.members.size())
                         : inside(row.memory, Compensation::numbers, size) &&
                               inside(row.answer, 1, size),
                "compensations");
    }
}

// Every row belongs to one operation, which says what it acts on.
void check_faults(const Context& context) {
    for (const auto& operation : context.operations) {
        const bool past = operation.code == Code::inject_sample_fault;
        if (operation.code != Code::inject_fault && !past) continue;
        for (auto i = operation.first; i < operation.first + operation.count; ++i) {
            const auto& fault = context.faults.rows()[i];
            const bool reading =
                fault.effect == Effect::delayed_read || fault.effect == Effect::changed_delay;
            const auto size = past      ? context.histories.size()
                              : reading ? context.reads.size()
                                        : context.signals.size();
            require(inside(fault.place, 1, size) && !(past && reading) &&
                        fault.effect >= Effect::drop && fault.effect <= Effect::changed_delay,
                    "faults");
        }
    }
}

}  // namespace

// The unit that a line leads to; context.members.end() if its target is no input.
std::vector<Member>::const_iterator owner_of(const Context& context, const Read& line) {
    const auto target = static_cast<std::size_t>(line.target);
    const auto& members = context.members;
    return std::find_if(members.begin(), members.end(), [&](const Member& member) {
        return target >= member.inputs && target < member.inputs + member.unit->input_count();
    });
}

void check_operation(const Context& context, std::size_t loops, const Operation& operation) {
    const auto count = static_cast<std::size_t>(operation.count);
    std::size_t size = 0, rows = count;
    switch (operation.code) {
        case Code::copy:
            size = context.copies.size();
            break;
        case Code::read:
            size = context.reads.size();
            break;
        case Code::step:
        case Code::first_half:
        case Code::second_half:
            size = context.members.size();
            break;
        case Code::push:
        case Code::propose:
            size = context.histories.size();
            break;
        case Code::interpolate_mean:
        case Code::extrapolate:
            size = context.mixes.size();
            break;
        case Code::compensate:
        case Code::correct:
            size = context.compensations.size();
            break;
        case Code::solve:
            size = loops;
            rows = 1;
            break;
        case Code::inject_fault:
        case Code::inject_sample_fault:
            size = context.faults.rows().size();
            break;
        case Code::text:
            require(context.texts.has(operation.first, operation.count), "operations");
            return;
        case Code::lookup:
            require(context.tables.has(operation.first, operation.count), "operations");
            return;
    }
    require(operation.count >= 0 && inside(operation.first, rows, size) && operation.every >= 1 &&
                operation.phase >= 0 && operation.phase < operation.every,
            "operations");
}

void check_tables(const Context& context, const std::vector<Loop>& loops, const Rule& rule) {
    const auto size = context.signals.size();
    for (const auto& member : context.members) {
        const auto& unit = *member.unit;
        require(inside(static_cast<std::int64_t>(member.inputs), unit.input_count(), size) &&
                    inside(static_cast<std::int64_t>(member.outputs), unit.output_count(), size) &&
                    member.ticks >= 1,
                "members");
    }
    for (const auto& history : context.histories) require(history.slot() < size, "histories");
    for (const auto& line : context.copies) {
        require(inside(line.source, 1, size) && inside(line.target, 1, size), "copies");
    }
    for (const auto& line : context.reads) {
        const bool turns = inside(line.history, 1, context.histories.size()) &&
                           context.histories[line.history].interpolation() == Interpolation::slerp;
        const std::size_t count = turns ? 4 : 1;
        require(inside(line.history, count, context.histories.size()) &&
                    inside(line.target, count, size) && line.span_ns >= 0 && line.order >= 0 &&
                    (line.span_ns > 0 || !line.order),
                "reads");
        const auto order = line.span_ns ? std::max(line.order, 1) : 0;
        require(!order || (owner_of(context, line) != context.members.end() &&
                           owner_of(context, line)->unit->input_order() >= order),
                "reads");
    }
    for (const auto& line : context.mixes) {
        require(inside(line.source, 1, size) && inside(line.target, 1, size), "mixes");
    }
    check_compensations(context);
    for (const auto& loop : loops) {
        for (const auto slot : loop.unknowns) require(inside(slot, 1, size), "loops");
        for (const auto slot : loop.discrete) require(inside(slot, 1, size), "loops");
        for (const auto member : loop.members) {
            require(inside(member, 1, context.members.size()), "loops");
        }
        require(loop.most_iterations > 0, "loops");
    }
    for (const auto& operation : context.operations) {
        // Texts and tables of values come later.
        if (operation.code != Code::text && operation.code != Code::lookup) {
            check_operation(context, loops.size(), operation);
        }
    }
    for (std::size_t i = 0; i < context.operations.size(); ++i) {
        const auto& operation = context.operations[i];
        if (operation.code != Code::solve) continue;
        const auto body = static_cast<std::size_t>(operation.count);
        require(inside(static_cast<std::int64_t>(i + 1), body, context.operations.size()),
                "operations");
        for (auto k = i + 1; k <= i + body; ++k) {
            require(context.operations[k].code != Code::solve,
                    "operations");  // no loop within a loop
        }
    }
    check_rule(context, rule);
    check_faults(context);
}

void check_texts(const Context& context, const std::vector<std::unique_ptr<LoopSolver>>& loops,
                 const Texts& texts) {
    const auto& places = texts.places();
    const auto size = texts.buffer().size();
    require(places.size() == context.members.size(), "places of texts");
    for (std::size_t i = 0; i < places.size(); ++i) {
        const auto& unit = *context.members[i].unit;
        require(inside(static_cast<std::int64_t>(places[i].inputs), unit.text_input_count(), size),
                "places of texts");
        require(
            inside(static_cast<std::int64_t>(places[i].outputs), unit.text_output_count(), size),
            "places of texts");
    }
    for (const auto& loop : loops) {
        for (const auto row : loop->loop().texts) require(inside(row, 1, size), "loops");
    }
    for (const auto& operation : context.operations) {
        require(operation.code != Code::text || texts.has(operation.first, operation.count),
                "operations");
    }
}

void check_value_tables(const Context& context, const ValueTables& tables) {
    for (const auto& operation : context.operations) {
        require(operation.code != Code::lookup || tables.has(operation.first, operation.count),
                "operations");
    }
}

void check_events(const Context& context, const EventTable& table) {
    for (const auto member : table.members)
        require(inside(member, 1, context.members.size()), "events");
    for (const auto& line : table.lines) {
        require(inside(line.copy, 1, context.copies.size()) &&
                    inside(line.target, 1, table.members.size()),
                "events");
    }
    for (const auto& clock : table.clocks) {
        require(inside(clock.slot, 1, context.signals.size()) &&
                    inside(clock.source, 1, table.members.size()),
                "events");
    }
}

}  // namespace softdock
