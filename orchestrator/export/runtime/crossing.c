/* State events inside a step: where relations change. */
#include "instance.h"

#if HAS_EVENTS

/* How far relation i is from changing; negative beyond. */
static double distance(const Instance* instance, int i, const double* margin, const double* band) {
    bool holds = instance->state.q[Q_RELATION + i] != 0.0;
    return (holds ? margin[i] : -margin[i]) + band[i];
}

/* Whether a relation that is not foreseen has changed at a point; -1: no solution there. */
static int any_crossed(Instance* instance, double time, const double* x) {
    memcpy(instance->z_now, instance->state.z, sizeof instance->state.z);
    if (!compare(instance, time, x, instance->z_now)) return -1;
    for (int i = 0; i < N_R; ++i)
        if (!model_foreseen[i] && distance(instance, i, instance->margin, instance->band) < 0.0)
            return 1;
    return 0;
}

/* As any_crossed, at a part of the step from `begin` to now. */
static int crossed_at(Instance* instance, double begin, double part, double* place) {
    const State* s = &instance->state;
    double now = s->values[AT_TIME];
    *place = part < 1.0 ? begin + part * (now - begin) : now;
    if (part == 1.0) return any_crossed(instance, now, s->values + AT_X);
    dense(instance, *place, instance->stage);
    return any_crossed(instance, *place, instance->stage);
}

/* Where relations are looked at in a step, as parts of it. */
enum { LOOKS = 4, MOST_PIECES = 100000 };
static const double looks[LOOKS] = {0.22, 0.5, 0.77, 1.0};

typedef struct {
    int count; /* of the points that have a solution */
    double at[LOOKS], value[ROOM(N_R)][LOOKS];
    bool beyond[ROOM(N_R)]; /* what has changed at the last of them */
} Seen;

typedef struct {
    double at[3], value[3]; /* a relation's distance from changing at three parts of the step */
} Arc;

/* Where the parabola through three points is lowest, if that is inside and promises a crossing. */
static bool may_dip(const Arc* arc, double from, double to, double* part) {
    const double *t = arc->at, *d = arc->value;
    double first = (d[1] - d[0]) / (t[1] - t[0]), second = (d[2] - d[1]) / (t[2] - t[1]);
    double bend = (second - first) / (t[2] - t[0]);
    if (!(bend > 0.0)) return false;
    *part = 0.5 * (t[0] + t[1] - first / bend);
    if (!(*part > from && *part < to)) return false;
    double low = d[0] + first * (*part - t[0]) + bend * (*part - t[0]) * (*part - t[1]);
    return low < 0.5 * fmin(fmin(d[0], d[1]), d[2]);
}

/* Puts a point into an arc in place of the end that is farther from it. */
static bool narrow(Arc* arc, double part, double value) {
    for (int k = 0; k < 3; ++k)
        if (fabs(arc->at[k] - part) < 1e-9) return false;
    int dropped = fabs(part - arc->at[0]) > fabs(part - arc->at[2]) ? 0 : 2;
    arc->at[dropped] = part;
    arc->value[dropped] = value;
    for (int k = 0; k < 2; ++k)
        for (int j = 0; j < 2; ++j)
            if (arc->at[j] > arc->at[j + 1]) {
                double at = arc->at[j], kept = arc->value[j];
                arc->at[j] = arc->at[j + 1], arc->value[j] = arc->value[j + 1];
                arc->at[j + 1] = at, arc->value[j + 1] = kept;
            }
    return true;
}

/* Whether a relation has changed at the present point that has not at the last that was seen. */
static bool any_new(const Instance* instance, const Seen* seen) {
    for (int i = 0; i < N_R; ++i)
        if (!model_foreseen[i] && !seen->beyond[i] &&
            distance(instance, i, instance->margin, instance->band) < 0.0)
            return true;
    return false;
}

/* Follows relation i to the lowest point of an arc: it may change and change back between looks. */
static bool dips(Instance* instance, int i, Arc arc, const Seen* seen, double begin, double from,
                 double* place) {
    double part, to = arc.at[2];
    for (int count = 0; count < 4 && may_dip(&arc, from, to, &part); ++count) {
        int crossed = crossed_at(instance, begin, part, place);
        if (crossed < 0) return false;
        double value = distance(instance, i, instance->margin, instance->band);
        if (value < 0.0 || (crossed && any_new(instance, seen))) return true;
        if (!narrow(&arc, part, value)) return false;
    }
    return false;
}

/* Where the cubic through four points is lowest behind `from`, between the points k and k + 1, if
 * that is beyond the boundary; where the last point is beyond it, too, only if it comes back in
 * between. */
static bool lowest_of_cubic(const double* t, const double* d, double from, double* part, int* k) {
    double way[3], bend[2], before = t[0] - t[1], after = t[2] - t[1];
    for (int i = 0; i < 3; ++i) way[i] = (d[i + 1] - d[i]) / (t[i + 1] - t[i]);
    for (int i = 0; i < 2; ++i) bend[i] = (way[i + 1] - way[i]) / (t[i + 2] - t[i]);
    /* d[1] + first s + second s^2 + twist s^3 at the distance s from t[1] */
    double twist = (bend[1] - bend[0]) / (t[3] - t[0]);
    double second = bend[0] - twist * (before + after);
    double first = way[0] - bend[0] * before + twist * before * after;
    double root = sqrt(second * second - 3.0 * twist * first); /* NaN: it goes one way */
    double s[2] = {(root - second) / (3.0 * twist), (-root - second) / (3.0 * twist)}, value[2];
    for (int i = 0; i < 2; ++i) value[i] = d[1] + s[i] * (first + s[i] * (second + s[i] * twist));
    *part = t[1] + s[0];
    for (*k = 0; *k < 2 && *part > t[*k + 1]; ++*k) {
    }
    bool back = d[3] > 0.0 || (value[1] > 0.0 && s[1] > s[0] && t[1] + s[1] < t[3]);
    return *part > from && *part < t[3] && value[0] < 0.0 && back;
}

/* As `dips`, where the cubic through all points does. */
static bool cubic_dips(Instance* instance, int i, const Seen* seen, double begin, double from,
                       double* place) {
    const double *t = seen->at, *d = seen->value[i];
    double part;
    int k;
    if (seen->count < LOOKS || !lowest_of_cubic(t, d, from, &part, &k)) return false;
    int crossed = crossed_at(instance, begin, part, place);
    if (crossed < 0) return false;
    double value = distance(instance, i, instance->margin, instance->band);
    if (value < 0.0) return true;
    Arc arc = {{t[k], part, t[k + 1]}, {d[k], value, d[k + 1]}};
    return part > t[k] && dips(instance, i, arc, seen, begin, t[k], place);
}

/* Puts the first dip before `place` there; returns whether there is one. */
static bool first_dip(Instance* instance, const Seen* seen, double begin, double from,
                      double* place) {
    bool found = false;
    double low;
    for (int i = 0; i < N_R; ++i) {
        if (model_foreseen[i]) continue;
        if (cubic_dips(instance, i, seen, begin, from, &low) && low < *place)
            found = true, *place = low;
        for (int k = 0; k + 2 < seen->count && !seen->beyond[i]; ++k) {
            const double *at = seen->at + k, *value = seen->value[i] + k;
            Arc arc = {{at[0], at[1], at[2]}, {value[0], value[1], value[2]}};
            if (!dips(instance, i, arc, seen, begin, k == 0 ? from : at[0], &low)) continue;
            found |= low < *place;
            *place = fmin(*place, low);
        }
    }
    return found;
}

/* Says once that a relation moves faster than it is looked at: it is no parabola, and near enough
 * to its boundary to have been beyond. */
static void tell_of_waves(Instance* instance, int i, const Seen* seen, double length) {
    const double *t = seen->at, *d = seen->value[i];
    double low = fmin(fmin(d[0], d[1]), fmin(d[2], d[3]));
    double swing = fmax(fmax(d[0], d[1]), fmax(d[2], d[3])) - low;
    double first = (d[1] - d[0]) / (t[1] - t[0]);
    double second = (d[2] - d[1]) / (t[2] - t[1]);
    double bend = (second - first) / (t[2] - t[0]);
    double expected = d[0] + (t[3] - t[0]) * (first + bend * (t[3] - t[1]));
    if (!(swing > low && swing > 1e8 * instance->band[i] && fabs(d[3] - expected) > swing)) return;
    instance->told_of_waves = true;
    warn(instance,
         "t = %.9g s: '%s' goes up and down within one step of %.3g s of the solver: what changes "
         "and changes back between two looks at it may be missed; set a max_step below its "
         "shortest pulse",
         instance->state.values[AT_TIME], model_relation_labels[i], length);
}

/* Looks at points between two parts of the step, up to one where a relation has changed that had
 * not before; -1: no solution in the middle or at the end of the step. Others without are left
 * out. */
static int look(Instance* instance, Seen* seen, double begin, double from, double* part,
                double* place) {
    const double length = *part - from;
    int crossed = 0;
    seen->count = 0;
    for (int k = 0; k < LOOKS && !crossed; ++k) {
        double at = k == LOOKS - 1 ? from + length : from + looks[k] * length, there;
        crossed = crossed_at(instance, begin, at, &there);
        if (crossed < 0 && (k == 1 || k == LOOKS - 1)) return -1;
        if (crossed < 0) {
            crossed = 0;
            continue;
        }
        for (int i = 0; i < N_R; ++i)
            seen->value[i][seen->count] = distance(instance, i, instance->margin, instance->band);
        seen->at[seen->count++] = at;
        crossed = crossed && any_new(instance, seen);
        if (crossed) *part = at, *place = there;
    }
    return crossed;
}

/* Puts the beginning of a part of the step before three looks. */
static bool look_at_begin(Instance* instance, Seen* seen, double begin, double from) {
    double place;
    if (crossed_at(instance, begin, from, &place) < 0) return false;
    for (int k = seen->count++; k > 0; --k) {
        seen->at[k] = seen->at[k - 1];
        for (int i = 0; i < N_R; ++i) seen->value[i][k] = seen->value[i][k - 1];
    }
    seen->at[0] = from;
    for (int i = 0; i < N_R; ++i)
        seen->value[i][0] = distance(instance, i, instance->margin, instance->band);
    return true;
}

/* What has changed at the present point. */
static void mark_beyond(const Instance* instance, Seen* seen) {
    for (int i = 0; i < N_R; ++i)
        seen->beyond[i] = distance(instance, i, instance->margin, instance->band) < 0.0;
}

/* The first place between two parts of the step where a relation has changed; `crossed` says that
 * one has at the end, which is `place` then. Where one has changed another may have dipped before.
 */
static int crossed_between(Instance* instance, double begin, double from, double part, int crossed,
                           double* place) {
    double length = instance->state.values[AT_TIME] - begin;
    Seen seen = {.count = 0};
    if (!crossed) crossed = look(instance, &seen, begin, from, &part, place);
    if (crossed < 0) return -1;
    if (!crossed) *place = part < 1.0 ? begin + part * length : begin + length;
    bool again = crossed;
    for (int count = 0; again && count < LOOKS; ++count) {
        mark_beyond(instance, &seen);
        again = seen.count < 3 && look(instance, &seen, begin, from, &part, place) > 0;
    }
    if (seen.count == LOOKS - 1 && !look_at_begin(instance, &seen, begin, from)) return -1;
    if (first_dip(instance, &seen, begin, from, place)) return 1;
    for (int i = 0; i < N_R && seen.count == LOOKS; ++i)
        if (!model_foreseen[i] && !instance->told_of_waves)
            tell_of_waves(instance, i, &seen, length);
    return crossed;
}

/* Arguments of the sines in relations at a part of the step; false without a solution there. */
static bool phases_at(Instance* instance, double begin, double part, double* phases) {
    const State* s = &instance->state;
    double place;
    if (crossed_at(instance, begin, part, &place) < 0) return false;
    const double* x = part < 1.0 ? instance->stage : s->values + AT_X;
    const double* arguments[] = {&place,           inputs_at(instance, place), x,
                                 s->values + AT_P, s->values + AT_C,           s->q,
                                 instance->z_now};
    double* results[] = {phases};
    model_phases(arguments, results, NULL, NULL, 0);
    return true;
}

/* Into how many pieces a piece of the step is cut, so that no sine in a relation moves by more than
 * a quarter of its period in one of them. */
static int pieces_between(const double* before, const double* after) {
    const double quarter = 1.5707963267948966;
    double most = 0.0;
    for (int i = 0; i < N_PHASES; ++i) most = fmax(most, fabs(after[i] - before[i]));
    return most < MOST_PIECES * quarter ? 1 + (int)(most / quarter) : MOST_PIECES;
}

/* As crossed_between, in pieces in which no sine of a relation goes through a quarter of a period.
 */
static int crossed_by_pieces(Instance* instance, double begin, double part, int crossed,
                             double* place) {
    double before[ROOM(N_PHASES)], after[ROOM(N_PHASES)], from = 0.0;
    if (!phases_at(instance, begin, 0.0, before)) return -1;
    for (int k = 0; k < LOOKS; ++k) {
        double to = k < LOOKS - 1 ? looks[k] * part : part, begun = from;
        if (!phases_at(instance, begin, to, after)) return -1;
        int count = pieces_between(before, after);
        for (int piece = 1; piece <= count; ++piece) {
            double end = piece < count ? begun + (to - begun) * piece / count : to;
            bool known = crossed && end == part;
            if (known && crossed_at(instance, begin, part, place) < 0) return -1;
            int found = crossed_between(instance, begin, from, end, known, place);
            if (found != 0) return found;
            from = end;
        }
        memcpy(before, after, sizeof before);
    }
    return crossed;
}

/* As any_crossed, at points inside the step from `begin` to now as well; `place` is the first where
 * a relation has changed. After an event they begin close behind it: a ball that bounces low is
 * back before the step ends. */
static int crossed_inside(Instance* instance, double begin, bool after_event, double* place) {
    double now = instance->state.values[AT_TIME], part = 1.0, length = now - begin;
    if (N_INDICATORS == 0 || length <= near(now)) return 0;
    int crossed = 0;
    for (double small = 0x1p-20; after_event && small < 0.1 && crossed <= 0; small *= 16.0)
        if ((crossed = crossed_at(instance, begin, small, place)) > 0) part = small;
    if (crossed < 0) crossed = 0;
    if (N_PHASES > 0) return crossed_by_pieces(instance, begin, part, crossed, place);
    return crossed_between(instance, begin, 0.0, part, crossed, place);
}

/* The first moment after which a relation has changed, by secants that are kept in the bracket; the
 * states follow the solver's interpolation. */
static bool find_crossing(Instance* instance, double low, double high) {
    State* s = &instance->state;
    double* x = instance->stage;
    double width = 8.0 * DBL_EPSILON * fmax(fabs(high), high - low);
    dense(instance, high, instance->next);
    dense(instance, low, x);
    if (any_crossed(instance, low, x) < 0) return false;
    memcpy(instance->margin_before, instance->margin, sizeof instance->margin);
    memcpy(instance->band_before, instance->band, sizeof instance->band);
    if (any_crossed(instance, high, instance->next) < 0) return false;
    for (int count = 0; count < 200 && high - low > width; ++count) {
        double middle = high;
        for (int i = 0; i < N_R && count % 3 != 2; ++i) {
            if (model_foreseen[i]) continue;
            double after = distance(instance, i, instance->margin, instance->band);
            double before = distance(instance, i, instance->margin_before, instance->band_before);
            if (after < 0.0 && before > 0.0)
                middle = fmin(middle, low + (high - low) * before / (before - after));
        }
        if (!(middle < high)) middle = 0.5 * (low + high);
        middle = fmin(fmax(middle, low + 0.5 * width), high - 0.5 * width);
        double keep_margin[ROOM(N_R)], keep_band[ROOM(N_R)];
        memcpy(keep_margin, instance->margin, sizeof keep_margin);
        memcpy(keep_band, instance->band, sizeof keep_band);
        dense(instance, middle, x);
        int crossed = any_crossed(instance, middle, x);
        if (crossed < 0) return false;
        if (crossed) {
            high = middle;
            memcpy(instance->next, x, sizeof(double) * N_X);
        } else {
            low = middle;
            memcpy(instance->margin_before, instance->margin, sizeof keep_margin);
            memcpy(instance->band_before, instance->band, sizeof keep_band);
            memcpy(instance->margin, keep_margin, sizeof keep_margin);
            memcpy(instance->band, keep_band, sizeof keep_band);
        }
    }
    s->values[AT_TIME] = high;
    memcpy(s->values + AT_X, instance->next, sizeof(double) * N_X);
    return true;
}

static const char* changed_relation(const Instance* instance) {
    for (int i = 0; i < N_R; ++i)
        if (!model_foreseen[i] && distance(instance, i, instance->margin, instance->band) < 0.0)
            return model_relation_labels[i];
    return "";
}

/* The relation that has changed at the present point, if any. */
static const char* pending_relation(Instance* instance) {
    const State* s = &instance->state;
    int crossed = any_crossed(instance, s->values[AT_TIME], s->values + AT_X);
    return crossed > 0 ? changed_relation(instance) : NULL;
}

#endif
