/* One running instance of the model. All state lives here: the library has no globals that change,
 * so any number of instances may run in one process, each in its own thread.
 *
 * Nothing in the core (every file but fmi2* and fmi3*) knows a version of FMI: the faces translate.
 * The generated model.h gives the sizes N_*, the tables model_* and the functions
 * model_ode, model_outputs, model_locals, model_calculated, model_start, model_tangent, those of
 * the implicit blocks and, for FMI 3 models without such blocks, model_adjoint. */
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

/* A value reference is the position in State.values: constants, inputs u, states x, parameters p,
 * calculated parameters c, outputs y, locals w, state derivatives dx, time. */
enum {
    AT_U = N_CONSTANTS,
    AT_X = AT_U + N_U,
    AT_P = AT_X + N_X,
    AT_C = AT_P + N_P,
    AT_Y = AT_C + N_C,
    AT_W = AT_Y + N_Y,
    AT_DX = AT_W + N_W,
    AT_TIME = AT_DX + N_X,
    N_VALUES = AT_TIME + 1,
};

#define ROOM(count) ((count) > 0 ? (count) : 1)

typedef uint32_t Reference;

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
} Mode;

enum { MODES_ALL = 127, MODES_READ = 126, MODES_SETUP = 3, MODES_EXCHANGE = 96 };

/* What no longer agrees with the inputs, states and parameters; computed on the next read. */
enum { STALE_PARAMETERS = 1, STALE_OUTPUTS = 2, STALE_LOCALS = 4, STALE_ALL = 7 };

/* What a step-size controller remembers from one communication step to the next. */
typedef struct {
    double step;       /* proposed internal step; 0 before the first */
    double last_error; /* scaled error of the last accepted step */
    int32_t stiff;     /* suspicious steps in a row */
    int32_t not_stiff;
    int32_t reported;
    int32_t history; /* the solver's own memory continues this state */
} Controller;

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
    unsigned char start_set[ROOM(N_X)]; /* the importer chose this state's start value itself */
} State;

/* Who gets the messages; each face knows the type of its importer's logger. */
typedef struct Importer Importer;
struct Importer {
    void (*deliver)(const Importer*, Status, const char* category, const char* text);
    void (*logger)(void);
    void* environment;
    const char* name;
};

typedef struct {
    State state;
    double stage[ROOM(N_X)], next[ROOM(N_X)]; /* scratch of solvers and directional derivatives */
    double k[7][ROOM(N_X)];
    double t_before, x_before[ROOM(N_X)]; /* where the last internal step began */
    double window_begin, window_length;   /* the communication step */
    bool slopes_known;                    /* the solver's last k are those of now */
    double tangent[N_VALUES];
    double z_now[ROOM(N_Z)], initial_z[ROOM(N_ZI)], guess[ROOM(N_Z)];
    double initial_x[ROOM(N_X)], initial_c[ROOM(N_C)], checks[ROOM(N_CHECKS)];
    double step[ROOM(LARGEST_BLOCK)], next_step[ROOM(LARGEST_BLOCK)], from[ROOM(LARGEST_BLOCK)];
    double correction[ROOM(LARGEST_BLOCK)], row_scale[ROOM(LARGEST_BLOCK)];
    double jacobian[ROOM(LARGEST_BLOCK * LARGEST_BLOCK)];
    double next_jacobian[ROOM(LARGEST_BLOCK * LARGEST_BLOCK)];
    int pivots[ROOM(LARGEST_BLOCK)];
    const char* failed_block; /* label of the block that Newton's method could not solve */
    double last_step;         /* communication step for which `substeps` was computed */
    int substeps, substep;
    void* solver; /* memory of a solver that has its own */
    Importer importer;
    char* name;
} Instance;

#endif
