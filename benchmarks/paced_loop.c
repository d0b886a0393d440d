/* A bare loop in real time, the floor of benchmarks/realtime.py: it does nothing but wake.

   usage: paced_loop PERIOD_NS STEPS PRIORITY
   Writes how late it woke in each step, nanoseconds as 64-bit integers of this machine. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int main(int count, char** words) {
    if (count != 4) return 2;
    const int64_t period = atoll(words[1]);
    const size_t steps = (size_t)atoll(words[2]);
    const struct sched_param priority = {.sched_priority = atoi(words[3])};
    int64_t* late = calloc(steps, sizeof *late);
    if (!late) return 1;
    if (sched_setscheduler(0, SCHED_FIFO, &priority) != 0) fputs("no SCHED_FIFO\n", stderr);
    if (mlockall(MCL_CURRENT) != 0) fputs("no mlockall\n", stderr);
    const int64_t start = now_ns();
    for (size_t i = 0; i < steps; ++i) {
        const int64_t due = start + (int64_t)i * period;
        const struct timespec moment = {due / 1000000000, due % 1000000000};
        if (now_ns() < due) clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, NULL);
        late[i] = now_ns() - due;
    }
    return fwrite(late, sizeof *late, steps, stdout) == steps ? 0 : 1;
}
