#include "run/engine.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "core/unit_steps.hpp"
#include "run/table_checks.hpp"

namespace softdock {

namespace {

// Pushes of one history in a step that is done again: two halves, and the whole before them.
constexpr std::size_t most_rewound = 3;

}  // namespace

Engine::Engine(Schedule schedule, std::size_t threads)
    : context_(schedule),
      executor_(context_, schedule.loops, threads),
      control_(make_control(schedule.rule)) {
    context_.remembers =
        !context_.mixes.empty() || !context_.compensations.empty() || control_->varies();
    if (control_->varies()) {
        for (auto& history : context_.histories) history.let_rewind(most_rewound);
    }
    check_tables(context_, schedule.loops, schedule.rule);
    const auto& operations = context_.operations;
    proposes_ = std::any_of(operations.begin(), operations.end(),
                            [](const auto& one) { return one.code == Code::propose; });
    for (const auto& line : context_.reads) {
        if (!line.span_ns) continue;
        const auto owner = owner_of(context_, line) - context_.members.begin();
        auto& order = context_.members[static_cast<std::size_t>(owner)].order;
        order = std::max({order, 1, int{line.order}});
    }
}

void Engine::set_texts(Texts texts) {
    check_texts(context_, executor_.loops(), texts);
    context_.texts = std::move(texts);
}

void Engine::set_value_tables(ValueTables tables) {
    check_value_tables(context_, tables);
    context_.tables = std::move(tables);
}

void Engine::handle_events(std::unique_ptr<EventPhase> events) {
    check_events(context_, events->table());
    context_.allows_early_return = events->table().early_return;
    if (context_.allows_early_return || proposes_) {
        for (auto& history : context_.histories) history.let_rewind(1);
    }
    events_ = std::move(events);
}

void Engine::redelay(const std::vector<std::pair<std::int64_t, std::int64_t>>& shifts) {
    if (shifts.size() != context_.reads.size()) {
        throw std::invalid_argument("expected a shift and a span for each row that is read");
    }
    for (std::size_t i = 0; i < shifts.size(); ++i) {
        std::tie(context_.reads[i].shift_ns, context_.reads[i].span_ns) = shifts[i];
    }
}

void Engine::watch(std::vector<WatchRow> rows) {
    for (const auto& row : rows) {
        if (row.slot < 0 || static_cast<std::size_t>(row.slot) >= context_.signals.size()) {
            throw std::out_of_range("a row points out of the table: watch");
        }
    }
    range_watch_.watch(std::move(rows));
    range_watch_.look(context_, time_ns());
}

void Engine::check(const Operation& operation) const {
    check_operation(context_, executor_.loops().size(), operation);
}

void Engine::start(std::int64_t start_ns, std::int64_t step_ns) {
    be_at(start_ns);
    context_.start(start_ns, step_ns);
    for (auto& loop : executor_.loops()) {
        std::fill(loop->memory().begin(), loop->memory().end(), 0.0);
    }
    control_->start(step_ns);
    recorder_.restart();
}

// Outputs jump where a fault begins or ends.
void Engine::pass_changes() {
    if (!control_->varies() || !context_.faults.changes_at(time_ns())) return;
    context_.settling = 1;
    context_.last_ns = 0;
    control_->restart();
}

void Engine::step(std::int64_t goal_ns, Outcome& outcome) {
    std::int64_t taken = 0;
    const auto begin_ns = time_ns();
    pass_changes();
    const auto goal = std::min(goal_ns, context_.faults.next_change(begin_ns));
    outcome.status = events_ ? events_->step(executor_, *control_, begin_ns, goal, taken, outcome)
                             : control_->step(executor_, begin_ns, goal, taken, outcome);
    if (failed(outcome.status) && !(events_ && events_->ended())) return;
    if (!events_) context_.accept_step();
    context_.now_ns = begin_ns + taken;
    be_at(context_.now_ns);
    ++context_.done;
    ++outcome.steps;
    if (!range_watch_.empty()) range_watch_.look(context_, time_ns());
    if (recorder_.is_due(context_.done)) write_row();
    if (context_.ends.load(std::memory_order_relaxed)) end_run(outcome);
}

// A unit may have asked for the end in a try of the step that does not count.
void Engine::end_run(Outcome& outcome) {
    context_.ends.store(false, std::memory_order_relaxed);
    for (std::size_t i = 0; i < context_.members.size() && outcome.unit < 0; ++i) {
        const auto& reached = context_.members[i].unit->reached();
        if (!reached.terminate) continue;
        outcome.unit = static_cast<int>(i);
        outcome.status = wants_end(reached.time_ns, outcome);
    }
}

Outcome Engine::run(std::int64_t steps, std::int64_t goal_ns) {
    recorder_.require_room(context_.done, steps);
    Outcome outcome;
    while (has_steps(outcome, steps, goal_ns)) {
        step(goal_ns, outcome);
        if (failed(outcome.status)) return outcome;
    }
    outcome.status = Status::ok;
    return outcome;
}

}  // namespace softdock
