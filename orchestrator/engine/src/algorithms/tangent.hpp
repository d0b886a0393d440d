// Derivatives of operations by those of their units.
#pragma once

#include "core/context.hpp"
#include "core/outcome.hpp"

namespace softdock {

// What changes of signals at the end of a step the operations first..end - 1 make of those that
// stand in the context's tangent: through the lines, and through the units' feed-through.
Status differentiate(Context& context, std::size_t first, std::size_t end, Outcome& outcome);

}  // namespace softdock
