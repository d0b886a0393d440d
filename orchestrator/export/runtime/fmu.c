/* The whole FMU as one translation unit, so that the compiler sees the model inside the solver and
 * nothing but the fmi2 functions is exported. */
/* The order matters. */
/* clang-format off */
#include "model.h"
#include "instance.h"
#include "log.c"
#include "newton.c"
#include "evaluate.c"
#include "values.c"
#include "life_cycle.c"
#include "step.c"
#include "saved_state.c"
#include "directional_derivative.c"
/* clang-format on */
