// The operations of a step that bring values along lines, with the faults of these.
#pragma once

#include <cstdint>

#include "core/context.hpp"

namespace softdock {

// Executes one line operation, also outside of a step while initialising. Returns -1, or the row of
// a line that could not be read; the context's read_error says why. Rows of tables of values count
// on from those of readings.
std::int32_t execute_lines(Context& context, const Operation& operation);

// Lets faults act on the newest samples of histories: those of now, or of the end of the step.
void inject_sample_faults(Context& context, const Operation& operation);

// Faults that act at the start: what inputs stay at, and what the past was. Initialising knows no
// faults, so this comes last.
void begin_faults(Context& context);

}  // namespace softdock
