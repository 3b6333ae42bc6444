/* What goes wrong, in lockstep: a hand presses with 3 N on a plane through the simulated Falcon,
 * something breaks, and the table says what the device got. In every tick of every row the force is
 * finite and within the limit, and it is zero within the stated time. */
#include "tests/test.h"

#include "tests/support/grip.h"

enum { BREAKS_AT = 1500, TICKS = 2600 };

typedef struct fault {
    const char *name;
    uint32_t reason;         /* that must be seen */
    double zero_s;           /* stated: zero within this time; < 0: the force may go on */
    bool must_latch;         /* stays zero until armed */
    const char *settings[4]; /* for the device */
    void (*hit)(grip_rig *g, int tick, int since); /* between read and force; since >= 0 */
    void (*prepare)(grip_rig *g);
    const char *script; /* NULL: press */
} fault;

static void command(grip_rig *g, uint32_t kind, double x, uint32_t client)
{
    rig_command(&g->rig, (servo_command){.kind = kind, .client = client, .values = {x}});
}

static void nan_bodies(contact_frame *f)
{
    for (uint32_t i = 0; i < f->body_count; i++)
        f->bodies[i].world_from_body.origin.z = (double)NAN;
}

static void nan_stiffness(contact_frame *f)
{
    for (uint32_t i = 0; i < f->body_count; i++)
        f->bodies[i].material.stiffness = (double)NAN;
}

/* A ball comes out of nowhere, around the hand. */
static void ball_in_hand(contact_frame *f)
{
    f->bodies[1] = f->bodies[0];
    f->bodies[1].key = 77;
    f->bodies[1].shape = 1;
    f->bodies[1].world_from_body.origin = (vec3){0.001, 0.001, -0.006};
    f->body_count = 2;
}

/* The floor itself jumps up by 20 mm. */
static void floor_jumps(contact_frame *f)
{
    f->bodies[0].world_from_body.origin.z += 0.02;
}

static void hit_world_nan(grip_rig *g, int tick, int since)
{
    (void)tick;
    g->rig.spoil = since < 100 ? nan_bodies : NULL;
}

static void hit_world_stiffness(grip_rig *g, int tick, int since)
{
    (void)tick;
    g->rig.spoil = since < 100 ? nan_stiffness : NULL;
}

static void hit_world_stop(grip_rig *g, int tick, int since)
{
    (void)tick;
    (void)since;
    g->rig.is_world_stopped = true;
}

static void hit_teleport(grip_rig *g, int tick, int since)
{
    (void)tick;
    (void)since;
    g->rig.spoil = floor_jumps;
}

static void hit_ball(grip_rig *g, int tick, int since)
{
    (void)tick;
    (void)since;
    g->rig.spoil = ball_in_hand;
}

static void hit_clock_forward(grip_rig *g, int tick, int since)
{
    (void)tick;
    if (since == 0)
        g->rig.record.time_ns += 500000000;
}

static void hit_clock_back(grip_rig *g, int tick, int since)
{
    (void)tick;
    if (since == 0)
        g->rig.record.time_ns -= 5000000;
}

static void hit_overrun(grip_rig *g, int tick, int since)
{
    (void)tick;
    if (since < 10)
        g->rig.record.missed_periods = 1;
}

static void hit_short_overrun(grip_rig *g, int tick, int since)
{
    (void)tick;
    if (since == 0)
        g->rig.record.missed_periods = 4;
}

static void hit_estop(grip_rig *g, int tick, int since)
{
    (void)tick;
    if (since == 0)
        command(g, COMMAND_ESTOP, 0, 0);
}

static void hit_disarm(grip_rig *g, int tick, int since)
{
    (void)tick;
    if (since == 0)
        command(g, COMMAND_DISARM, 0, 0);
}

static void hit_watchdog(grip_rig *g, int tick, int since)
{
    (void)tick;
    if (since == 0)
        rig_command(&g->rig,
                    (servo_command){.kind = COMMAND_SET, .key = PARAMETER_WATCHDOG, .values = {1}});
}

/* 1000 N from a client. */
static void push_hard(grip_rig *g, int tick)
{
    if (tick == 0)
        command(g, COMMAND_LEASE, 1, 9);
    command(g, COMMAND_CLIENT_FORCE, 1000, 9);
}

static void hit_client_hard(grip_rig *g, int tick, int since)
{
    (void)tick;
    push_hard(g, since);
}

/* A client pushes with 2 N from the start and dies; the server gives up its lease. */
static void hit_client_killed(grip_rig *g, int tick, int since)
{
    if (tick == 100)
        command(g, COMMAND_LEASE, 1, 9);
    if (tick > 100 && since < 0)
        command(g, COMMAND_CLIENT_FORCE, 2, 9);
    if (since == 0)
        command(g, COMMAND_LEASE, 0, 9);
}

/* The same, but nobody notices its death. */
static void hit_client_hangs(grip_rig *g, int tick, int since)
{
    if (tick == 100)
        command(g, COMMAND_LEASE, 1, 9);
    if (tick > 100 && since < 0)
        command(g, COMMAND_CLIENT_FORCE, 2, 9);
}

static void hit_wall_hard(grip_rig *g, int tick, int since)
{
    (void)tick;
    (void)since;
    rig_command(&g->rig,
                (servo_command){.kind = COMMAND_SET, .key = PARAMETER_STIFFNESS, .values = {1e6}});
}

static void hit_motors_degraded(grip_rig *g, int tick, int since)
{
    (void)tick;
    if (since == 0)
        rig_command(&g->rig,
                    (servo_command){.kind = COMMAND_SET, .key = PARAMETER_DEGRADED, .values = {1}});
}

static void make_stiff(grip_rig *g)
{
    g->rig.scene.bodies[0].material.stiffness_n_per_m = 5e5; /* 1000 N at 2 mm */
}

static void hover(grip_rig *g)
{
    g->rig.scene.bodies[0].world_from_body.origin.z = -0.1;
}

static const char hover_script[] = "hold 4";
static const char slide_script[] = "hold 0.5; move 0 0 -0.011 over 0.3; hold 0.5;"
                                   "slide 0.03 0 -0.011 over 0.6; move 0 0 0.01 over 0.3; hold 2";
static const char leave_script[] = "hold 0.5; move 0 0 -0.011 over 0.3; hold 0.6;"
                                   "move 0.055 0 -0.011 over 0.3; hold 0.5; move 0 0 0.01 over 0.3;"
                                   "hold 2";
static const char throw_script[] = "hold 0.5; move 0 -0.035 -0.011 over 0.5; hold 0.5;"
                                   "slide 0 0.05 -0.011 over 0.035; hold 0.3;"
                                   "move 0 0 0.01 over 0.3; hold 2";

static const fault faults[] = {
    {"NaN from the device",
     REASON_NOT_FINITE,
     0.021,
     false,
     {"faults", "nan at 1.5 for 0.3"},
     0,
     0,
     0},
    {"NaN pose from the world", REASON_NOT_FINITE, 0.002, false, {0}, hit_world_nan, 0, 0},
    {"NaN stiffness from the world",
     REASON_NOT_FINITE,
     0.002,
     false,
     {0},
     hit_world_stiffness,
     0,
     0},
    {"encoders frozen",
     REASON_FROZEN,
     0.150,
     false,
     {"faults", "frozen at 1.5 for 0.3"},
     0,
     0,
     slide_script},
    {"encoders jump", REASON_JUMP, 0.002, false, {"faults", "jump at 1.5 for 0.3"}, 0, 0, 0},
    {"world stopped", REASON_STALE_WORLD, 0.202, false, {0}, hit_world_stop, 0, 0},
    {"device lost",
     REASON_FAULT | REASON_STALE_DEVICE,
     0.002,
     true,
     {"faults", "unplug at 1.5 for 0.2"},
     0,
     0,
     0},
    {"device silent",
     REASON_STALE_DEVICE,
     0.022,
     false,
     {"faults", "silent at 1.5 for 0.3"},
     0,
     0,
     0},
    {"1 % of packets lost", 0, -1, false, {"drop_probability", "0.01"}, 0, 0, 0},
    {"10 % of packets lost", 0, -1, false, {"drop_probability", "0.1"}, 0, 0, 0},
    {"50 % of packets lost", REASON_STALE_DEVICE, -1, false, {"drop_probability", "0.5"}, 0, 0, 0},
    {"clock jumps ahead 0.5 s",
     REASON_FAULT | REASON_OVERRUN,
     0.001,
     true,
     {0},
     hit_clock_forward,
     0,
     0},
    {"clock jumps back 5 ms",
     REASON_FAULT | REASON_OVERRUN,
     0.001,
     true,
     {0},
     hit_clock_back,
     0,
     0},
    {"client asks for 1000 N", REASON_CLAMP | REASON_SLEW, -1, false, {0}, hit_client_hard, 0, 0},
    {"wall asks for 1000 N", REASON_CLAMP, -1, false, {0}, hit_wall_hard, make_stiff, 0},
    {"body teleported into the hand",
     REASON_TELEPORT,
     0.0,
     false,
     {0},
     hit_ball,
     hover,
     hover_script},
    {"floor jumps 20 mm into the hand", REASON_TELEPORT, 0.002, false, {0}, hit_teleport, 0, 0},
    {"control client killed",
     REASON_CLIENT,
     0.052,
     false,
     {0},
     hit_client_killed,
     hover,
     hover_script},
    {"control client hangs",
     REASON_CLIENT,
     0.102,
     false,
     {0},
     hit_client_hangs,
     hover,
     hover_script},
    {"4 periods missed", REASON_OVERRUN, -1, false, {0}, hit_short_overrun, 0, 0},
    {"10 ms of missed periods", REASON_FAULT | REASON_OVERRUN, 0.010, true, {0}, hit_overrun, 0, 0},
    {"e-stop", REASON_ESTOP, 0.0, true, {0}, hit_estop, 0, 0},
    {"disarmed", REASON_DISARMED, 0.0, true, {0}, hit_disarm, 0, 0},
    {"watchdog trips", REASON_FAULT, 0.0, true, {0}, hit_watchdog, 0, 0},
    {"real-time lost, real motors", REASON_DEGRADED, 0.0, false, {0}, hit_motors_degraded, 0, 0},
    {"handle leaves the workspace", REASON_WORKSPACE, 0.5, false, {0}, 0, 0, leave_script},
    {"handle thrown at 2.4 m/s", REASON_OVERSPEED, 0.05, false, {0}, 0, 0, throw_script},
};

typedef struct outcome {
    uint32_t reasons;
    double before;  /* N, largest before the fault */
    double largest; /* N */
    double zero_s;  /* first zero force after the fault; -1: never */
    double step;    /* N, largest rise from tick to tick */
    bool was_latched;
    bool came_back; /* after arming, or by itself */
} outcome;

static void open_rig(grip_rig *g, const fault *f)
{
    *g = (grip_rig){0};
    rig_init(&g->rig);
    scene_body *b = rig_body(&g->rig, SCENE_PLANE);
    b->world_from_body.origin = (vec3){0, 0, -0.005};
    scene_body *ball = rig_body(&g->rig, SCENE_SPHERE);
    ball->radius_m = 0.01;
    ball->world_from_body.origin = (vec3){0, 0, 1};
    g->rig.settings.coupling.damping_n_s_per_m = 2;
    if (f->hit == hit_motors_degraded)
        g->rig.settings.servo.allow_degraded = false;
    if (f->prepare)
        f->prepare(g);
    const grip usual = {"usual", 0.3, 5, 800};
    const char *script = f->script ? f->script
                                   : "hold 0.5; move 0 0 -0.011 over 0.3; hold 1.2; "
                                     "move 0 0 0.01 over 0.2; hold 1";
    grip_start(g, &usual, script, 20e-6, f->settings[0] ? f->settings : NULL);
    if (f->hit == hit_motors_degraded) {
        /* The same hand on a device with real motors. */
        int count;
        const shape *shapes = world_shapes(g->rig.world, &count);
        hand_destroy(g->rig.hand);
        g->rig.device.has_motors = true;
        g->rig.hand = hand_create(&g->rig.settings, 0, &g->rig.device, shapes, count);
    }
}

static void check_tick(const grip_rig *g, const fault *f)
{
    const tick_record *t = &g->rig.record;
    if (!vec3_is_finite(t->force) || vec3_length(t->force) > 8.0 + 1e-12)
        fail_msg("%s: %g %g %g N", f->name, t->force.x, t->force.y, t->force.z);
    /* Every difference has its reason. */
    if (t->reasons == 0)
        assert_true(vec3_distance(t->force, t->wanted_force) == 0);
}

static outcome run(const fault *f)
{
    grip_rig g;
    outcome o = {.zero_s = -1};
    open_rig(&g, f);
    vec3 last = {0, 0, 0};
    for (int i = 0; i < TICKS; i++) {
        int since = i - BREAKS_AT;
        grip_read(&g);
        if (f->hit && (since >= 0 || f->hit == hit_client_killed || f->hit == hit_client_hangs))
            f->hit(&g, i, since);
        grip_write(&g);
        check_tick(&g, f);
        double force = vec3_length(g.rig.record.force);
        if (since < 0)
            o.before = fmax(o.before, force);
        o.largest = fmax(o.largest, force);
        o.step = fmax(o.step, force - vec3_length(last));
        last = g.rig.record.force;
        if (since >= 0)
            o.reasons |= g.rig.record.reasons;
        if (since >= 0 && o.zero_s < 0 && force == 0)
            o.zero_s = since * 1e-3;
    }
    uint32_t state = g.rig.record.state;
    o.was_latched = state == SERVO_ESTOP || state == SERVO_FAULT || state == SERVO_DISARMED;
    /* Armed again, with the hand up and nothing broken, the gate opens. */
    g.rig.spoil = NULL;
    g.rig.is_world_stopped = false;
    command(&g, COMMAND_ARM, 0, 0);
    for (int i = 0; i < 800; i++) {
        grip_tick(&g);
        check_tick(&g, f);
    }
    o.came_back = g.rig.record.state == SERVO_RUNNING;
    grip_stop(&g);
    return o;
}

static const char *ms(char out[16], double s)
{
    snprintf(out, 16, "%.1f", 1e3 * s);
    return out;
}

static void every_fault_ends_in_a_safe_force(void **state)
{
    (void)state;
    print_message("| %-32s %9s %9s %10s %10s  %s\n", "fault", "before N", "largest N", "zero ms",
                  "stated ms", "latched");
    int wrong = 0;
    for (int i = 0; i < HR_COUNT(faults); i++) {
        const fault *f = &faults[i];
        outcome o = run(f);
        char zero[16], stated[16];
        bool is_late = f->zero_s >= 0 && !(o.zero_s >= 0 && o.zero_s <= f->zero_s + 1e-9);
        bool is_silent = (o.reasons & f->reason) != f->reason;
        bool is_loose = f->must_latch && !o.was_latched;
        bool is_steep = o.step > 4.0 + 1e-9; /* 4000 N/s */
        bool was_idle = f->zero_s > 0 && f->prepare != hover && !(o.before > 1);
        bool is_dead = f->hit != hit_motors_degraded && !o.came_back;
        print_message("| %-32s %9.3f %9.3f %10s %10s  %-3s %s%s%s%s%s%s\n", f->name, o.before,
                      o.largest, f->zero_s < 0 ? "goes on" : ms(zero, o.zero_s),
                      f->zero_s < 0 ? "-" : ms(stated, f->zero_s), o.was_latched ? "yes" : "no",
                      is_late ? " TOO LATE" : "", is_silent ? " REASON MISSING" : "",
                      is_loose ? " NOT LATCHED" : "", is_steep ? " TOO STEEP" : "",
                      was_idle ? " NOTHING WAS FELT BEFORE" : "",
                      is_dead ? " DOES NOT RETURN" : "");
        if (is_silent)
            print_message("    reasons 0x%x, expected 0x%x\n", o.reasons, f->reason);
        wrong += is_late || is_silent || is_loose || is_steep || was_idle || is_dead;
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_ends_in_a_safe_force),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
