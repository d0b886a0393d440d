// Steps of units: inputs, step, outputs; and their saved states.
#pragma once

#include <cstdint>

#include "core/context.hpp"
#include "core/outcome.hpp"

namespace softdock {

// A unit that asks for the end of the run, at a time, gets it. The step counts if it was done.
Status wants_end(std::int64_t time_ns, Outcome& outcome);

// Gets the outputs of one unit; an error where one is not finite.
Status get_outputs(Context& context, const Member& member, Outcome& outcome);

// Sets inputs and steps from `begin` to `end`; gets the outputs if the step ends there. `watch` is
// of this thread.
Status step_unit(Context& context, std::int32_t member, std::int64_t begin, std::int64_t end,
                 const FloatWatch& watch, Outcome& outcome);

// One step of one unit, which may be in several threads at once for several units.
Status advance_unit(Context& context, std::int32_t member, const FloatWatch& watch,
                    Outcome& outcome);

// The same of units one after the other.
Status advance_units(Context& context, std::int32_t first, std::int32_t count,
                     const FloatWatch& watch, Outcome& outcome);

// Says to a unit what advance_unit() will let it do.
void expect_unit(const Context& context, std::int32_t member);

// A half of the step of the units first.. of an operation.
Status step_halves(Context& context, const Operation& operation, const FloatWatch& watch,
                   Outcome& outcome);

Status save_unit(const Context& context, std::int32_t member, std::size_t number, Outcome& outcome);
Status restore_unit(const Context& context, std::int32_t member, std::size_t number,
                    Outcome& outcome);

}  // namespace softdock
