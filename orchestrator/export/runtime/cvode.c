/* CVODE of SUNDIALS: backward differentiation formulas of variable order and step, for stiff
 * models.
 *
 * A. C. Hindmarsh et al., SUNDIALS, ACM TOMS 31 (2005) 363-396. Newton's method with the exact
 * Jacobian and dense LU. Its history is kept from one communication step to the next unless an
 * input, parameter or state has changed. It cannot be copied: saving the FMU state clears
 * `history`, so that the instance and its copies begin anew from there, with equal results. */
#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "error_scale.c"
#include "instance.h"

#define SOLVER_HAS_MEMORY

typedef struct {
    SUNContext context;
    void* memory;
    SUNMatrix matrix;
    SUNLinearSolver linear;
    N_Vector states, inside; /* no memory of their own: values[AT_X], and where `dense` writes */
    double time;             /* up to where the history reaches, with these u, x, p, c: */
    double seen[ROOM(AT_Y - AT_U)];
    const char* unsolved; /* block without a solution in the last step; NULL: none */
#if N_BLOCKS == 0
    double entries[ROOM(N_JACOBIAN)];
#endif
} Solver;

static int right_hand_side(realtype time, N_Vector x, N_Vector dx, void* user) {
    Instance* instance = user;
    double *slopes = N_VGetArrayPointer(dx), sum = 0.0;
    derivatives(instance, time, N_VGetArrayPointer(x), slopes);
    for (int i = 0; i < N_X; ++i) sum += 0.0 * slopes[i];
    if (instance->failed_block && instance->failure == NO_SOLUTION)
        ((Solver*)instance->solver)->unsolved = instance->failed_block;
    return sum != 0.0; /* not finite: CVODE tries a shorter step */
}

#if N_BLOCKS > 0
/* Column by column: unit seeds through the factored blocks. */
static bool fill(Instance* instance, const double** known, SUNMatrix target) {
    static const double no_seed[ROOM(N_U)];
    double *seed = instance->next, *seed_z = instance->tangent_z;
    const double* block_arguments[] = {known[0], known[1], known[2], known[3], known[4], known[5],
                                       known[6], no_seed,  seed,     no_seed,  seed_z};
    const double* arguments[] = {known[0], known[1], known[2], known[3], known[4],
                                 known[5], known[6], seed,     seed_z};
    if (!linearize(instance, known)) return false;
    memset(seed, 0, sizeof instance->next);
    for (int j = 0; j < N_X; ++j) {
        double* results[] = {SM_COLUMN_D(target, j)};
        seed[j] = 1.0;
        propagate(instance, block_arguments, seed_z);
        model_slope_tangent(arguments, results, NULL, NULL, 0);
        seed[j] = 0.0;
    }
    return true;
}
#else
static bool fill(Instance* instance, const double** known, SUNMatrix target) {
    double* values = ((Solver*)instance->solver)->entries;
    double* results[] = {values};
    model_jacobian(known, results, NULL, NULL, 0);
    for (int j = 0; j < N_X; ++j)
        for (int n = model_jacobian_columns[j]; n < model_jacobian_columns[j + 1]; ++n)
            SM_ELEMENT_D(target, model_jacobian_rows[n], j) = values[n];
    return true;
}
#endif

static int jacobian(realtype time, N_Vector x, N_Vector dx, SUNMatrix target, void* user,
                    N_Vector a, N_Vector b, N_Vector c) {
    Instance* instance = user;
    const double* v = instance->state.values;
    double *z = instance->z_now, sum = 0.0;
    const double *u = inputs_at(instance, time), *q = instance->state.q;
    const double* arguments[] = {&time, u, N_VGetArrayPointer(x), v + AT_P, v + AT_C, q, z};
    (void)dx, (void)a, (void)b, (void)c;
    memcpy(z, instance->state.z, sizeof instance->state.z);
    if (!solve_running(instance, arguments, z) || !fill(instance, arguments, target)) return 1;
    for (int i = 0; i < N_X * N_X; ++i) sum += 0.0 * SM_DATA_D(target)[i];
    return sum != 0.0;
}

static int weights(N_Vector x, N_Vector weight, void* user) {
    const State* s = &((Instance*)user)->state;
    const double* now = N_VGetArrayPointer(x);
    double* target = N_VGetArrayPointer(weight);
    for (int i = 0; i < N_X; ++i) target[i] = 1.0 / scale_of(s, i, now[i], now[i]);
    return 0;
}

static void pass_message(int code, const char* module, const char* function, char* text,
                         void* user) {
    (void)code;
    warn(user, "%s of %s: %s", function, module, text);
}

static void destroy_solver(Instance* instance) {
    Solver* c = instance->solver;
    if (c == NULL) return;
    if (c->memory) CVodeFree(&c->memory);
    if (c->linear) SUNLinSolFree(c->linear);
    if (c->matrix) SUNMatDestroy(c->matrix);
    if (c->states) N_VDestroy(c->states);
    if (c->inside) N_VDestroy(c->inside);
    if (c->context) SUNContext_Free(&c->context);
    free(c);
    instance->solver = NULL;
}

/* All memory but what CVODE makes in its first step, the copy of the Jacobian for one; later steps
 * and restarts allocate nothing. */
static bool create_solver(Instance* instance) {
    if (N_X == 0) return true;
    double* x = instance->state.values + AT_X;
    Solver* c = instance->solver = calloc(1, sizeof *c);
    if (c == NULL || SUNContext_Create(NULL, &c->context) != 0) return false;
    c->states = N_VMake_Serial(N_X, x, c->context);
    c->inside = N_VMake_Serial(N_X, x, c->context);
    c->matrix = SUNDenseMatrix(N_X, N_X, c->context);
    c->memory = CVodeCreate(CV_BDF, c->context);
    if (!c->states || !c->inside || !c->matrix || !c->memory) return false;
    c->linear = SUNLinSol_Dense(c->states, c->matrix, c->context);
    return c->linear && CVodeInit(c->memory, right_hand_side, 0.0, c->states) == CV_SUCCESS &&
           CVodeSetErrHandlerFn(c->memory, pass_message, instance) == CV_SUCCESS &&
           CVodeSetUserData(c->memory, instance) == CV_SUCCESS &&
           CVodeWFtolerances(c->memory, weights) == CV_SUCCESS &&
           CVodeSetLinearSolver(c->memory, c->linear, c->matrix) == CV_SUCCESS &&
           CVodeSetJacFn(c->memory, jacobian) == CV_SUCCESS &&
           CVodeSetMaxStep(c->memory, isfinite(MODEL_MAX_STEP) ? MODEL_MAX_STEP : 0.0) ==
               CV_SUCCESS;
}

/* The importer's times may be rounded differently from ours. */
static bool continues(const Instance* instance) {
    const Solver* c = instance->solver;
    const double *v = instance->state.values, t = v[AT_TIME];
    return instance->state.controller.history &&
           fabs(t - c->time) <= 8.0 * DBL_EPSILON * fmax(fabs(t), instance->window_length) &&
           memcmp(c->seen, v + AT_U, sizeof c->seen) == 0;
}

static Status give_up(Instance* instance, const char* function) {
    State* s = &instance->state;
    const Solver* c = instance->solver;
    double h = 0.0, t = s->values[AT_TIME];
    CVodeGetCurrentStep(c->memory, &h);
    derivatives(instance, t, s->values + AT_X, instance->k[0]);
    /* Here there is a solution; where CVODE wanted to go there was none. */
    if (!instance->failed_block && c->unsolved)
        instance->failed_block = c->unsolved, instance->failure = NO_SOLUTION;
    return report_failure(instance, t, h, function);
}

static Status advance(Instance* instance, double end, const char* function) {
    Solver* c = instance->solver;
    double *v = instance->state.values, t = v[AT_TIME], reached = t;
    c->unsolved = NULL;
    if (!instance->slopes_known && !continues(instance)) {
        double sum = 0.0;
        for (int i = AT_U; i < AT_Y; ++i) sum += 0.0 * v[i];
        if (sum != 0.0 || CVodeReInit(c->memory, t, c->states) != CV_SUCCESS)
            return give_up(instance, function);
    }
    if (CVodeSetStopTime(c->memory, end) != CV_SUCCESS ||
        CVode(c->memory, end, c->states, &reached, CV_ONE_STEP) < 0 || !(reached > t))
        return give_up(instance, function);
    instance->t_before = t;
    instance->slopes_known = true;
    instance->state.controller.history = 1;
    v[AT_TIME] = c->time = reached;
    memcpy(c->seen, v + AT_U, sizeof c->seen);
    return STATUS_OK;
}

/* The polynomial of the formula itself. */
__attribute__((unused)) static void dense(Instance* instance, double t, double* x) {
    Solver* c = instance->solver;
    if (N_X == 0) return;
    N_VSetArrayPointer(x, c->inside);
    CVodeGetDky(c->memory, t, 0, c->inside);
}

__attribute__((unused)) static void restart(Instance* instance) {
    instance->slopes_known = false;
    instance->state.controller.history = 0;
}
