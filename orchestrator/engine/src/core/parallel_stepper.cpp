#include "core/parallel_stepper.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "core/unit_steps.hpp"

namespace softdock {

namespace {

constexpr int timed_calls = 16;
// What a round of the pool costs, measured, with room: sharing must save more.
constexpr std::int64_t worth_ns = 10000;

using Clock = std::chrono::steady_clock;

std::int64_t since(Clock::time_point begin) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
}

}  // namespace

ParallelStepper::Group& ParallelStepper::group(const Context& context, std::int32_t first,
                                               std::int32_t count) {
    // By the first member, so that a step with many groups does not search for each.
    const auto place = static_cast<std::size_t>(first);
    if (place >= group_of_.size()) group_of_.resize(context.members.size(), -1);
    if (group_of_[place] >= 0) return groups_[static_cast<std::size_t>(group_of_[place])];
    group_of_[place] = static_cast<std::int32_t>(groups_.size());
    Group made;
    made.first = first;
    made.count = count;
    made.cost_ns.assign(static_cast<std::size_t>(count), INT64_MAX);
    for (std::int32_t i = first; i < first + count; ++i) {
        if (context.members[i].unit->company()) made.together.push_back(i);
    }
    groups_.push_back(std::move(made));
    return groups_.back();
}

Status ParallelStepper::step(Context& context, std::int32_t first, std::int32_t count,
                             const FloatWatch& watch, Outcome& outcome) {
    if (count == 1) return advance_units(context, first, count, watch, outcome);
    auto& group = this->group(context, first, count);
    for (const auto i : group.together) expect_unit(context, i);
    const auto status = step(context, group, watch, outcome);
    if (failed(status)) {
        for (const auto i : group.together) context.members[i].unit->withdraw_step();
    }
    return status;
}

Status ParallelStepper::step(Context& context, Group& group, const FloatWatch& watch,
                             Outcome& outcome) {
    if (threads_ > 1 && group.timed < timed_calls) return time(context, group, watch, outcome);
    if (group.shares.empty()) {
        return advance_units(context, group.first, group.count, watch, outcome);
    }
    group.context = &context;
    share(group);
    // Of several failures the one of the first unit is told, as if one had been after the other.
    auto status = Status::ok;
    for (std::size_t w = 0; w < group.outcomes.size(); ++w) {
        auto& found = group.outcomes[w];
        if (!failed(group.statuses[w]) || (failed(status) && outcome.unit < found.unit)) continue;
        status = group.statuses[w];
        outcome.unit = found.unit;
        outcome.failure = found.failure;
        outcome.early_ns = found.early_ns;
    }
    return status;
}

void ParallelStepper::share(Group& group) {
    if (group.shared >= timed_calls) {
        pool_->run(&ParallelStepper::work, &group);
        return;
    }
    const auto begin = Clock::now();
    pool_->run(&ParallelStepper::work, &group);
    group.together_ns += since(begin);
    if (++group.shared == timed_calls && group.together_ns > group.alone_ns) group.shares.clear();
}

void ParallelStepper::work(void* given, std::size_t worker) {
    auto& group = *static_cast<Group*>(given);
    // The pool is as large as the largest group needs it: the others have no share for the last.
    if (worker >= group.shares.size()) return;
    auto& outcome = group.outcomes[worker];
    auto& status = group.statuses[worker];
    status = Status::ok;
    outcome.early_ns = -1;
    outcome.failure.clear();
    const FloatWatch watch(true);  // what is shared takes much longer
    for (const auto member : group.shares[worker]) {
        status = advance_unit(*group.context, member, watch, outcome);
        if (failed(status)) return;
    }
}

Status ParallelStepper::time(Context& context, Group& group, const FloatWatch& watch,
                             Outcome& outcome) {
    for (std::int32_t i = 0; i < group.count; ++i) {
        const auto begin = Clock::now();
        const auto status = advance_unit(context, group.first + i, watch, outcome);
        if (failed(status)) return status;
        const auto taken = since(begin);
        group.alone_ns += taken;
        auto& least = group.cost_ns[static_cast<std::size_t>(i)];
        least = std::min<std::int64_t>(least, taken);
    }
    if (++group.timed == timed_calls) decide(context, group);
    return Status::ok;
}

// Longest first, each to the worker that has least; those that need the interpreter to worker 0,
// and those that are stepped in one go to one worker.
void ParallelStepper::decide(const Context& context, Group& group) {
    const auto workers = std::min(threads_, static_cast<std::size_t>(group.count));
    std::vector<std::int64_t> load(workers, 0);
    std::vector<std::vector<std::int32_t>> shares(workers);
    std::vector<std::int32_t> order(static_cast<std::size_t>(group.count));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
        const bool bound_a = context.members[group.first + a].unit->needs_interpreter();
        const bool bound_b = context.members[group.first + b].unit->needs_interpreter();
        return bound_a != bound_b ? bound_a : group.cost_ns[a] > group.cost_ns[b];
    });
    std::vector<std::pair<const void*, std::size_t>> companies;
    for (const auto i : order) {
        const auto& unit = *context.members[group.first + i].unit;
        const bool bound = unit.needs_interpreter();
        const auto least = std::min_element(load.begin(), load.end()) - load.begin();
        auto worker = bound ? 0 : static_cast<std::size_t>(least);
        for (const auto& [company, theirs] : companies) {
            if (company == unit.company()) worker = theirs;
        }
        if (unit.company()) companies.emplace_back(unit.company(), worker);
        load[worker] += group.cost_ns[i];
        shares[worker].push_back(group.first + i);
    }
    const auto whole = std::accumulate(load.begin(), load.end(), std::int64_t{0});
    if (whole - *std::max_element(load.begin(), load.end()) < worth_ns) return;
    for (auto& share : shares) std::sort(share.begin(), share.end());
    group.shares = std::move(shares);
    group.outcomes.assign(workers, Outcome{});
    group.statuses.assign(workers, Status::ok);
    if (!pool_ || pool_->size() < workers) pool_ = std::make_unique<ThreadPool>(workers);
}

std::size_t ParallelStepper::shared() const {
    return static_cast<std::size_t>(std::count_if(
        groups_.begin(), groups_.end(), [](const Group& g) { return !g.shares.empty(); }));
}

}  // namespace softdock
