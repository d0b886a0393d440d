/* All implicit blocks, one after the other, and the initial system; what is said where one has no
 * solution. */
#include "instance.h"

#define SINGULAR 0.01 /* margin of a selection of states, at most 1 */
#define NEAR_SINGULAR 0.3

/* Factors of matrices that change with parameters only: until those change, or a state is
 * restored. */
static bool factor_fixed(Instance* instance, const double** arguments) {
    for (const Block* block = model_blocks; block < model_blocks + N_BLOCKS; ++block) {
        if (block->kind != BLOCK_FIXED) continue;
        double* matrix = instance->factors + block->factors;
        double* results[] = {instance->entries};
        block->matrix(arguments, results, NULL, NULL, 0);
        assemble(block, instance->entries, matrix);
        if (!factor(matrix, instance->factor_scales + block->first,
                    instance->factor_pivots + block->first, block->size)) {
            instance->failed_block = block->label;
            instance->failure = SINGULAR_BLOCK;
            return false;
        }
    }
    instance->fixed_known = true;
    return true;
}

/* Whether the constraints can still be solved for what is no state. Where their determinant would
 * pass zero, the equations go on with the wrong branch, as a pendulum reflected at its turning
 * point: so a margin must not come near zero, change sign, or be expected beyond zero. */
static bool selection_holds(Instance* instance, const double** arguments, const double* z) {
#if N_GUARDS > 0
    State* s = &instance->state;
    double *margin = instance->guard[0], *slope = instance->guard[1];
    double time = *arguments[0], passed = time - s->guard_time;
    const double* all[] = {
        arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5], z};
    double* results[] = {margin, slope};
    model_guards(all, results, NULL, NULL, 0);
    for (int i = 0; i < N_GUARDS; ++i) {
        double before = s->margins[i], expected = before + fmax(passed, 0.0) * s->margin_slopes[i];
        bool near = fabs(margin[i]) < NEAR_SINGULAR || fabs(before) < NEAR_SINGULAR;
        bool turned = s->z_known && (margin[i] * before < 0.0 || (near && expected * before < 0.0));
        if (fabs(margin[i]) > SINGULAR && !turned) continue;
        instance->failed_block = model_guard_labels[i];
        instance->failure = LOST_SELECTION;
        return false;
    }
    if (z == s->z || N_Z == 0) {
        s->guard_time = time;
        memcpy(s->margins, margin, sizeof instance->guard[0]);
        memcpy(s->margin_slopes, slope, sizeof instance->guard[1]);
    }
#else
    (void)instance, (void)arguments, (void)z;
#endif
    return true;
}

/* `far`: a solution is searched for where the last one leads nowhere. */
static bool solve_blocks(Instance* instance, const Block* blocks, int count,
                         const double** arguments, double* z, bool far) {
    for (const Block* block = blocks; block < blocks + count; ++block) {
        bool newton = block->kind == BLOCK_NONLINEAR;
        if (newton ? solve_newton(instance, block, arguments, z)
                   : solve_linear(instance, block, arguments, z))
            continue;
        if (newton && far && search(instance, block, arguments, z)) {
            instance->found_far = block->label;
            continue;
        }
        instance->failed_block = block->label;
        instance->failure = newton ? NO_SOLUTION : SINGULAR_BLOCK;
        return false;
    }
    return true;
}

/* Whether z is where the simplified expressions of homotopy() lead, or there are none. */
static bool simplify(Instance* instance, const Block* blocks, int count, const double** arguments,
                     double* z) {
    bool solved = true;
#if HAS_HOMOTOPY
    double *flag = instance->state.q + Q_INITIAL, kept = *flag;
    *flag = 2.0;
    solved = solve_blocks(instance, blocks, count, arguments, z, true);
    *flag = kept;
    instance->failed_block = instance->found_far = NULL;
#else
    (void)instance, (void)blocks, (void)count, (void)arguments, (void)z;
#endif
    return solved;
}

/* Brings z into agreement with the other arguments, from where it is now. If that fails, z is left
 * alone. Between events no other guess is tried, since that could lead to another branch of
 * solutions: at the start, at events and where a branch ends (`far`) it may. */
static bool solve_running(Instance* instance, const double** arguments, double* z) {
    if (N_Z == 0 && N_GUARDS == 0) return true;
    double* guess[] = {instance->guess};
    instance->failed_block = NULL;
    if (!instance->fixed_known && !factor_fixed(instance, arguments)) return false;
    if (instance->state.z_known)
        memcpy(instance->guess, z, sizeof(double) * N_Z);
    else {
        model_guess(arguments, guess, NULL, NULL, 0);
        memcpy(z, instance->guess, sizeof(double) * N_Z);
        if (!simplify(instance, model_blocks, N_BLOCKS, arguments, z))
            memcpy(z, instance->guess, sizeof(double) * N_Z);
    }
    bool far = instance->far || !instance->state.z_known;
    if (solve_blocks(instance, model_blocks, N_BLOCKS, arguments, z, far) &&
        selection_holds(instance, arguments, z))
        return true;
    memcpy(z, instance->guess, sizeof(double) * N_Z);
    return false;
}

/* At the end of a step: the next one starts from a solution for this moment. */
static bool settle(Instance* instance) {
    State* s = &instance->state;
    const double* v = s->values;
    const double* arguments[] = {v + AT_TIME, v + AT_U, v + AT_X, v + AT_P, v + AT_C, s->q, s->z};
    if (!solve_running(instance, arguments, s->z)) return false;
    s->z_known = 1;
    return true;
}

/* States, parameters and z that follow from the initial system. */
static bool solve_initial(Instance* instance) {
#if HAS_INITIAL_SYSTEM
    State* s = &instance->state;
    double* v = s->values;
    double* z = instance->initial_z;
    const double* arguments[] = {v + AT_TIME, v + AT_U, v + AT_X, v + AT_P, v + AT_C, s->q, z};
    double* guess[] = {z};
    model_initial_guess(arguments, guess, NULL, NULL, 0);
    instance->failed_block = NULL;
    instance->fixed_known = false; /* c changes */
    if (!simplify(instance, model_initial_blocks, N_INITIAL_BLOCKS, arguments, z))
        model_initial_guess(arguments, guess, NULL, NULL, 0);
    if (!solve_blocks(instance, model_initial_blocks, N_INITIAL_BLOCKS, arguments, z, true))
        return false;
    double* results[] = {instance->initial_x, instance->initial_c, s->z, instance->checks};
    model_initial(arguments, results, NULL, NULL, 0);
    memcpy(v + AT_X, instance->initial_x, sizeof(double) * N_X);
    memcpy(v + AT_C, instance->initial_c, sizeof(double) * N_C);
    s->z_known = 1;
#else
    (void)instance;
#endif
    return true;
}

/* After initialisation: the superfluous equations must hold as well. */
static bool consistent(Instance* instance, const char* function) {
    for (int i = 0; i < N_CHECKS; ++i) {
        if (fabs(instance->checks[i]) <= 1e-7) continue;
        fail(instance,
             "%s: the initial values contradict each other: %s is violated by %g (relative)",
             function, model_checks[i], instance->checks[i]);
        return false;
    }
    return true;
}

static const char* const failures[] = {
    [NO_SOLUTION] =
        ("%s: t = %.9g s: Newton's method finds no solution of the equations for %s; try other "
         "start "
         "values, or the equations have none or are singular here"),
    [SINGULAR_BLOCK] = "%s: t = %.9g s: the linear equations for %s are singular or not finite",
    [LOST_SELECTION] = ("%s: t = %.9g s: the selection of states does not hold any more: the "
                        "constraints cannot be "
                        "solved for %s here; choose independent states (minimal coordinates)"),
};

static const char no_agreement[] =
    "%s: t = %.9g s: the event iteration does not settle: '%s' keeps changing; relations or "
    "discrete equations contradict each other";

static const char* block_message(const Instance* instance) {
    return instance->failed_block ? failures[instance->failure] : no_agreement;
}

static const char* block_label(const Instance* instance) {
    return instance->failed_block ? instance->failed_block : instance->unsettled;
}

static Status report_block(const Instance* instance, const char* function) {
    return fail(instance, block_message(instance), function, instance->state.values[AT_TIME],
                block_label(instance));
}

/* As `report_block`; the importer may try again with other values. */
static Status discard_block(const Instance* instance, const char* function) {
    return discard(instance, block_message(instance), function, instance->state.values[AT_TIME],
                   block_label(instance));
}
