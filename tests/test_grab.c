/* Grab and move, with simulated hands in a whole server in lockstep: what is held follows, what is
 * let go flies on, fixed things stay, two hands share a body, and nobody gets energy for nothing.
 */
#include <string.h>

#include "tests/test.h"

#include "devices/sim.h"
#include "server/actor.h"
#include "server/proxy.h"
#include "server/server.h"
#include "server/world.h"

/* A bar of 100 g along y that floats. The hands come from above. */
static const char BAR[] =
    "body \"bar\" { shape = box half_size_m = {0.006, 0.02, 0.006} free = true "
    "mass_kg = 0.1 position_m = {0, 0, -0.02} "
    "material { stiffness_n_per_m = 1000 damping_n_s_per_m = 1 } }\n";

static server *open_with(const char *scene_text, const char *const *scripts, int hands)
{
    static server_options o; /* large */
    hr_error error = {""};
    memset(&o, 0, sizeof o);
    config_default(&o.settings);
    o.settings.control.enabled = false;
    o.is_lockstep = true;
    if (scene_parse(scene_text, "inline.scene", &o.scene, &error) != HR_OK)
        fail_msg("%s", error.text);
    o.settings.device_count = hands;
    for (int i = 0; i < hands; i++) {
        config_device *d = &o.settings.devices[i];
        snprintf(d->name, sizeof d->name, "hand-%d", i);
        snprintf(d->driver, sizeof d->driver, "sim");
        snprintf(d->address, sizeof d->address, "%d", i);
        d->setting_count = 1;
        snprintf(d->settings[0].key, sizeof d->settings[0].key, "script");
        snprintf(d->settings[0].value, sizeof d->settings[0].value, "%s", scripts[i]);
    }
    server *s = NULL;
    if (server_open(&o, &s, &error) != HR_OK || server_start(s, &error) != HR_OK)
        fail_msg("%s", error.text);
    return s;
}

static void close_server(server *s)
{
    hr_error error;
    assert_int_equal(server_finish(s, &error), HR_OK);
    server_destroy(s);
}

typedef struct watched {
    int holding; /* ticks */
    double step, peak, stretch, gained;
} watched;

static bool holds(const server *s, int which)
{
    return s->servo.hands[which].record.tracker_flags & PROXY_HOLDS;
}

/* Runs and watches: forces of all hands, and energy that they got beyond what the scene lost. */
static void run(server *s, int ticks, watched *w)
{
    double stored = world_energy(s->world);
    vec3 last[HANDS_MAX] = {{0}};
    double put_before = 0;
    for (int h = 0; h < s->device_count; h++) {
        last[h] = s->servo.hands[h].record.force;
        put_before += sim_energy(s->devices[h].dev);
    }
    for (int i = 0; i < ticks; i++) {
        server_step(s, 1);
        double put = 0;
        for (int h = 0; h < s->device_count; h++) {
            const tick_record *r = &s->servo.hands[h].record;
            w->step = fmax(w->step, vec3_distance(r->force, last[h]));
            w->peak = fmax(w->peak, vec3_length(r->force));
            if (holds(s, h))
                w->stretch = fmax(w->stretch, vec3_distance(r->proxy, r->tool));
            last[h] = r->force;
            w->holding += holds(s, h);
            put += sim_energy(s->devices[h].dev);
        }
        w->gained = fmax(w->gained, put - put_before + world_energy(s->world) - stored);
    }
}

static void show(const char *what, const watched *w)
{
    print_message(
        "%s: holding %d ticks, step %.3f N, peak %.2f N, stretch %.2f mm, gained %.2g J\n", what,
        w->holding, w->step, w->peak, 1e3 * w->stretch, w->gained);
}

static void a_grabbed_body_follows_the_hand(void **state)
{
    (void)state;
    const char *script =
        "move 0 0 0.02 over 0.5; hold 0.5; button 0 press; move 0 0 -0.0165 over 0.5; hold 0.1; "
        "move 0.02 0 0.02 over 0.6; hold 0.5; "
        "button 0 release; hold 0.5";
    server *s = open_with(BAR, &script, 1);
    watched w = {0};
    actor_body before, held;
    run(s, 1590, &w);
    world_body(s->world, 0, &before);
    run(s, 1100, &w);
    world_body(s->world, 0, &held);
    show("one hand", &w);
    assert_true(w.holding > 1000);
    /* the bar hangs by the middle of its top face, 6 mm from its own middle, and may turn */
    vec3 way = vec3_sub(held.world_from_body.origin, before.world_from_body.origin);
    assert_true(vec3_length(way) > 0.03);
    assert_near(vec3_distance(held.world_from_body.origin, s->servo.hands[0].record.tool), 0.006,
                0.001);
    assert_true(w.stretch < 0.001);
    assert_true(w.gained < 1e-4);
    assert_true(w.step < 1.0);
    run(s, 300, &w);
    assert_false(holds(s, 0));
    close_server(s);
}

static void a_body_that_is_let_go_keeps_its_velocity(void **state)
{
    (void)state;
    const char *script =
        "move 0 0 0.02 over 0.5; hold 0.5; button 0 press; move 0 0 -0.0165 over 0.5; hold 0.1; "
        "slide 0 0 -0.04 over 0.2; button 0 release; "
        "slide 0 0 0 over 0.4; hold 1";
    server *s = open_with(BAR, &script, 1);
    watched w = {0};
    actor_body before, after;
    run(s, 1795, &w);
    world_body(s->world, 0, &before);
    assert_true(holds(s, 0));
    run(s, 40, &w);
    world_body(s->world, 0, &after);
    assert_false(holds(s, 0));
    show("let go", &w);
    print_message("velocity %.4f before, %.4f m/s after\n", before.velocity.linear.z,
                  after.velocity.linear.z);
    assert_true(before.velocity.linear.z < -0.05);
    assert_near(after.velocity.linear.z, before.velocity.linear.z,
                0.1 * fabs(before.velocity.linear.z));
    close_server(s);
}

static void fixed_and_scripted_bodies_are_not_grabbed(void **state)
{
    (void)state;
    const char *script =
        "move 0 0 0.02 over 0.5; hold 0.5; button 0 press; move 0 0 -0.0165 over 0.5; hold 0.1; "
        "button 0 press; hold 0.5";
    static const char *const scenes[] = {
        "body \"b\" { shape = box half_size_m = {0.006, 0.02, 0.006} position_m = {0, 0, -0.02} "
        "}\n",
        "body \"b\" { shape = box half_size_m = {0.006, 0.02, 0.006} position_m = {0, 0, -0.02} "
        "oscillate { amplitude_m = {0, 0.001, 0} frequency_hz = 1 } }\n"};
    for (int i = 0; i < HR_COUNT(scenes); i++) {
        server *s = open_with(scenes[i], &script, 1);
        watched w = {0};
        run(s, 2100, &w);
        assert_int_equal(w.holding, 0);
        assert_true(w.peak > 0.5); /* it is touched all the same */
        close_server(s);
    }
}

static void a_limb_can_be_grabbed(void **state)
{
    (void)state;
    const char *chain = "gravity_m_per_s2 = {0, 0, -9.81}\n"
                        "body \"chain\" { shape = articulated file = \"pendulum-spherical\" free = "
                        "true scale = 0.1 mass_kg = 0.6 position_m = {0, 0, 0.1} material { "
                        "stiffness_n_per_m = 800 damping_n_s_per_m = 1 } }\n";
    const char *script = "move 0.03 0 0 over 0.5; hold 0.5; move 0.0 0 0 over 0.4; "
                         "button 0 press; hold 0.1; move 0.02 0.01 0.01 over 0.6; hold 0.5; "
                         "button 0 release; hold 0.5";
    server *s = open_with(chain, &script, 1);
    watched w = {0};
    run(s, 3000, &w);
    show("limb", &w);
    assert_true(w.holding > 800);
    assert_true(w.gained < 1e-4);
    close_server(s);
}

/* Two hands at the two ends of the bar lift it, pull it apart and turn it. */
static void two_hands_hold_one_body(void **state)
{
    (void)state;
    const char *const scripts[] = {"move 0 -0.014 0.02 over 0.5; hold 0.5; button 0 press; move 0 "
                                   "-0.014 -0.0165 over 0.5; hold 0.1; "
                                   "move 0 -0.014 0.01 over 0.6; move 0 -0.018 0.01 over 0.3; "
                                   "move 0.008 -0.014 0.015 over 0.5; button 0 release; hold 0.5",
                                   "move 0 0.014 0.02 over 0.5; hold 0.5; button 0 press; move 0 "
                                   "0.014 -0.0165 over 0.5; hold 0.1; "
                                   "move 0 0.014 0.01 over 0.6; move 0 0.018 0.01 over 0.3; "
                                   "move -0.008 0.014 0.005 over 0.5; button 0 release; hold 0.5"};
    server *s = open_with(BAR, scripts, 2);
    watched w = {0};
    actor_body bar;
    run(s, 2900, &w);
    assert_true(holds(s, 0) && holds(s, 1));
    world_body(s->world, 0, &bar);
    show("two hands", &w);
    vec3 middle = vec3_lerp(s->servo.hands[0].record.tool, s->servo.hands[1].record.tool, 0.5);
    vec3 apart = vec3_sub(bar.world_from_body.origin, middle);
    print_message("bar is %.2f mm from the middle of the hands\n", 1e3 * vec3_length(apart));
    /* held 6 mm above its centre at both ends */
    assert_near(vec3_length(apart), 0.006, 0.004);
    run(s, 600, &w);
    assert_false(holds(s, 0) || holds(s, 1));
    assert_true(w.gained < 1e-4);
    assert_true(w.peak <= 8.0);
    close_server(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grabbed_body_follows_the_hand),
        cmocka_unit_test(a_body_that_is_let_go_keeps_its_velocity),
        cmocka_unit_test(fixed_and_scripted_bodies_are_not_grabbed),
        cmocka_unit_test(a_limb_can_be_grabbed),
        cmocka_unit_test(two_hands_hold_one_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
