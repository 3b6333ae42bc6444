/* Recording: what one push costs the servo, with the writer thread at work behind it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/trace.h"
#include "tests/bench/bench.h"

enum { RUN = 4000 };

static trace *open_trace(const char *path, bool is_lockstep)
{
    trace_meta meta = {.hand_count = 1,
                       .hand_names = {"right"},
                       .rate_hz = 1000,
                       .world_rate_hz = 500,
                       .is_lockstep = is_lockstep};
    trace *t;
    hr_error error;
    if (trace_open(path, &meta, &t, &error) != HR_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    return t;
}

static void close_trace(trace *t)
{
    trace_state state;
    hr_error error;
    trace_status(t, &state);
    if (trace_close(t, &error) != HR_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    bench_extra("dropped", (double)state.dropped);
}

/* Once per millisecond, caches cold, as in the servo: a tick every time, a frame of four bodies
 * every second time. */
int main(void)
{
    const char *build = getenv("BUILD");
    char path[512];
    snprintf(path, sizeof path, "%s/bench.mcap", build ? build : "build");
    static double tick_ns[RUN], frame_ns[RUN];
    static contact_frame frame = {.body_count = 4};
    tick_record record = {.elapsed_ns = 1000000};
    trace *t = open_trace(path, false);
    int frames = 0;
    for (int i = 0; i < RUN; i++) {
        record.time_ns = bench_wait_tick();
        record.tick = (uint64_t)i;
        if (i % 2 == 0) {
            frame.sequence++;
            int64_t start = bench_now_ns();
            trace_push_frame(t, (uint64_t)i, &frame);
            frame_ns[frames++] = (double)(bench_now_ns() - start);
        }
        int64_t start = bench_now_ns();
        trace_push_tick(t, &record);
        tick_ns[i] = (double)(bench_now_ns() - start);
    }
    bench_report("trace_push", tick_ns, RUN);
    close_trace(t);
    bench_report("trace_push_frame", frame_ns, frames);
    remove(path);
    return 0;
}
