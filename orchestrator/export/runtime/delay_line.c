/* A line on which signals are late. An input is a sample at the time at which a step begins; the
 * output at its end is what the samples were `delay - advance` before that, so that age must be at
 * least as long as the step. Times are counted in nanoseconds: a read that should hit a sample
 * does.
 *
 * The room holds, as numbers: how many samples have come, the time at which the next one is
 * expected, and a ring of samples, each a time and one value for each input. */
#include "instance.h"

enum { P_DELAY, P_ADVANCE, P_GAIN, P_OFFSET, P_READING, P_BEGINS_WITH_INPUT, P_INITIAL };
enum { READ_HOLD, READ_LINEAR, READ_CUBIC };
enum { ROOM_COUNT, ROOM_NEXT, ROOM_RING, N_SAMPLE = 1 + N_U };
enum { N_SAMPLES = (N_ROOM - ROOM_RING) / N_SAMPLE };

/* As far from 0 as times may be, 73 years, and a whole number too: the sum of four fits 64 bits. */
static const double reach_ns = 0x1p61 - 0x1p9;

static int64_t nanoseconds(double seconds) { return (int64_t)llround(seconds * 1e9); }

static bool is_in_reach(double ns) { return fabs(ns) <= reach_ns; }

/* What is wrong with what came as bytes, see flaw_of. */
static const char* flaw_of_room(const State* s) {
    const double *p = s->values + AT_P, *samples = s->room + ROOM_RING;
    const double count = s->room[ROOM_COUNT];
    if (!(count >= 0.0 && count < 0x1p53 && count == floor(count)))
        return "its number of samples is none";
    if (!is_in_reach(s->room[ROOM_NEXT]) || !is_in_reach(1e9 * p[P_DELAY]) ||
        !is_in_reach(1e9 * p[P_ADVANCE]))
        return "a time of the line is none";
    for (int i = 0; i < N_SAMPLES; ++i)
        if (!is_in_reach(samples[N_SAMPLE * i])) return "the time of a sample is none";
    return NULL;
}

static double* sample_of(State* s, int64_t number) {
    return s->room + ROOM_RING + N_SAMPLE * (number % N_SAMPLES);
}

static double between(const double* low, const double* high, int64_t at) {
    return (double)(at - (int64_t)low[0]) / (high[0] - low[0]);
}

static double slope(const double* a, const double* b, int i) {
    return (b[i] - a[i]) / (b[0] - a[0]);
}

/* Second divided difference of three samples. */
static double bend(const double* a, const double* b, const double* c, int i) {
    return (slope(b, c, i) - slope(a, b, i)) / (c[0] - a[0]);
}

/* What the line gives before anything has come through. */
static void begin_memory(Instance* instance) {
    State* s = &instance->state;
    const double* p = s->values + AT_P;
    memset(s->room, 0, sizeof s->room);
    for (int i = 0; i < N_Y; ++i)
        s->values[AT_Y + i] = moved(p[P_GAIN] * p[P_INITIAL + i], p[P_OFFSET]);
}

/* Appends the inputs as the sample of a time; the first one may be known from elsewhere. */
static int64_t append(State* s, int64_t now) {
    const double* p = s->values + AT_P;
    int64_t newest = (int64_t)s->room[ROOM_COUNT] - 1;
    bool again = newest >= 0 && sample_of(s, newest)[0] >= (double)now; /* a step of length zero */
    if (!again) ++newest;
    double* sample = sample_of(s, newest);
    bool known = newest == 0 && p[P_BEGINS_WITH_INPUT] == 0.0;
    sample[0] = (double)now;
    memcpy(sample + 1, known ? p + P_INITIAL : s->values + AT_U, sizeof(double) * N_U);
    s->room[ROOM_COUNT] = (double)(newest + 1);
    return newest;
}

/* The value of one signal between the samples `number` and the next. */
static double value_between(State* s, int64_t number, int64_t newest, int64_t at, int i) {
    const double *low = sample_of(s, number), *high = sample_of(s, number + 1);
    const double share = between(low, high, at), width = high[0] - low[0];
    const double line = moved(low[i], share * (high[i] - low[i]));
    if (s->values[AT_P + P_READING] != READ_CUBIC) return line;
    bool before = number > 0 && number > newest - N_SAMPLES + 1, after = number + 1 < newest;
    if (!before && !after) return line;
    double left = before ? bend(sample_of(s, number - 1), low, high, i) : 0.0;
    double right = after ? bend(low, high, sample_of(s, number + 2), i) : left;
    if (!before) left = right;
    const double bent = (1.0 - share) * left + share * right;
    return moved(line, -(share * (1.0 - share) * width * width * bent));
}

static Status take_step(Instance* instance, double time, double step, const char* function) {
    State* s = &instance->state;
    double* y = s->values + AT_Y;
    const double* p = s->values + AT_P;
    if (!is_in_reach(1e9 * time) || !is_in_reach(1e9 * step) || !is_in_reach(1e9 * (time + step)))
        return fail(instance,
                    "%s: the step from t = %.9g s of %.9g s leads farther from 0 than %.9g s",
                    function, time, step, 1e-9 * reach_ns);
    /* Importers add up steps: the sum of ours is exact, if it is what they mean. */
    int64_t now = nanoseconds(time), expected = (int64_t)s->room[ROOM_NEXT];
    if (s->room[ROOM_COUNT] > 0.0 && fabs((double)(now - expected)) <= 1e-3 * step * 1e9)
        now = expected;
    int64_t newest = append(s, now), end = now + nanoseconds(step);
    int64_t at = end - (nanoseconds(p[P_DELAY]) - nanoseconds(p[P_ADVANCE]));
    s->room[ROOM_NEXT] = (double)end;
    if (at > now)
        return fail(instance,
                    "%s: the step of %.9g s is longer than what the line holds back, delay %.9g s"
                    " less advance %.9g s; take a shorter step, or export for this one",
                    function, step, p[P_DELAY], p[P_ADVANCE]);
    int64_t number = newest, oldest = newest - N_SAMPLES + 1 > 0 ? newest - N_SAMPLES + 1 : 0;
    while (number > oldest && sample_of(s, number)[0] > (double)at) --number;
    bool is_before = sample_of(s, number)[0] > (double)at;
    if (is_before && oldest > 0)
        return fail(instance,
                    "%s: the line keeps %d samples, which is less than its delay of %.9g s in steps"
                    " of %.9g s; export it for this step",
                    function, N_SAMPLES, p[P_DELAY], step);
    bool on_sample = is_before || number == newest || p[P_READING] == READ_HOLD;
    for (int i = 0; i < N_Y; ++i) {
        double value =
            on_sample ? sample_of(s, number)[1 + i] : value_between(s, number, newest, at, 1 + i);
        y[i] = moved(p[P_GAIN] * value, p[P_OFFSET]);
    }
    return STATUS_OK;
}
