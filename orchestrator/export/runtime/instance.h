/* One running instance of the model. All state lives here: the library has no globals that change,
 * so any number of instances may run in one process, each in its own thread.
 *
 * Nothing in the core (every file but fmi2* and fmi3*) knows a version of FMI: the faces translate.
 * The generated model.h gives the sizes N_*, the tables model_* and the functions
 * model_ode, model_outputs, model_locals, model_calculated, model_start, model_tangent, those of
 * events and implicit blocks and, for FMI 3, model_adjoint. */
#ifndef SOFTDOCK_INSTANCE_H
#define SOFTDOCK_INSTANCE_H

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A value reference is the position in State.values of a scalar or of the first element of an array
 * (FMI 3), whose elements follow in row-major order; MODEL_EXTENT tells their number. The parts:
 * constants, inputs u, states x, parameters p, calculated parameters c, discrete variables d,
 * outputs y, locals w, state derivatives dx, event indicators, time. */
enum {
    AT_U = N_CONSTANTS,
    AT_X = AT_U + N_U,
    AT_P = AT_X + N_X,
    AT_C = AT_P + N_P,
    AT_D = AT_C + N_C,
    AT_Y = AT_D + N_D,
    AT_W = AT_Y + N_Y,
    AT_DX = AT_W + N_W,
    AT_INDICATOR = AT_DX + N_X,
    AT_TIME = AT_INDICATOR + N_INDICATORS,
    N_VALUES = AT_TIME + 1,
};

/* Highest derivative of the inputs that is used within a step. */
#define INPUT_ORDER 3

#define ROOM(count) ((count) > 0 ? (count) : 1)

typedef uint32_t Reference;

typedef enum { NO_SOLUTION, SINGULAR_BLOCK, LOST_SELECTION } Failure;

/* Equal, number by number, to fmi2Status and fmi3Status. */
typedef enum { STATUS_OK, STATUS_WARNING, STATUS_DISCARD, STATUS_ERROR } Status;

typedef enum { CO_SIMULATION, MODEL_EXCHANGE } Interface;

typedef enum {
    MODE_INSTANTIATED = 1,
    MODE_INITIALIZATION = 2,
    MODE_STEP = 4,
    MODE_TERMINATED = 8,
    MODE_ERROR = 16,
    MODE_EVENT = 32,
    MODE_CONTINUOUS = 64,
    MODE_INTERMEDIATE = 128, /* within a step, while the importer is asked; never saved */
} Mode;

enum { MODES_ALL = 127, MODES_READ = 126, MODES_SETUP = 3, MODES_EXCHANGE = 96 };

enum { TYPE_REAL, TYPE_INTEGER, TYPE_BOOLEAN, TYPE_ENUMERATION }; /* in model_types */

/* What no longer agrees with the inputs, states and parameters; computed on the next read. */
enum { STALE_PARAMETERS = 1, STALE_OUTPUTS = 2, STALE_LOCALS = 4, STALE_ALL = 7 };

/* Parts of State.q, which changes at events only: all discrete variables, those of the model first,
 * their values before the event, relations, samplers, and whether this is the initial event. */
enum {
    Q_PRE = N_DD,
    Q_RELATION = 2 * N_DD,
    Q_SAMPLE = Q_RELATION + N_R,
    Q_INITIAL = Q_SAMPLE + N_S,
};

/* What a step-size controller remembers from one communication step to the next. */
enum { STIFF_STEPS = 15 }; /* in a row, after which a model counts as stiff */
typedef struct {
    double step;       /* proposed internal step; 0 before the first */
    double last_error; /* scaled error of the last accepted step */
    int32_t stiff;     /* suspicious steps in a row */
    int32_t not_stiff;
    int32_t reported;
    int32_t history; /* the solver's own memory continues this state */
} Controller;

/* What is remembered of state events, to see that they never end. */
enum { CROWD = 100, BLOCK = 4, MOST_SHRINKING = 100000 };
typedef struct {
    double crowd_since;                          /* time of the first event of a crowd */
    double block_since, last_block, first_block; /* time and durations of blocks of events */
    int32_t crowd, in_block;                     /* events in each */
    int32_t shrinking; /* blocks in a row that were shorter: it ends far below MOST_SHRINKING */
    int32_t after_event;
    int32_t rebound; /* 1 + the relation that the last event turned back */
} Events;

typedef struct {
    double stop_time;
    double tolerance;
    int32_t mode;
    uint32_t stale;
    int32_t stop_time_defined;
    int32_t experiment_set_up;
    int32_t interface;
    int32_t unused;
    Controller controller;
    double values[N_VALUES];
    double z[ROOM(N_Z)]; /* last solution of the implicit blocks */
    int64_t z_known;
    double q[ROOM(N_Q)];
    double ticks[ROOM(N_S)];       /* of each sampler: how many of its instants are past, */
    double samples[ROOM(2 * N_S)]; /* and its start and interval */
    Events events;
    int32_t event_due; /* an input or parameter has changed since the last event */
    int32_t terminated;
    unsigned char violated[ROOM(N_ASSERTIONS)]; /* warnings that have been given */
    double moves[ROOM(INPUT_ORDER * N_U)];      /* of the inputs, order after order: see
                                                   input_derivatives.c */
    double moves_since;                         /* the inputs are those of this time */
    int64_t moves_are;
    double jump_time; /* when z was last changed to that of another branch, and how often */
    int64_t jumped;
    double guard_time; /* when the margins of the selection of states were last seen */
    double margins[ROOM(N_GUARDS)], margin_slopes[ROOM(N_GUARDS)];
    double room[ROOM(N_ROOM)];          /* what a file that takes the steps keeps for itself */
    unsigned char start_set[ROOM(N_X)]; /* the importer chose this state's start value itself */
    unsigned char discrete_set[ROOM(N_D)];
} State;

enum { LOG_ERROR = 1, LOG_WARNING = 2, LOG_DISCARD = 4, LOG_EVENTS = 8, LOG_ALL = 15 };

/* Who gets the messages; each face knows the type of its importer's logger. */
typedef struct Importer Importer;
struct Importer {
    void (*deliver)(const Importer*, Status, const char* category, const char* text);
    void (*logger)(void);
    void* environment;
    const char* name;
    unsigned categories; /* that are wanted, besides errors */
};

/* Scratch of search.c. */
typedef struct {
    double guess[ROOM(LARGEST_NONLINEAR)], unit[ROOM(LARGEST_NONLINEAR)];
    double residual[ROOM(LARGEST_NONLINEAR)], first_residual[ROOM(LARGEST_NONLINEAR)];
    double way[ROOM(LARGEST_NONLINEAR)];
    double point[LARGEST_NONLINEAR + 1], next[LARGEST_NONLINEAR + 1];
    double tangent[LARGEST_NONLINEAR + 1], step[LARGEST_NONLINEAR + 1];
    double row_scale[LARGEST_NONLINEAR + 1];
    int pivots[LARGEST_NONLINEAR + 1];
    double matrix[(LARGEST_NONLINEAR + 1) * (LARGEST_NONLINEAR + 1)];
} Search;

typedef struct Instance Instance;
struct Instance {
    State state;
    double stage[ROOM(N_X)], next[ROOM(N_X)]; /* scratch of solvers and directional derivatives */
    double k[7][ROOM(N_X)];
    double t_before, x_before[ROOM(N_X)]; /* where the last internal step began */
    double window_begin, window_length;   /* the communication step */
    bool slopes_known;                    /* the solver's last k are those of now */
    double tangent[N_VALUES];
    double u_now[ROOM(N_U)];
    double z_now[ROOM(N_Z)], initial_z[ROOM(N_ZI)], guess[ROOM(N_Z)];
    double initial_x[ROOM(N_X)], initial_c[ROOM(N_C)], checks[ROOM(N_CHECKS)];
    double step[ROOM(LARGEST_BLOCK)], next_step[ROOM(LARGEST_BLOCK)], from[ROOM(LARGEST_BLOCK)];
    double correction[ROOM(LARGEST_BLOCK)], row_scale[ROOM(LARGEST_BLOCK)];
    double entries[ROOM(MOST_ENTRIES)], jacobian[ROOM(LARGEST_BLOCK * LARGEST_BLOCK)];
    double next_jacobian[ROOM(LARGEST_BLOCK * LARGEST_BLOCK)];
    int pivots[ROOM(LARGEST_BLOCK)];
    double guard[2][ROOM(N_GUARDS)];
    double factors[ROOM(N_FACTORS)], factor_scales[ROOM(N_Z)]; /* of the blocks' Jacobians */
    int factor_pivots[ROOM(N_Z)];
    bool fixed_known; /* the factors of blocks of the kind BLOCK_FIXED */
    double tangent_z[ROOM(N_Z)];
    Search search;
    bool far;              /* the solution may be another than the one nearby */
    const char* found_far; /* label of a block whose solution was searched for */
    Failure failure;
    const char* failed_block; /* label of the block without a solution, or of surplus variables */
    const char* unsettled;    /* label of what an event iteration kept changing */
    double truth[ROOM(N_R)], margin[ROOM(N_R)], band[ROOM(N_R)];
    double margin_before[ROOM(N_R)], band_before[ROOM(N_R)];
    double discrete[ROOM(N_DD)];
    double active[ROOM(N_REINITS)], value[ROOM(N_REINITS)];
    double condition[ROOM(N_ASSERTIONS)], level[ROOM(N_ASSERTIONS)];
    double ending[ROOM(N_TERMINATIONS)], numbers[ROOM(N_NUMBERS)];
    double samples[ROOM(2 * N_S)], moments[ROOM(N_MOMENTS)];
    bool states_changed, event_needed, early_return; /* of the last event or step */
    bool event_mode_used, early_return_allowed;
    double kept_q[ROOM(N_Q)], kept_z[ROOM(N_Z)];
    bool previewing, told_of_waves;
    double last_step; /* communication step for which `substeps` was computed */
    int substeps, substep;
    void* solver; /* memory of a solver that has its own */
    Importer importer;
    char* name;
    /* Asks the importer for the inputs of a moment within the step; NULL: it is not asked. */
    void (*ask)(Instance*, double time);
    void (*asked)(void);
    unsigned char is_asked[ROOM(N_U)];
};

/* In a function, since compilers warn of comparisons with equal constants where a kind is empty. */
static inline bool within(int place, int first, int end) { return place >= first && place < end; }

#endif
