// The checks of a schedule's tables: once, so that the loop need not. All throw.
#pragma once

#include <memory>
#include <vector>

#include "algorithms/loop_solver.hpp"
#include "core/context.hpp"
#include "events/event_phase.hpp"

namespace softdock {

// The unit that a line leads to; the end of the members if its target is no input.
std::vector<Member>::const_iterator owner_of(const Context& context, const Read& line);

// `loops` is how many there are.
void check_operation(const Context& context, std::size_t loops, const Operation& operation);
void check_tables(const Context& context, const std::vector<Loop>& loops, const Rule& rule);
void check_texts(const Context& context, const std::vector<std::unique_ptr<LoopSolver>>& loops,
                 const Texts& texts);
void check_value_tables(const Context& context, const ValueTables& tables);
void check_events(const Context& context, const EventTable& table);

}  // namespace softdock
