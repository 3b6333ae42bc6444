/* threads: a whole live server, with its servo, world, watchdog and control threads. */
#include "tests/test.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/server.h"
#include "tests/support/fake_device.h"

enum { PATIENCE = 2000, PATIENCE_US = 5000 }; /* 10 s: only against a test that hangs */

static server_options *options_for(bool is_lockstep)
{
    static server_options o;
    hr_error error = {""};
    char path[CONFIG_PATH_MAX];
    memset(&o, 0, sizeof o);
    config_default(&o.settings);
    o.settings.control.enabled = false;
    /* this test may run on a busy machine, under a sanitizer */
    o.settings.servo.overrun_fault_s = 1.0;
    o.is_lockstep = is_lockstep;
    if (scene_find("sphere", path, (int)sizeof path, &error) != HR_OK ||
        scene_load(path, &o.scene, &error) != HR_OK)
        fail_msg("%s", error.text);
    return &o;
}

static server *open_server(const server_options *o)
{
    hr_error error = {""};
    server *s = NULL;
    if (server_open(o, &s, &error) != HR_OK)
        fail_msg("%s", error.text);
    return s;
}

/* Puts a fake device in the place of the simulated one, before the start. */
static void use_fake(server *s, const device_driver *driver, device *fake)
{
    server_device *d = &s->devices[0];
    d->driver->close(d->dev);
    hand_destroy(d->hand);
    fake->position = (vec3){0, 0, 0.05};
    d->driver = driver;
    d->dev = fake;
    driver->describe(fake, &d->description);
    int count;
    const shape *shapes = world_shapes(s->world, &count);
    d->hand = hand_create(&s->options.settings, 0, &d->description, shapes, count);
    s->servo.hands[0].driver = driver;
    s->servo.hands[0].dev = fake;
    s->servo.hands[0].hand = d->hand;
}

static void finish(server *s)
{
    hr_error error = {""};
    assert_int_equal(server_finish(s, &error), HR_OK);
    server_destroy(s);
}

/* Waits until the newest report has the state, or its reasons have the bit. */
static bool wait_for(server *s, uint32_t state, uint32_t reason)
{
    servo_report r;
    for (int i = 0; i < PATIENCE; i++) {
        if (ring_take_latest(&s->main_door.reports, &r) &&
            (r.hands[0].state == state || (r.hands[0].reasons & reason)))
            return true;
        usleep(PATIENCE_US);
    }
    return false;
}

/* --- lockstep -----------------------------------------------------------------------------------
 */

static void two_lockstep_servers_agree_to_the_bit(void **state)
{
    (void)state;
    server *a = open_server(options_for(true));
    server *b = open_server(options_for(true));
    hr_error error;
    assert_int_equal(server_start(a, &error), HR_OK);
    assert_int_equal(server_start(b, &error), HR_OK);

    for (int i = 0; i < test_effort(10000); i++) {
        assert_true(server_step(a, 1));
        assert_true(server_step(b, 1));
        assert_memory_equal(&a->servo.hands[0].record, &b->servo.hands[0].record,
                            sizeof(tick_record));
    }
    finish(a);
    finish(b);
}

/* The sphere's script presses the ball all the time; nothing may come back before COMMAND_ARM. */
static void a_disarmed_start_waits_for_somebody_to_arm(void **state)
{
    (void)state;
    server_options *o = options_for(true);
    o->is_disarmed = true;
    server *s = open_server(o);
    hr_error error;
    assert_int_equal(server_start(s, &error), HR_OK);
    for (int i = 0; i < 8000; i++) {
        assert_true(server_step(s, 1));
        assert_near(vec3_length(s->servo.hands[0].record.force), 0.0, 0.0);
        assert_int_equal(s->servo.hands[0].record.state, SERVO_DISARMED);
    }

    servo_command arm = {.kind = COMMAND_ARM, .hand = HANDS_MAX};
    assert_true(door_send(&s->main_door, &arm));
    double largest = 0;
    for (int i = 0; i < 10000; i++) {
        assert_true(server_step(s, 1));
        largest = fmax(largest, vec3_length(s->servo.hands[0].record.force));
    }
    assert_true(largest > 0.5);
    finish(s);
}

static void a_lockstep_run_ends_after_its_time(void **state)
{
    (void)state;
    server_options *o = options_for(true);
    o->run_s = 0.5;
    server *s = open_server(o);
    hr_error error;
    assert_int_equal(server_start(s, &error), HR_OK);

    assert_false(server_step(s, 1000000));

    assert_int_equal(servo_heartbeat(&s->servo), 500);
    assert_int_equal(s->loop.steps, 250); /* the world runs at 500 Hz */
    finish(s);
}

/* --- live ---------------------------------------------------------------------------------------
 */

static void a_live_server_starts_runs_and_stops(void **state)
{
    (void)state;
    server_options *o = options_for(false);
    snprintf(o->settings.trace.record, sizeof o->settings.trace.record,
             "/tmp/hapticd-test-server-%d.mcap", (int)getpid());
    server *s = open_server(o);
    hr_error error;
    assert_int_equal(server_start(s, &error), HR_OK);

    assert_true(wait_for(s, SERVO_RUNNING, 0));
    json_t *status = server_status(s, NULL);
    assert_true(json_integer_value(json_object_get(json_object_get(status, "servo"), "ticks")) > 0);
    json_decref(status);
    assert_true(server_is_running(s));
    server_stop(s);
    server_stop(s);
    assert_int_equal(server_finish(s, &error), HR_OK);

    assert_false(server_is_running(s));
    assert_null(s->devices[0].dev);
    assert_true(s->loop.steps > 0);
    server_destroy(s);
    unlink(o->settings.trace.record);
}

static void what_cannot_be_recorded_is_never_powered(void **state)
{
    (void)state;
    server_options *o = options_for(false);
    snprintf(o->settings.trace.record, sizeof o->settings.trace.record, "/no/such/folder/x.mcap");
    server *s = open_server(o);
    static device fake;
    memset(&fake, 0, sizeof fake);
    use_fake(s, &fake_driver, &fake);
    hr_error error = {""};

    assert_int_not_equal(server_start(s, &error), HR_OK);

    assert_non_null(strstr(error.text, "/no/such/folder"));
    assert_false(fake.is_enabled);
    server_finish(s, &error);
    assert_near(fake.largest, 0.0, 0.0);
    assert_int_equal(fake.closes, 1);
    server_destroy(s);
}

/* Priority 100 does not exist, so SCHED_FIFO is refused even to root. */
static void real_motors_stay_off_without_real_time_scheduling(void **state)
{
    (void)state;
    for (int is_allowed = 0; is_allowed < 2; is_allowed++) {
        server_options *o = options_for(false);
        o->settings.servo.priority = 100;
        o->settings.servo.allow_degraded = is_allowed;
        server *s = open_server(o);
        static device fake;
        memset(&fake, 0, sizeof fake);
        fake.has_motors = true;
        use_fake(s, &fake_driver, &fake);
        hr_error error;
        assert_int_equal(server_start(s, &error), HR_OK);

        assert_true(realtime_is_degraded(&s->realtime));
        assert_non_null(strstr(s->scheduling, "normal scheduling"));
        if (is_allowed)
            assert_true(wait_for(s, SERVO_RUNNING, 0));
        else
            assert_true(wait_for(s, UINT32_MAX, REASON_DEGRADED));
        assert_int_equal(fake.is_enabled, is_allowed);
        finish(s);
        assert_false(fake.is_enabled);
    }
}

/* A driver that does not come back: only another thread can notice. */
static _Atomic bool is_hanging;

static hr_status hang(device *dev, int64_t now_ns, device_sample *out)
{
    while (atomic_load(&is_hanging))
        usleep(1000);
    return fake_driver.read(dev, now_ns, out);
}

static void a_servo_that_hangs_trips_the_watchdog_until_it_is_armed(void **state)
{
    (void)state;
    static device_driver driver;
    static device fake;
    driver = fake_driver;
    driver.read = hang;
    memset(&fake, 0, sizeof fake);
    server *s = open_server(options_for(false));
    use_fake(s, &driver, &fake);
    hr_error error;
    assert_int_equal(server_start(s, &error), HR_OK);
    assert_true(wait_for(s, SERVO_RUNNING, 0));

    atomic_store(&is_hanging, true);
    for (int i = 0; i < PATIENCE && !atomic_load(&s->watchdog_is_tripped); i++)
        usleep(PATIENCE_US);
    assert_true(atomic_load(&s->watchdog_is_tripped));
    atomic_store(&is_hanging, false);

    assert_true(wait_for(s, SERVO_FAULT, 0));
    assert_true(atomic_load(&s->watchdog_is_tripped));
    servo_command arm = {.kind = COMMAND_ARM, .hand = HANDS_MAX};
    assert_true(door_send(&s->main_door, &arm));
    assert_true(wait_for(s, SERVO_RUNNING, 0));
    for (int i = 0; i < PATIENCE && atomic_load(&s->watchdog_is_tripped); i++)
        usleep(PATIENCE_US);
    assert_false(atomic_load(&s->watchdog_is_tripped));
    finish(s);
}

/* --- a client's force ---------------------------------------------------------------------------
 */

/* Sends a line and waits for its answer, which must be good. */
static void ask(int fd, const char *line)
{
    char answer[PROTOCOL_REPLY_MAX];
    size_t used = 0;
    assert_int_equal(send(fd, line, strlen(line), MSG_NOSIGNAL), strlen(line));
    while (used < sizeof answer - 1 && recv(fd, answer + used, 1, 0) == 1 && answer[used] != '\n')
        used++;
    answer[used] = '\0';
    if (!strstr(answer, "\"ok\":true"))
        fail_msg("%s -> %s", line, answer);
}

/* Waits for a report in which the force of the hand is above (or not above) 0.1 N. */
static bool wait_for_force(server *s, bool is_pushing)
{
    servo_report r;
    for (int i = 0; i < PATIENCE; i++) {
        if (ring_take_latest(&s->main_door.reports, &r) &&
            (vec3_length(r.hands[0].force) > 0.1) == is_pushing)
            return true;
        usleep(PATIENCE_US);
    }
    return false;
}

static void a_client_that_is_killed_loses_its_force(void **state)
{
    (void)state;
    server_options *o = options_for(false);
    o->settings.control.enabled = true;
    o->settings.safety.client_hold_s = 1000; /* its going is what ends the force, not its silence */
    snprintf(o->settings.control.socket, sizeof o->settings.control.socket,
             "/tmp/hapticd-test-server-%d.sock", (int)getpid());
    server *s = open_server(o);
    static device fake;
    memset(&fake, 0, sizeof fake);
    use_fake(s, &fake_driver, &fake);
    hr_error error = {""};
    assert_int_equal(server_start(s, &error), HR_OK);
    assert_true(wait_for(s, SERVO_RUNNING, 0));
    int fd = control_connect(o->settings.control.socket, &error);
    assert_true(fd >= 0);

    ask(fd, "{\"op\":\"lease\",\"seconds\":60}\n");
    bool is_pushing = false;
    for (int i = 0; i < 50 && !is_pushing; i++) {
        ask(fd, "{\"op\":\"force\",\"force_n\":[0,0,1]}\n");
        is_pushing = wait_for_force(s, true);
    }
    assert_true(is_pushing);
    close(fd); /* as the kernel does for a process that dies */
    assert_true(wait_for_force(s, false));

    /* and the lease is free again */
    fd = control_connect(o->settings.control.socket, &error);
    assert_true(fd >= 0);
    ask(fd, "{\"op\":\"lease\",\"seconds\":1}\n");
    close(fd);
    finish(s);
}

/* --- faults of the process ----------------------------------------------------------------------
 */

static hr_status crash(device *dev, int64_t now_ns, device_sample *out)
{
    if (dev->reads > 100)
        raise(SIGSEGV);
    return fake_driver.read(dev, now_ns, out);
}

/* A child with a live server, whose main or servo thread fails. *fake is shared with us. */
static int crash_in_child(device *fake, bool in_servo)
{
    static device_driver driver;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        hr_error error;
        driver = fake_driver;
        if (in_servo)
            driver.read = crash;
        server *s = open_server(options_for(false));
        use_fake(s, &driver, fake);
        server_guard_signals(s);
        if (server_start(s, &error) != HR_OK)
            _exit(3);
        while (servo_heartbeat(&s->servo) <= 100)
            usleep(PATIENCE_US);
        if (!in_servo)
            abort();
        for (;;)
            usleep(PATIENCE_US);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void a_crash_in_any_thread_leaves_zero_force(void **state)
{
    (void)state;
    device *fake =
        mmap(NULL, sizeof *fake, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(fake != MAP_FAILED);
    for (int in_servo = 0; in_servo < 2; in_servo++) {
        memset(fake, 0, sizeof *fake);
        int status = crash_in_child(fake, in_servo);

        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), in_servo ? SIGSEGV : SIGABRT);
        assert_true(fake->writes > 100);
        assert_true(fake->zero_writes >= SERVO_ZERO_WRITES);
        assert_int_equal(fake->last.deadline_ns, fake->last_write_ns); /* the last words */
    }
    munmap(fake, sizeof *fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crash_in_any_thread_leaves_zero_force),
        cmocka_unit_test(two_lockstep_servers_agree_to_the_bit),
        cmocka_unit_test(a_disarmed_start_waits_for_somebody_to_arm),
        cmocka_unit_test(a_lockstep_run_ends_after_its_time),
        cmocka_unit_test(a_live_server_starts_runs_and_stops),
        cmocka_unit_test(what_cannot_be_recorded_is_never_powered),
        cmocka_unit_test(real_motors_stay_off_without_real_time_scheduling),
        cmocka_unit_test(a_client_that_is_killed_loses_its_force),
        cmocka_unit_test(a_servo_that_hangs_trips_the_watchdog_until_it_is_armed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
