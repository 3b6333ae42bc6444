/* The whole tick of one hand: sample, proxy on the sphere, coupling, safety, record. */
#include <math.h>
#include <stdio.h>

#include "tests/bench/bench.h"
#include "tests/support/rig.h"

enum { TICKS = 8000 };

static vec3 place(double a)
{
    double latitude = 0.7 * sin(0.37 * a);
    vec3 u = {cos(latitude) * cos(a), cos(latitude) * sin(a), sin(latitude)};
    return vec3_scale(0.022, u);
}

/* Slides at 0.5 m/s, 2 mm deep. The world's step is outside the time that is taken: it has its own
 * thread; the frame's arrival is inside. */
static void run(const char *name, double tool_radius, int is_paced, int ticks)
{
    static double ns[4 * TICKS];
    rig r;
    rig_init(&r);
    rig_body(&r, SCENE_SPHERE)->radius_m = 0.024;
    r.settings.coupling.tool_radius_m = tool_radius;
    rig_start(&r);
    rig_open_gate(&r, (vec3){0.033, 0, 0});
    for (int i = 0; i <= 500; i++)
        rig_tick(&r, (vec3){0.033 - 0.011 * i / 500, 0, 0});
    for (int i = 0; i < ticks; i++) {
        double a = 0.5e-3 / 0.024 * i;
        r.is_world_stopped = true;
        rig_prepare(&r, place(a));
        bool has_frame = i % 2 == 0;
        if (has_frame) {
            world_step(r.world, &r.tool, 1, r.record.time_ns - 2000000, 0.002);
            world_frame(r.world, 0, &r.frame);
        }
        if (is_paced)
            bench_wait_tick();
        int64_t start = bench_now_ns();
        if (has_frame)
            hand_frame(r.hand, &r.frame);
        rig_run(&r);
        ns[i] = (double)(bench_now_ns() - start);
        bench_keep(r.record.force.x);
    }
    if (!(vec3_length(r.record.force) > 2.9))
        printf("bench_servo: the sphere is not felt: %g N\n", vec3_length(r.record.force));
    bench_report(name, ns, ticks);
    rig_stop(&r);
}

int main(void)
{
    run("servo_tick", 0.002, 1, TICKS);
    run("servo_tick_burst", 0.002, 0, 4 * TICKS);
    return 0;
}
