/* What a servo tick's proxy costs among the limbs of the articulated bodies, which are felt by
 * their meshes: random play with the shipped scenes. */
#include <stdio.h>

#include "tests/bench/bench.h"
#include "tests/support/limb_play.h"

enum { TICKS = 20000 };

static void measure(const char *scene, const char *key, vec3 reach)
{
    static double ns[TICKS];
    char update[64];
    limb_play how = {.scene = scene,
                     .seed = 7,
                     .ticks = TICKS,
                     .world_every = 2,
                     .tool_radius = 0.001,
                     .reach = reach,
                     .speed = 0.3,
                     .times = ns,
                     .now_ns = bench_now_ns};
    limb_play_result r = limb_play_run(&how);
    snprintf(update, sizeof update, "%s_update", key);
    bench_report(update, ns, TICKS);
    bench_value(key, ns[TICKS / 2] * 1e-3, "us"); /* sorted by the report */
    bench_extra("p99_us", ns[TICKS * 99 / 100] * 1e-3);
    bench_extra("touching_ticks", r.touching);
    bench_extra("most_near", r.most_near);
    bench_extra("through", r.through);
}

int main(void)
{
    vec3 around = {0.04, 0.04, 0.04}, along = {0.02, 0.004, 0.04};
    measure("wooden-man", "feel_03_limbs", around);
    measure("pendulum", "feel_03_pendulum", along);
    measure("hand", "feel_03_hand", around);
    return 0;
}
