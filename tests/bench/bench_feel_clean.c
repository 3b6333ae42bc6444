/* What a tick of the hand must never do, counted while it slides over a parametric body, a box and
 * a ball with friction: allocate, lock, call the system. The first two are counted by functions
 * that stand in for the C library's, the third by a filter in the kernel. */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "tests/support/rig.h"

enum { WARM_UP = 600, TICKS = 2000 };

static volatile sig_atomic_t is_inside;
static volatile sig_atomic_t heap_calls, lock_calls, system_calls;

void *__libc_malloc(size_t size); /* NOLINT(bugprone-reserved-identifier) */
void __libc_free(void *p);        /* NOLINT(bugprone-reserved-identifier) */

void *malloc(size_t size)
{
    heap_calls += is_inside;
    return __libc_malloc(size);
}

void free(void *p)
{
    heap_calls += is_inside;
    __libc_free(p);
}

int pthread_mutex_lock(pthread_mutex_t *m)
{
    static int (*next)(pthread_mutex_t *);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "pthread_mutex_lock");
    lock_calls += is_inside;
    return next(m);
}

static void count_call(int signal)
{
    (void)signal;
    system_calls++;
}

/* Every system call but the few that end the run becomes a signal. */
static int watch_system_calls(void)
{
    const int allowed[] = {SCMP_SYS(rt_sigreturn), SCMP_SYS(exit_group), SCMP_SYS(write)};
    signal(SIGSYS, count_call);
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_TRAP);
    for (unsigned i = 0; filter && i < sizeof allowed / sizeof allowed[0]; i++)
        if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0) != 0)
            return 0;
    return filter && seccomp_load(filter) == 0;
}

static vec3 path(int i)
{
    double a = 2e-3 * i;
    vec3 u = {cos(a) * cos(0.3 * sin(a)), sin(a) * cos(0.3 * sin(a)), sin(0.3 * sin(a))};
    return vec3_scale(i < WARM_UP / 2 ? 0.033 - 0.011 * i / (WARM_UP / 2.0) : 0.022, u);
}

static void slide(rig *r, int from, int to)
{
    for (int i = from; i < to; i++) {
        rig_prepare(r, path(i));
        is_inside = 1;
        rig_run(r);
        is_inside = 0;
    }
}

/* In a process of its own, because the filter stays; writes the three counts to the pipe. */
static void measure(int out)
{
    rig r;
    rig_init(&r);
    scene_body *blob = rig_body(&r, SCENE_BODY);
    snprintf(blob->file, sizeof blob->file, "config/bodies/blob.json");
    scene_body *box = rig_body(&r, SCENE_BOX);
    box->half_size_m = (vec3){0.005, 0.005, 0.03};
    box->world_from_body.origin = (vec3){0, 0.024, 0};
    scene_body *ball = rig_body(&r, SCENE_SPHERE);
    ball->radius_m = 0.006;
    ball->world_from_body.origin = (vec3){0, -0.022, 0};
    ball->material.static_friction = ball->material.kinetic_friction = 0.5;
    r.settings.coupling.tool_radius_m = 0.002;
    r.settings.world.stale_fade_s = r.settings.world.stale_zero_s = 100;
    r.settings.world.near_distance_m = 0.1;
    rig_start(&r);
    rig_open_gate(&r, path(0));
    slide(&r, 0, WARM_UP);
    r.is_world_stopped = true; /* another thread's business */
    heap_calls = lock_calls = 0;
    if (!watch_system_calls())
        _exit(1);
    slide(&r, WARM_UP, WARM_UP + TICKS);
    int counts[3] = {heap_calls, lock_calls, system_calls};
    _exit(write(out, counts, sizeof counts) == sizeof counts ? 0 : 1);
}

int main(void)
{
    int ends[2], counts[3], status = 0;
    if (pipe(ends) != 0)
        return 1;
    pid_t child = fork();
    if (child == 0)
        measure(ends[1]);
    if (waitpid(child, &status, 0) != child || status != 0 ||
        read(ends[0], counts, sizeof counts) != sizeof counts) {
        fprintf(stderr, "feel_clean: the watched run did not end (status %d)\n", status);
        return 1;
    }
    bench_value("feel_11", counts[0] + counts[1] + counts[2], "count");
    bench_extra("heap_calls", counts[0]);
    bench_extra("locks", counts[1]);
    bench_extra("system_calls", counts[2]);
    bench_extra("ticks", TICKS);
    return 0;
}
