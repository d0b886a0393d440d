/* One running instance of the model. All state lives here: the library has no globals that change,
 * so any number of instances may run in one process, each in its own thread.
 *
 * The generated model.h gives the sizes N_*, the tables model_* and the functions
 * model_ode, model_outputs, model_locals, model_calculated, model_start and model_tangent. */
#ifndef SOFTDOCK_INSTANCE_H
#define SOFTDOCK_INSTANCE_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmi2.h"

/* A value reference is the position in State.values: constants, inputs u, states x, parameters p,
 * calculated parameters c, outputs y, locals w, state derivatives dx. */
enum {
    AT_U = N_CONSTANTS,
    AT_X = AT_U + N_U,
    AT_P = AT_X + N_X,
    AT_C = AT_P + N_P,
    AT_Y = AT_C + N_C,
    AT_W = AT_Y + N_Y,
    AT_DX = AT_W + N_W,
    N_VALUES = AT_DX + N_X,
};

#define ROOM(count) ((count) > 0 ? (count) : 1)

typedef enum {
    MODE_INSTANTIATED = 1,
    MODE_INITIALIZATION = 2,
    MODE_STEP = 4,
    MODE_TERMINATED = 8,
    MODE_ERROR = 16,
} Mode;

enum { MODES_ALL = 31, MODES_READ = 30, MODES_SETUP = 3 };

/* What no longer agrees with the inputs, states and parameters; computed on the next read. */
enum { STALE_PARAMETERS = 1, STALE_OUTPUTS = 2, STALE_LOCALS = 4, STALE_ALL = 7 };

typedef struct {
    double time;
    double stop_time;
    int32_t mode;
    uint32_t stale;
    int32_t stop_time_defined;
    int32_t experiment_set_up;
    double values[ROOM(N_VALUES)];
    double z[ROOM(N_Z)]; /* last solution of the implicit blocks */
    int64_t z_known;
    unsigned char start_set[ROOM(N_X)]; /* the importer chose this state's start value itself */
} State;

typedef struct {
    State state;
    double stage[ROOM(N_X)]; /* scratch of the solver and of directional derivatives */
    double k1[ROOM(N_X)], k2[ROOM(N_X)], k3[ROOM(N_X)], k4[ROOM(N_X)];
    double tangent[ROOM(N_VALUES)];
    double z_now[ROOM(N_Z)], initial_z[ROOM(N_ZI)], guess[ROOM(N_Z)];
    double initial_x[ROOM(N_X)], initial_c[ROOM(N_C)], checks[ROOM(N_CHECKS)];
    double step[ROOM(LARGEST_BLOCK)], next_step[ROOM(LARGEST_BLOCK)], from[ROOM(LARGEST_BLOCK)];
    double correction[ROOM(LARGEST_BLOCK)], row_scale[ROOM(LARGEST_BLOCK)];
    double jacobian[ROOM(LARGEST_BLOCK * LARGEST_BLOCK)];
    double next_jacobian[ROOM(LARGEST_BLOCK * LARGEST_BLOCK)];
    int pivots[ROOM(LARGEST_BLOCK)];
    const char* failed_block; /* label of the block that Newton's method could not solve */
    double last_step; /* communication step for which `substeps` was computed */
    int substeps;
    fmi2CallbackLogger logger;
    fmi2ComponentEnvironment environment;
    char* name;
} Instance;

#endif
