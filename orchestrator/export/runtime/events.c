/* What happens at instants: relations switch, discrete variables change, states are set anew.
 *
 * Between events the column q is constant. At an event everything that depends on relations and
 * discrete variables is evaluated again until nothing changes, with the values before the event
 * frozen; then states are set, the new values become those before, and it starts again, until no
 * more happens (Modelica 3.6, section 8.6 and appendix B). */
#include "instance.h"

#if HAS_EVENTS

static void restart(Instance* instance); /* of the solver */

enum { MAX_SWEEPS = 2 * (N_DD + N_R) + 20, MAX_ROUNDS = 100 };

/* Evaluates all comparisons at a point, relations of implicit blocks included; z is scratch. */
static bool compare(Instance* instance, double time, const double* x, double* z) {
    const double *v = instance->state.values, *u = inputs_at(instance, time);
    const double* arguments[] = {&time, u, x, v + AT_P, v + AT_C, instance->state.q, z};
    if (!solve_running(instance, arguments, z)) return false;
    double* results[] = {instance->truth, instance->margin, instance->band};
    model_relations(arguments, results, NULL, NULL, 0);
    return true;
}

/* Event indicators after `compare`: positive where a relation holds, negative where it does not,
 * never zero after an event. */
static void indicate(const Instance* instance, double* indicators) {
    for (int i = 0; i < N_R; ++i) {
        if (model_foreseen[i]) continue;
        bool holds = instance->state.q[Q_RELATION + i] != 0.0;
        *indicators++ = instance->margin[i] + (holds ? instance->band[i] : -instance->band[i]);
    }
}

static bool differ(double a, double b) { return a != b && !(isnan(a) && isnan(b)); }

/* Brings relations and discrete variables into agreement with everything else. */
static bool settle_nearby(Instance* instance) {
    State* s = &instance->state;
    double *v = s->values, *q = s->q;
    const double* arguments[] = {v + AT_TIME, v + AT_U, v + AT_X, v + AT_P, v + AT_C, q, s->z};
    instance->unsettled = NULL;
    for (int sweep = 0; sweep < MAX_SWEEPS; ++sweep) {
        const char* changed = NULL;
        if (!compare(instance, v[AT_TIME], v + AT_X, s->z)) return false;
        s->z_known = 1;
        follow_moments(instance, instance->truth);
        for (int i = 0; i < N_R; ++i) {
            if (q[Q_RELATION + i] == instance->truth[i]) continue;
            q[Q_RELATION + i] = instance->truth[i];
            changed = model_relation_labels[i];
            if (!instance->previewing && !(s->mode & MODES_SETUP))
                note(instance, "t = %.9g s: %s event: '%s' becomes %s", v[AT_TIME],
                     model_foreseen[i] ? "time" : "state", changed,
                     q[Q_RELATION + i] != 0.0 ? "true" : "false");
        }
        double* results[] = {instance->discrete};
        model_discrete(arguments, results, NULL, NULL, 0);
        for (int i = 0; i < N_DD; ++i) {
            if (!differ(q[i], instance->discrete[i])) continue;
            q[i] = instance->discrete[i];
            changed = model_discrete_labels[i];
        }
        if (changed == NULL) return true;
        instance->unsettled = changed;
    }
    return false;
}

/* As settle_nearby; at an event a solution may be any. */
static bool settle_modes(Instance* instance) {
    instance->far = true;
    bool settled = settle_nearby(instance);
    instance->far = false;
    if (instance->found_far && !instance->previewing && !(instance->state.mode & MODES_SETUP)) {
        note(instance, "t = %.9g s: the solution of the equations for %s jumps at this event",
             instance->state.values[AT_TIME], instance->found_far);
        instance->found_far = NULL;
    }
    return settled;
}

static void show_discrete(Instance* instance) {
    for (int i = 0; i < N_D; ++i) instance->state.values[AT_D + i] = instance->state.q[i];
}

/* Relations and discrete variables before the initial event, together with the initial system. */
static bool start_modes(Instance* instance) {
    State* s = &instance->state;
    double *v = s->values, *q = s->q;
    const double* arguments[] = {v + AT_TIME, v + AT_U, v + AT_X, v + AT_P, v + AT_C, q, s->z};
    memset(q, 0, sizeof s->q);
    q[Q_INITIAL] = 1.0;
    s->z_known = 0;
    if (N_Z > 0) {
        double* guess[] = {s->z};
        model_guess(arguments, guess, NULL, NULL, 0);
    }
    for (int sweep = 0; sweep < MAX_SWEEPS; ++sweep) {
        bool changed = sweep == 0;
        double* starts[] = {instance->discrete};
        model_discrete_start(arguments, starts, NULL, NULL, 0);
        for (int i = 0; i < N_DD; ++i) {
            bool chosen = i < N_D && s->discrete_set[i];
            double start = chosen ? v[AT_D + i] : instance->discrete[i];
            changed |= differ(q[Q_PRE + i], start);
            q[Q_PRE + i] = start;
            if (sweep == 0) q[i] = start;
        }
        if (sweep > 0 && !changed) break;
        if (sweep == 0) {
            double* results[] = {q + Q_RELATION, instance->margin, instance->band};
            model_relations(arguments, results, NULL, NULL, 0);
            follow_moments(instance, q + Q_RELATION);
        }
        if (!solve_initial(instance)) return false;
        if (!settle_modes(instance)) return false;
    }
    if (!solve_initial(instance) || !settle_modes(instance)) return false;
    show_discrete(instance);
    return true;
}

/* The text of a message, numbers inserted. */
static void compose(const Instance* instance, int row, char* text, size_t size) {
    const MessageRow* message = &model_messages_rows[row];
    const double* number = instance->numbers + message->first_number;
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; i < message->piece_count && length < size - 1; ++i) {
        const char* piece = model_pieces[message->first_piece + i].text;
        int written = piece ? snprintf(text + length, size - length, "%s", piece)
                            : snprintf(text + length, size - length, "%.6g", *number++);
        length += (size_t)(written > 0 ? written : 0);
    }
}

/* Looks at the asserts of when clauses (`instant`) or at all others. */
static Status check_assertions(Instance* instance, bool instant, const char* function) {
    if (N_ASSERTIONS == 0) return STATUS_OK;
    State* s = &instance->state;
    const double* v = s->values;
    const double* arguments[] = {v + AT_TIME, v + AT_U, v + AT_X, v + AT_P, v + AT_C, s->q, s->z};
    double* results[] = {instance->condition, instance->level};
    double* numbers[] = {instance->numbers};
    bool composed = false;
    model_assertions(arguments, results, NULL, NULL, 0);
    for (int i = 0; i < N_ASSERTIONS; ++i) {
        const MessageRow* row = &model_messages_rows[i];
        if ((row->instant != 0) != instant) continue;
        if (instance->condition[i] != 0.0) {
            s->violated[i] = 0;
            continue;
        }
        if (!composed) model_messages(arguments, numbers, NULL, NULL, 0);
        composed = true;
        char text[512];
        compose(instance, i, text, sizeof text);
        if (instance->level[i] != 1.0) {
            s->mode = MODE_ERROR;
            return fail(instance, "%s: t = %.9g s: %s (%s)", function, v[AT_TIME], text,
                        row->origin);
        }
        if (!s->violated[i]) warn(instance, "t = %.9g s: %s (%s)", v[AT_TIME], text, row->origin);
        s->violated[i] = 1;
    }
    return STATUS_OK;
}

static void look_for_the_end(Instance* instance, const double** arguments) {
    if (N_TERMINATIONS == 0) return;
    double* results[] = {instance->ending};
    double* numbers[] = {instance->numbers};
    model_terminations(arguments, results, NULL, NULL, 0);
    for (int i = 0; i < N_TERMINATIONS; ++i) {
        if (instance->ending[i] == 0.0 || instance->state.terminated) continue;
        char text[512];
        model_messages(arguments, numbers, NULL, NULL, 0);
        compose(instance, N_ASSERTIONS + i, text, sizeof text);
        instance->state.terminated = 1;
        announce(instance, "t = %.9g s: the model ends the simulation: %s", *arguments[0], text);
    }
}

/* Sets states anew; false, with a message, if a value is no number. */
static bool set_states_anew(Instance* instance, const double** arguments, const char* function) {
    State* s = &instance->state;
    double* results[] = {instance->active, instance->value};
    model_reinits(arguments, results, NULL, NULL, 0);
    for (int i = 0; i < N_REINITS; ++i) {
        double* x = &s->values[AT_X + model_reinit_states[i]];
        if (instance->active[i] == 0.0 || *x == instance->value[i]) continue;
        *x = instance->value[i];
        instance->states_changed = true;
        note(instance, "t = %.9g s: reinit() sets '%s' to %.9g", s->values[AT_TIME],
             model_names[AT_X + model_reinit_states[i]], *x);
        if (isfinite(*x)) continue;
        s->mode = MODE_ERROR;
        fail(instance, "%s: t = %.9g s: reinit() sets '%s' to %g", function, s->values[AT_TIME],
             model_names[AT_X + model_reinit_states[i]], *x);
        return false;
    }
    return true;
}

static Status report_modes(Instance* instance, const char* function) {
    instance->state.mode = MODE_ERROR;
    return report_block(instance, function);
}

/* A whole event; samplers that are due have been marked. */
static Status happen(Instance* instance, const char* function) {
    State* s = &instance->state;
    double *v = s->values, *q = s->q;
    const double* arguments[] = {v + AT_TIME, v + AT_U, v + AT_X, v + AT_P, v + AT_C, q, s->z};
    instance->states_changed = false;
    s->event_due = 0;
    s->events.after_event = 1;
    restart(instance);
    if (q[Q_INITIAL] != 0.0) note(instance, "t = %.9g s: initial event", v[AT_TIME]);
    for (int round = 0; round < MAX_ROUNDS; ++round) {
        bool again = q[Q_INITIAL] != 0.0;
        if (!settle_modes(instance)) return report_modes(instance, function);
        look_for_the_end(instance, arguments);
        if (check_assertions(instance, true, function) != STATUS_OK) return STATUS_ERROR;
        if (!set_states_anew(instance, arguments, function)) return STATUS_ERROR;
        for (int i = 0; i < N_DD; ++i) {
            again |= differ(q[Q_PRE + i], q[i]);
            q[Q_PRE + i] = q[i];
        }
        for (int i = 0; i < N_S; ++i) again |= q[Q_SAMPLE + i] != 0.0;
        memset(q + Q_SAMPLE, 0, sizeof(double) * (N_S + 1)); /* the initial flag as well */
        if (again) continue;
        show_discrete(instance);
        s->stale |= STALE_OUTPUTS | STALE_LOCALS;
        return check_assertions(instance, false, function);
    }
    s->mode = MODE_ERROR;
    return fail(instance, "%s: t = %.9g s: %d events follow each other at one instant without end",
                function, v[AT_TIME], MAX_ROUNDS);
}

/* Relations and discrete variables as the event that changed inputs cause would leave them, without
 * its happening; `end_preview` takes them back. */
static bool begin_preview(Instance* instance) {
    State* s = &instance->state;
    if (!s->event_due || s->mode != MODE_STEP) return true;
    memcpy(instance->kept_q, s->q, sizeof s->q);
    memcpy(instance->kept_z, s->z, sizeof s->z);
    instance->previewing = true;
    return settle_modes(instance);
}

static void end_preview(Instance* instance) {
    State* s = &instance->state;
    if (!instance->previewing) return;
    instance->previewing = false;
    show_discrete(instance);
    memcpy(s->q, instance->kept_q, sizeof s->q);
    memcpy(s->z, instance->kept_z, sizeof s->z);
}

#else

static bool compare(Instance* instance, double time, const double* x, double* z) {
    (void)instance, (void)time, (void)x, (void)z;
    return true;
}
static bool begin_preview(Instance* instance) { return instance != NULL; }
static void end_preview(Instance* instance) { (void)instance; }
static void indicate(const Instance* instance, double* indicators) {
    (void)instance, (void)indicators;
}
static Status check_assertions(Instance* instance, bool instant, const char* function) {
    (void)instance, (void)instant, (void)function;
    return STATUS_OK;
}

#endif
