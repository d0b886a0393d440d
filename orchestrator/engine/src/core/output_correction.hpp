// Outputs that act at once, corrected by what their inputs should have been at the step's end.
#pragma once

#include "core/context.hpp"
#include "core/outcome.hpp"

namespace softdock {

// After a step: each row tells what an input was held at, and what its source has become. By the
// directional derivatives of the input's unit the outputs, and the newest samples of their
// histories, become what they would be with that. The unit itself is untouched.
Status correct_outputs(Context& context, const Operation& operation, Outcome& outcome);

}  // namespace softdock
