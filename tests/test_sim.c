#include "tests/test.h"

#include <string.h>

#include "devices/sim.h"

static const int64_t tick_ns = 1000000;

static device *open_sim(const device_setting *items, int count)
{
    device_settings settings = {items, count};
    device *dev = NULL;
    hr_error error = {""};
    hr_status status = device_sim.open("0", &settings, &dev, &error);
    if (status != HR_OK)
        print_error("%s\n", error.text);
    assert_int_equal(status, HR_OK);
    return dev;
}

static device_command push(double x, double y, double z)
{
    return (device_command){.force = {x, y, z}};
}

/* Axes of device.h: force along an axis moves an open hand's grip along it. */
static void force_moves_the_grip_along_its_axis(void **state)
{
    (void)state;
    static const vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int axis = 0; axis < 3; axis++) {
        device *dev = open_sim((device_setting[]){{"script", "let go 10", NULL},
                                                  {"tremor_m", "0", NULL},
                                                  {"device_friction_n", "0", NULL}},
                               3);
        device_sample sample;
        assert_int_equal(device_sim.enable(dev, true), HR_OK);
        for (int n = 0; n < 40; n++) {
            assert_int_equal(device_sim.read(dev, n * tick_ns, &sample), HR_OK);
            device_command c = {.force = axes[axis]};
            assert_int_equal(device_sim.write(dev, n * tick_ns, &c), HR_OK);
        }
        /* x = F t^2 / 2 m with 1 N, 0.15 kg, 38 ms under force (one exchange of delay) */
        double moved = vec3_dot(sample.position, axes[axis]);
        double expected = 0.5 / 0.15 * 0.038 * 0.038;
        assert_near(moved, expected, 0.1 * expected);
        assert_near(vec3_length(vec3_reject(sample.position, axes[axis])), 0, 0.1 * expected);
        device_sim.close(dev);
    }
}

static void description_is_that_of_a_falcon(void **state)
{
    (void)state;
    device *dev = open_sim(NULL, 0);
    device_description d;
    device_sim.describe(dev, &d);
    assert_string_equal(d.model, "Falcon");
    assert_string_equal(d.manufacturer, "Novint Technologies");
    assert_near(d.max_force, 8.0, 0);
    assert_near(d.max_stiffness, 3000, 0);
    assert_near(d.max_damping, 20, 0);
    assert_near(d.workspace_radius, 0.04, 0);
    assert_true(d.senses_position && d.actuates_position && !d.senses_rotation);
    assert_true(d.fits_left_hand && d.fits_right_hand && !d.has_motors);
    device_sim.close(dev);
}

/* A static hand with stiffness k and a constant force F comes to rest F/k away. */
static void a_held_grip_gives_way_by_force_over_stiffness(void **state)
{
    (void)state;
    device *dev = open_sim((device_setting[]){{"script", "hold 100", NULL},
                                              {"tremor_m", "0", NULL},
                                              {"device_friction_n", "0", NULL},
                                              {"grip_damping_n_s_per_m", "20", NULL},
                                              {"grip_stiffness_n_per_m", "400", NULL}},
                           5);
    device_sample sample;
    assert_int_equal(device_sim.enable(dev, true), HR_OK);
    for (int n = 0; n < 2000; n++) {
        assert_int_equal(device_sim.read(dev, n * tick_ns, &sample), HR_OK);
        device_command c = push(0, 0, 4);
        assert_int_equal(device_sim.write(dev, n * tick_ns, &c), HR_OK);
    }
    assert_vec3_near(sample.position, ((vec3){0, 0, 0.01}), 60e-6); /* a count and a motor unit */
    assert_near(vec3_length(sample.velocity), 0, 1e-3);
    device_sim.close(dev);
}

/* Second method: the sum of force times displacement, against torque times turn. A spring gives
 * back what it took but for its own delay. */
static void energy_is_the_work_of_the_motors(void **state)
{
    (void)state;
    device *dev = open_sim((device_setting[]){{"script",
                                               "move 0.02 0.01 0 over 0.5; move -0.02 0 "
                                               "-0.01 over 0.5; repeat",
                                               NULL}},
                           1);
    assert_int_equal(device_sim.enable(dev, true), HR_OK);
    double work = 0;
    double largest = 0;
    sim_truth before = {0};
    for (int n = 0; n < 4000; n++) {
        device_sample sample;
        assert_int_equal(device_sim.read(dev, n * tick_ns, &sample), HR_OK);
        sim_truth now;
        sim_truth_of(dev, &now);
        if (n > 0)
            work += vec3_dot(now.force, vec3_sub(now.position, before.position));
        largest = fmax(largest, fabs(now.energy));
        before = now;
        device_command c = {.force = vec3_scale(-100, sample.position)};
        assert_int_equal(device_sim.write(dev, n * tick_ns, &c), HR_OK);
    }
    assert_true(largest > 0.01);
    assert_near(sim_energy(dev), work, 0.01 * largest);
    device_sim.close(dev);
}

static void the_same_seed_gives_the_same_run_and_two_run_at_once(void **state)
{
    (void)state;
    device_setting lossy[] = {
        {"drop_probability", "0.1", NULL}, {"late_probability", "0.1", NULL}, {"seed", "7", NULL}};
    device *a = open_sim(lossy, 3);
    device *b = open_sim(lossy, 3);
    lossy[2].value = "8";
    device *c = open_sim(lossy, 3);
    bool is_different = false;
    int late = 0;
    for (int n = 0; n < 3000; n++) {
        device_sample x;
        device_sample y;
        device_sample z;
        assert_int_equal(device_sim.read(a, n * tick_ns, &x), HR_OK);
        assert_int_equal(device_sim.read(b, n * tick_ns, &y), HR_OK);
        assert_int_equal(device_sim.read(c, n * tick_ns, &z), HR_OK);
        assert_memory_equal(&x, &y, sizeof x);
        is_different |= memcmp(&x, &z, sizeof x) != 0;
        late += (x.flags & DEVICE_IS_LATE) != 0;
    }
    assert_true(is_different);
    /* 1 - 0.9^2 = 0.19; three standard deviations of the binomial are 0.021 */
    assert_near(late / 3000.0, 0.19, 0.022);
    device_sim.close(a);
    device_sim.close(b);
    device_sim.close(c);
}

/* The estimate has no delay on a ramp and is within one count per window: 40 um / 15 ms. */
static void velocity_follows_the_hand(void **state)
{
    (void)state;
    device *dev =
        open_sim((device_setting[]){{"script", "slide 0.03 0.01 0 over 0.3; hold 1", NULL},
                                    {"imposed", "true", NULL},
                                    {"tremor_m", "0", NULL}},
                 3);
    device_sample sample;
    for (int n = 0; n < 400; n++) {
        assert_int_equal(device_sim.read(dev, n * tick_ns, &sample), HR_OK);
        if (n > 30 && n < 300)
            assert_vec3_near(sample.velocity, ((vec3){0.1, 0.1 / 3, 0}), 0.006);
        if (n > 330)
            assert_vec3_near(sample.velocity, ((vec3){0, 0, 0}), 0);
    }
    device_sim.close(dev);
}

static void forces_need_enabling_and_are_finite(void **state)
{
    (void)state;
    device *dev = open_sim(NULL, 0);
    device_sample sample;
    device_command pushing = push(1, 0, 0);
    device_command still = push(0, 0, 0);
    device_command broken = push((double)NAN, 0, 0);
    assert_int_equal(device_sim.read(dev, 0, &sample), HR_OK);
    assert_int_equal(device_sim.write(dev, 0, &pushing), HR_ERR_DISABLED);
    assert_int_equal(device_sim.write(dev, 0, &still), HR_OK);
    assert_int_equal(device_sim.enable(dev, true), HR_OK);
    assert_int_equal(device_sim.write(dev, 0, &pushing), HR_OK);
    assert_int_equal(device_sim.write(dev, 0, &broken), HR_ERR_NOT_FINITE);
    assert_int_equal(device_sim.read(dev, tick_ns, &sample), HR_OK);
    assert_int_equal(device_sim.read(dev, 2 * tick_ns, &sample), HR_OK);
    sim_truth truth;
    sim_truth_of(dev, &truth);
    assert_near(vec3_length(truth.force), 0, 0);
    device_sim.close(dev);
}

static void a_force_ends_at_its_deadline(void **state)
{
    (void)state;
    device *dev = open_sim((device_setting[]){{"script", "hold 10", NULL}}, 1);
    device_sample sample;
    sim_truth truth;
    assert_int_equal(device_sim.enable(dev, true), HR_OK);
    assert_int_equal(device_sim.read(dev, 0, &sample), HR_OK);
    device_command c = push(2, 0, 0);
    c.deadline_ns = 5 * tick_ns;
    assert_int_equal(device_sim.write(dev, 0, &c), HR_OK);
    for (int n = 1; n < 10; n++) {
        assert_int_equal(device_sim.read(dev, n * tick_ns, &sample), HR_OK);
        sim_truth_of(dev, &truth);
        if (n > 1 && n <= 5)
            assert_near(vec3_length(truth.force), 2, 0.02);
        if (n > 5)
            assert_near(vec3_length(truth.force), 0, 0);
    }
    device_sim.close(dev);
}

static void faults_come_when_they_are_asked_for(void **state)
{
    (void)state;
    device *dev = open_sim(
        (device_setting[]){{"script", "circle 0 0.01 0 about 1 0 0 turns 100 over 60", NULL},
                           {"faults",
                            "nan at 0.1 for 0.01; jump at 0.2; frozen at 0.3 for 0.1; "
                            "unplug at 0.5 for 0.1; silent at 0.7 for 0.02",
                            NULL}},
        2);
    device_sample sample = {0};
    assert_int_equal(device_sim.enable(dev, true), HR_OK);
    uint32_t jumped = 0;
    bool was_frozen = false;
    uint64_t sequence = 0;
    for (int n = 0; n < 1000; n++) {
        device_sample before = sample;
        hr_status status = device_sim.read(dev, n * tick_ns, &sample);
        if (n >= 500 && n < 600) {
            assert_int_equal(status, HR_ERR_LOST);
            assert_memory_equal(&before, &sample, sizeof sample);
            continue;
        }
        assert_int_equal(status, HR_OK);
        assert_int_equal(!vec3_is_finite(sample.position), n >= 100 && n < 110);
        jumped |= sample.flags & DEVICE_HAS_JUMPED && n == 200 ? 1 : 0;
        jumped |= sample.flags & DEVICE_HAS_JUMPED && n == 600 ? 2 : 0;
        if (sample.flags & DEVICE_HAS_JUMPED)
            assert_true(n == 200 || n == 201 || n == 600 || n == 400);
        was_frozen |= n >= 325 && n < 400 && sample.flags & DEVICE_IS_FROZEN;
        assert_int_equal((sample.flags & DEVICE_IS_ENABLED) != 0, n < 500);
        assert_int_equal((sample.flags & DEVICE_IS_LATE) != 0, n >= 700 && n < 720);
        assert_int_equal(sample.sequence == sequence, n >= 700 && n < 720);
        sequence = sample.sequence;
    }
    assert_int_equal(jumped, 3);
    assert_true(was_frozen);
    device_sim.close(dev);
}

static void homing_takes_its_time_and_ends_in_a_jump(void **state)
{
    (void)state;
    device *dev = open_sim((device_setting[]){{"homing_s", "0.2", NULL}}, 1);
    device_sample sample;
    device_command c = push(1, 0, 0);
    assert_int_equal(device_sim.enable(dev, true), HR_OK);
    for (int n = 0; n < 100; n++)
        assert_int_equal(device_sim.read(dev, n * tick_ns, &sample), HR_OK);
    assert_false(sample.flags & DEVICE_IS_HOMED);
    assert_false(sample.valid & DEVICE_HAS_POSITION);
    assert_int_equal(device_sim.write(dev, 100 * tick_ns, &c), HR_ERR_DISABLED);
    assert_int_equal(device_sim.calibrate(dev, false), HR_OK);
    int jumps = 0;
    double progress = 0;
    for (int n = 101; n < 400; n++) {
        assert_int_equal(device_sim.read(dev, n * tick_ns, &sample), HR_OK);
        jumps += (sample.flags & DEVICE_HAS_JUMPED) != 0;
        assert_true(device_sim.calibration_progress(dev) >= progress);
        progress = device_sim.calibration_progress(dev);
        assert_int_equal((sample.flags & DEVICE_IS_HOMED) != 0, n >= 301);
    }
    assert_int_equal(jumps, 1);
    assert_near(progress, 1, 0);
    device_sim.close(dev);
}

static void wrong_settings_are_located(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value, *message;
    } wrong[] = {
        {"colour", "red", "my.conf:7: expected a setting of driver sim, found \"colour\""},
        {"seed", "x",
         "my.conf:7: seed: expected a whole number from 0 to 9223372036854775807, "
         "found \"x\""},
        {"grip_mass_kg", "-1",
         "my.conf:7: grip_mass_kg: expected a number from 0 to 5, found "
         "\"-1\""},
        {"tremor_m", "nan",
         "my.conf:7: tremor_m: expected a number from 0 to 0.005, found "
         "\"nan\""},
        {"imposed", "maybe", "my.conf:7: imposed: expected true or false, found \"maybe\""},
        {"faults", "nan at 1; smoke at 2",
         "my.conf:7: fault 2: expected nan, jump, frozen, unplug, "
         "silent or late, found \"smoke\""},
        {"faults", "nan at x", "my.conf:7: fault 1: expected a time from 0 to 1e9 s, found \"x\""},
        {"script", "hold 1\njump 2",
         "my.conf:7: script line 2, column 1: expected move, slide, "
         "circle, tap, press, hold, let go, button, turn or repeat, found "
         "\"jump\""},
        {"script", "move 0 0 over 1",
         "my.conf:7: script line 1, column 10: expected a length from "
         "-1 to 1 m, found \"over\""},
        {"script", "move 0 0 0 over",
         "my.conf:7: script line 1, column 16: expected a time from "
         "0.001 to 1e6 s, found the end of the statement"},
        {"script", "repeat",
         "my.conf:7: script line 1, column 1: expected a statement that takes "
         "time before it, found \"repeat\""},
        {"script", " # nothing",
         "my.conf:7: script line 1, column 1: expected at least one "
         "statement, found none"},
        {"script", "hold 1; repeat; hold 2",
         "my.conf:7: script line 1, column 17: expected nothing "
         "after \"repeat\", found \"hold\""},
        {"script_file", "/no/such/file",
         "/no/such/file: expected a readable file, found: No such "
         "file or directory"},
    };
    for (int i = 0; i < HR_COUNT(wrong); i++) {
        device_setting setting = {wrong[i].key, wrong[i].value, "my.conf:7"};
        device_settings settings = {&setting, 1};
        device *dev = NULL;
        hr_error error = {""};
        assert_int_not_equal(device_sim.open("0", &settings, &dev, &error), HR_OK);
        assert_string_equal(error.text, wrong[i].message);
        assert_null(dev);
    }
}

/* The target is continuous but where the text says `let go`; positions are those of the text. */
static void a_script_goes_where_it_says(void **state)
{
    (void)state;
    static const char text[] = "move 0.01 0 0 over 1 # there\n"
                               "circle 0 0 0 about 0 0 1 turns 0.25 over 1 pressing 0 0 -1\n"
                               "tap 0 0 0.01 times 2 over 1; press 1 0 0 for 1\n"
                               "button 2 press; hold 1; let go 1; slide 0 0 0 over 1\n"
                               "repeat 2";
    static sim_script script;
    static sim_hand hand;
    hr_error error;
    assert_int_equal(sim_script_parse(text, strlen(text), "test", &script, &error), HR_OK);
    sim_hand_init(&hand, (sim_grip){.mass = 1, .tremor = 0}, &script, 1);
    assert_near(script.length, 7, 1e-12);
    sim_intent i;
    sim_hand_intent(&hand, 0.5, &i);
    assert_vec3_near(i.target, ((vec3){0.005, 0, 0}), 1e-12); /* half way of a minimum jerk move */
    assert_vec3_near(i.target_velocity, ((vec3){0.01 * 1.875, 0, 0}), 1e-12);
    sim_hand_intent(&hand, 1.5, &i);
    assert_vec3_near(i.target, ((vec3){0.01 * M_SQRT1_2, 0.01 * M_SQRT1_2, 0}), 1e-12);
    assert_vec3_near(i.force, ((vec3){0, 0, -1}), 0);
    sim_hand_intent(&hand, 2.25, &i);
    assert_vec3_near(i.target, ((vec3){0, 0.01, 0.01}), 1e-12);
    sim_hand_intent(&hand, 3.5, &i);
    assert_vec3_near(i.force, ((vec3){1, 0, 0}), 0);
    sim_hand_intent(&hand, 4.5, &i);
    assert_int_equal(i.buttons, 4);
    sim_hand_intent(&hand, 5.5, &i);
    assert_near(i.holding, 0, 0);
    sim_hand_intent(&hand, 7.0, &i);
    assert_vec3_near(i.target, ((vec3){0, 0, 0}), 1e-12);
    assert_int_equal(i.buttons, 4); /* nobody released it */
    sim_hand_intent(&hand, 1000, &i);
    assert_vec3_near(i.target, ((vec3){0, 0, 0}), 1e-12);
    vec3 before = {0, 0, 0};
    for (int n = 0; n < 14000; n++) {
        sim_hand_intent(&hand, n * 1e-3, &i);
        assert_vec3_near(i.target, before, 1e-4);
        before = i.target;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(force_moves_the_grip_along_its_axis),
        cmocka_unit_test(description_is_that_of_a_falcon),
        cmocka_unit_test(a_held_grip_gives_way_by_force_over_stiffness),
        cmocka_unit_test(energy_is_the_work_of_the_motors),
        cmocka_unit_test(the_same_seed_gives_the_same_run_and_two_run_at_once),
        cmocka_unit_test(velocity_follows_the_hand),
        cmocka_unit_test(forces_need_enabling_and_are_finite),
        cmocka_unit_test(a_force_ends_at_its_deadline),
        cmocka_unit_test(faults_come_when_they_are_asked_for),
        cmocka_unit_test(homing_takes_its_time_and_ends_in_a_jump),
        cmocka_unit_test(wrong_settings_are_located),
        cmocka_unit_test(a_script_goes_where_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
