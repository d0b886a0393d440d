/* The whole FMU as one translation unit, so that the compiler sees the model inside the solver and
 * nothing but the functions of one FMI version is exported. */
/* The order matters. */
/* clang-format off */
#include "model.h"
#include "instance.h"
#include "log.c"
#include "newton.c"
#include "search.c"
#include "blocks.c"
#include "sensitivity.c"
#include "input_derivatives.c"
#include "instants.c"
#include "events.c"
#if IS_SAMPLED
#include MODEL_SAMPLED
#endif
#include "evaluate.c"
#include "values.c"
#if !IS_SAMPLED
#include MODEL_SOLVER
#include "branch.c"
#endif
#include "crossing.c"
#include "accumulation.c"
#include "life_cycle.c"
#include "intermediate_update.c"
#include "step.c"
#include "exchange.c"
#include "saved_state.c"
#include "derivative.c"
#if MODEL_FMI == 2
#include "fmi2_common.c"
#include "fmi2_values.c"
#include "fmi2_simulation.c"
#else
#include "fmi3_common.c"
#include "fmi3_values.c"
#include "fmi3_clocks.c"
#include "fmi3_simulation.c"
#endif
/* clang-format on */
