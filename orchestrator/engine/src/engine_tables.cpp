// The checks of an engine's tables: once, so that its loop need not.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "engine.hpp"
#include "events.hpp"
#include "loop_solver.hpp"
#include "step_control.hpp"

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

}  // namespace

// The unit that a line leads to; members_.end() if its target is no input.
std::vector<Member>::iterator Engine::owner_of(const Read& line) {
    const auto target = static_cast<std::size_t>(line.target);
    return std::find_if(members_.begin(), members_.end(), [&](const Member& member) {
        return target >= member.inputs && target < member.inputs + member.unit->input_count();
    });
}

void Engine::check_tables() {
    const auto size = signals_.size();
    for (const auto& member : members_) {
        const auto& unit = *member.unit;
        require(inside(static_cast<std::int64_t>(member.inputs), unit.input_count(), size) &&
                    inside(static_cast<std::int64_t>(member.outputs), unit.output_count(), size) &&
                    member.ticks >= 1,
                "members");
    }
    for (const auto& history : histories_) require(history.slot() < size, "histories");
    for (const auto& line : copies_) {
        require(inside(line.source, 1, size) && inside(line.target, 1, size), "copies");
    }
    for (const auto& line : reads_) {
        const bool turns = inside(line.history, 1, histories_.size()) &&
                           histories_[line.history].reading() == Reading::slerp;
        const std::size_t count = turns ? 4 : 1;
        require(inside(line.history, count, histories_.size()) &&
                    inside(line.target, count, size) && line.span_ns >= 0,
                "reads");
        require(!line.span_ns ||
                    (owner_of(line) != members_.end() && owner_of(line)->unit->takes_slopes()),
                "reads");
    }
    for (const auto& line : mixes_) {
        require(inside(line.source, 1, size) && inside(line.target, 1, size), "mixes");
    }
    for (const auto& solver : loops_) {
        for (const auto slot : solver->loop().unknowns) require(inside(slot, 1, size), "loops");
        for (const auto slot : solver->loop().discrete) require(inside(slot, 1, size), "loops");
        for (const auto member : solver->loop().members) {
            require(inside(member, 1, members_.size()), "loops");
        }
        require(solver->loop().most_iterations > 0, "loops");
    }
    for (const auto& operation : operations_) {
        // Those wait for `carry` and `tabulate`.
        if (operation.code != Code::text && operation.code != Code::tabulate) check(operation);
    }
    for (std::size_t i = 0; i < operations_.size(); ++i) {
        const auto& operation = operations_[i];
        if (operation.code != Code::solve) continue;
        const auto body = static_cast<std::size_t>(operation.count);
        require(inside(static_cast<std::int64_t>(i + 1), body, operations_.size()), "operations");
        for (auto k = i + 1; k <= i + body; ++k) {
            require(operations_[k].code != Code::solve, "operations");  // no loop within a loop
        }
    }
    check_rule();
    check_faults();
}

// Every row belongs to one operation, which says what it acts on.
void Engine::check_faults() const {
    for (const auto& operation : operations_) {
        const bool past = operation.code == Code::disturb_past;
        if (operation.code != Code::disturb && !past) continue;
        for (auto i = operation.first; i < operation.first + operation.count; ++i) {
            const auto& fault = faults_.rows()[i];
            const bool reading = fault.effect == Effect::later || fault.effect == Effect::detour;
            const auto size = past ? histories_.size() : reading ? reads_.size() : signals_.size();
            require(inside(fault.place, 1, size) && !(past && reading) &&
                        fault.effect >= Effect::drop && fault.effect <= Effect::detour,
                    "faults");
        }
    }
}

void Engine::stretch_reads(const std::vector<double>& shares) {
    require(shares.size() == reads_.size(), "shares of readings");
    for (std::size_t i = 0; i < shares.size(); ++i) reads_[i].share = shares[i];
}

void Engine::carry(Texts texts) {
    const auto& places = texts.places();
    const auto size = texts.buffer().size();
    require(places.size() == members_.size(), "places of texts");
    for (std::size_t i = 0; i < places.size(); ++i) {
        const auto& unit = *members_[i].unit;
        require(inside(static_cast<std::int64_t>(places[i].inputs), unit.text_input_count(), size),
                "places of texts");
        require(
            inside(static_cast<std::int64_t>(places[i].outputs), unit.text_output_count(), size),
            "places of texts");
    }
    for (const auto& operation : operations_) {
        require(operation.code != Code::text || texts.has(operation.first, operation.count),
                "operations");
    }
    texts_ = std::move(texts);
}

void Engine::tabulate(ValueTables tables) {
    for (const auto& operation : operations_) {
        require(operation.code != Code::tabulate || tables.has(operation.first, operation.count),
                "operations");
    }
    tables_ = std::move(tables);
}

void Engine::handle_events(std::unique_ptr<EventPhase> events) {
    const auto& table = events->table();
    for (const auto member : table.members) require(inside(member, 1, members_.size()), "events");
    for (const auto& line : table.lines) {
        require(
            inside(line.copy, 1, copies_.size()) && inside(line.target, 1, table.members.size()),
            "events");
    }
    for (const auto& clock : table.clocks) {
        require(
            inside(clock.slot, 1, signals_.size()) && inside(clock.source, 1, table.members.size()),
            "events");
    }
    if (table.early_return) {
        for (auto& history : histories_) history.let_rewind(1);
    }
    events_ = std::move(events);
}

void Engine::check_rule() const {
    const auto& rule = control_->rule();
    const auto size = signals_.size();
    for (const auto slot : rule.checked) require(inside(slot, 1, size), "rule");
    for (const auto& [one, other] : rule.bonds) {
        require(inside(one, 1, size) && inside(other, 1, size), "rule");
    }
    require(rule.least_ns >= 1 && rule.most_ns >= rule.least_ns && rule.first_ns >= 1, "rule");
    require(rule.method != Rule::Method::ecco || !rule.bonds.empty(), "rule");
}

void Engine::check(const Operation& operation) const {
    const auto count = static_cast<std::size_t>(operation.count);
    std::size_t size = 0, rows = count;
    switch (operation.code) {
        case Code::copy:
            size = copies_.size();
            break;
        case Code::read:
            size = reads_.size();
            break;
        case Code::step:
        case Code::first_half:
        case Code::second_half:
            size = members_.size();
            break;
        case Code::push:
            size = histories_.size();
            break;
        case Code::blend:
        case Code::extend:
            size = mixes_.size();
            break;
        case Code::solve:
            size = loops_.size();
            rows = 1;
            break;
        case Code::disturb:
        case Code::disturb_past:
            size = faults_.rows().size();
            break;
        case Code::text:
            require(texts_.has(operation.first, operation.count), "operations");
            return;
        case Code::tabulate:
            require(tables_.has(operation.first, operation.count), "operations");
            return;
    }
    require(operation.count >= 0 && inside(operation.first, rows, size) && operation.every >= 1 &&
                operation.phase >= 0 && operation.phase < operation.every,
            "operations");
}

}  // namespace softdock
