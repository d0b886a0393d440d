/* Creation, initialisation, termination. */
#include "instance.h"

static void set_to_start(Instance* instance) {
    State* s = &instance->state;
    const int32_t interface = s->interface;
    memset(s, 0, sizeof *s);
    memcpy(s->values, model_start_values, sizeof(double) * N_VALUES);
    s->tolerance = MODEL_TOLERANCE;
    s->interface = interface;
    s->mode = MODE_INSTANTIATED;
    s->stale = STALE_ALL;
    instance->found_far = NULL;
}

static void destroy(Instance* instance) {
    if (instance == NULL) return;
#ifdef SOLVER_HAS_MEMORY
    destroy_solver(instance);
#endif
    free(instance->name);
    free(instance);
}

static Instance* create(const Importer* importer, Interface interface, const char* token,
                        const char* function) {
    if (importer->name == NULL || *importer->name == '\0') {
        refuse_instance(importer, "%s: the instance name is empty", function);
        return NULL;
    }
    if (token == NULL || strcmp(token, MODEL_GUID) != 0) {
        refuse_instance(importer,
                        "%s: GUID '%s' does not match '%s': binary and modelDescription.xml are of "
                        "different builds",
                        function, token ? token : "", MODEL_GUID);
        return NULL;
    }
    if (IS_SAMPLED && interface != CO_SIMULATION) {
        refuse_instance(importer, "%s: the FMU is for co-simulation only", function);
        return NULL;
    }
    Instance* instance = calloc(1, sizeof *instance);
    char* copy = malloc(strlen(importer->name) + 1);
    if (instance == NULL || copy == NULL) {
        free(instance);
        free(copy);
        refuse_instance(importer, "%s: out of memory", function);
        return NULL;
    }
    instance->importer = *importer;
    instance->importer.name = instance->name = strcpy(copy, importer->name);
    instance->state.interface = interface;
    set_to_start(instance);
#ifdef SOLVER_HAS_MEMORY
    if (interface == CO_SIMULATION && !create_solver(instance)) {
        refuse_instance(importer, "%s: out of memory", function);
        destroy(instance);
        return NULL;
    }
#endif
    return instance;
}

static Status set_up(Instance* instance, bool tolerance_defined, double tolerance, double start,
                     bool stop_defined, double stop, const char* function) {
    if (!allowed(instance, MODE_INSTANTIATED, function)) return STATUS_ERROR;
    if (!isfinite(start) || (stop_defined && !(stop >= start)))
        return fail(instance, "%s: start time %.17g and stop time %.17g are not an interval",
                    function, start, stop);
    if (tolerance_defined && !(tolerance > 0.0 && tolerance < 1.0))
        return fail(instance, "%s: the relative tolerance is %.17g; expected one in ]0, 1[",
                    function, tolerance);
    State* s = &instance->state;
    s->values[AT_TIME] = start;
    s->stop_time = stop_defined ? stop : 0.0;
    s->stop_time_defined = stop_defined;
    s->tolerance = tolerance_defined ? fmax(tolerance, 1e-13) : MODEL_TOLERANCE;
    s->experiment_set_up = 1;
    s->stale = STALE_ALL;
    return STATUS_OK;
}

static Status exit_initialization(Instance* instance, const char* function) {
    if (!allowed(instance, MODE_INITIALIZATION, function)) return STATUS_ERROR;
    State* s = &instance->state;
    if (((s->stale & STALE_PARAMETERS) && !update_parameters(instance)) || !settle(instance)) {
        s->mode = MODE_ERROR;
        return report_block(instance, function);
    }
    if (!consistent(instance, function)) {
        s->mode = MODE_ERROR;
        return STATUS_ERROR;
    }
#if HAS_EVENTS
    if (follow_samplers(instance, true, function) != STATUS_OK) return STATUS_ERROR;
    if (happen(instance, function) != STATUS_OK) return STATUS_ERROR; /* the initial event */
    if (s->interface == CO_SIMULATION && !instance->event_mode_used && mark_samplers(instance) &&
        happen(instance, function) != STATUS_OK)
        return STATUS_ERROR;
#endif
    for (int i = AT_X; i < AT_Y; ++i) {
        if (isnan(s->values[i]) || (i < AT_P && isinf(s->values[i]))) {
            s->mode = MODE_ERROR;
            return fail(instance, "%s: '%s' starts as %g; check the parameters it is computed from",
                        function, model_names[i], s->values[i]);
        }
    }
    if (instance->found_far)
        warn(instance,
             "t = %.9g s: from the start values Newton's method finds no solution of the equations "
             "for %s; another way did: see that it is the one that is meant, or set start values "
             "near it",
             s->values[AT_TIME], instance->found_far);
    instance->found_far = NULL;
    bool event_mode = s->interface == MODEL_EXCHANGE || instance->event_mode_used;
    s->mode = event_mode ? MODE_EVENT : MODE_STEP;
    return STATUS_OK;
}

/* Changes the mode if the present one is among those given. */
static Status change_mode(Instance* instance, int from, Mode to, const char* function) {
    if (!allowed(instance, from, function)) return STATUS_ERROR;
    instance->state.mode = to;
    return STATUS_OK;
}

static Status reset(Instance* instance, const char* function) {
    if (!allowed(instance, MODES_ALL, function)) return STATUS_ERROR;
    set_to_start(instance);
    return STATUS_OK;
}
