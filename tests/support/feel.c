#include "tests/support/feel.h"

#include <math.h>
#include <stdlib.h>

#include "server/proxy.h"
#include "tests/support/rig.h"

static double unit_random(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 16777216.0;
}

/* Direction of the sphere's path at longitude a. */
static vec3 path_direction(double a)
{
    double latitude = 0.7 * sin(0.37 * a);
    return (vec3){cos(latitude) * cos(a), cos(latitude) * sin(a), sin(latitude)};
}

/* Arc length per longitude. */
static double path_rate(double a)
{
    double latitude = 0.7 * sin(0.37 * a), slope = 0.7 * 0.37 * cos(0.37 * a);
    return hypot(cos(latitude), slope);
}

feel_slide feel_sphere(double speed, double tool_radius, int ticks, int tap)
{
    const double radius = 0.024, k = 1500, dt = 1e-3;
    rig r;
    feel_slide f = {0};
    rig_init(&r);
    rig_body(&r, SCENE_SPHERE)->radius_m = radius;
    r.settings.coupling.tool_radius_m = tool_radius;
    r.settings.safety.max_force_n = r.device.max_force = 20;
    rig_start(&r);
    vec3 u = path_direction(0);
    rig_open_gate(&r, vec3_scale(0.033, u));
    for (int i = 1; i <= 500; i++)
        rig_tick(&r, vec3_scale(0.033 - (0.033 - radius + 0.002) * i / 500.0, u));

    double a = 0, sum = 0;
    vec3 last = r.record.force, last_exact = last;
    for (int i = 0; i < ticks; i++) {
        a += speed * dt / (radius * path_rate(a));
        u = path_direction(a);
        double depth = tap ? 0.003 * sin(2 * M_PI * 10 * i * dt) : 0.002;
        rig_tick(&r, vec3_scale(radius - depth, u));
        vec3 exact = vec3_scale(k * fmax(depth + tool_radius, 0), u);
        double wrong = vec3_distance(r.record.force, exact) / (k * (0.002 + tool_radius));
        sum += i > 100 ? wrong * wrong : 0;
        if (i > 100) {
            f.step = fmax(f.step, vec3_distance(r.record.force, last));
            f.ideal = fmax(f.ideal, vec3_distance(exact, last_exact));
            f.lost += vec3_distance(r.record.proxy, r.record.tool) > 0.004 + tool_radius;
        }
        last = r.record.force;
        last_exact = exact;
    }
    f.error = sqrt(sum / (ticks - 101));
    f.lost /= ticks - 101;
    rig_stop(&r);
    return f;
}

/* A key frame of a body that travels at constant speed would rest at its keys; an oscillation of
 * long period around its middle is a straight pass at its peak speed. */
int feel_plate(double speed, int turning, double tremor, double tool_radius, unsigned seed)
{
    rig r;
    rig_init(&r);
    r.settings.coupling.tool_radius_m = tool_radius;
    r.settings.safety.max_speed_m_per_s = 10;
    r.settings.world.near_distance_m = 0.05;
    scene_body *b = rig_body(&r, SCENE_BOX);
    b->half_size_m = (vec3){0.04, 0.04, 0.0005};
    b->motion = SCENE_OSCILLATE;
    double swing = 0.03, radius = 0.02;
    b->frequency_hz = speed / (2 * M_PI * swing);
    b->amplitude_m = turning ? (vec3){0, 0, 0} : (vec3){0, 0, swing};
    b->turn_rad = turning ? (vec3){0, swing / radius * 0.5, 0} : (vec3){0, 0, 0};
    b->frequency_hz *= turning ? 2 : 1;
    double x = turning ? radius : 0.01 * (2 * unit_random(&seed) - 1);
    double start = 0.012 + tool_radius, phase = 6.28 * unit_random(&seed);
    r.settings.safety.startup_ramp_s = 0.001;
    r.settings.safety.startup_clear_s = 0.001;
    rig_start(&r);

    /* The tool waits beyond the turning point's half way; the plate swings up into it. The proxy
     * must end on the side from which the plate came. */
    int passed = 0;
    double period = 1 / b->frequency_hz;
    int ticks = (int)(1000 * period);
    for (int i = 0; i < ticks; i++) {
        double shake = tremor * sin(2 * M_PI * 10 * i * 1e-3 + phase);
        rig_tick(&r, (vec3){x, 0, start + shake});
        vec3 local = pose_apply_inverse(r.frame.bodies[0].world_from_body, r.record.proxy);
        bool is_over = fabs(local.x) < 0.04 && fabs(local.y) < 0.04;
        if (r.frame.body_count > 0 && is_over && local.z < -0.004 - tool_radius)
            passed = 1;
    }
    rig_stop(&r);
    return passed;
}

double feel_hinge(void)
{
    rig r;
    rig_init(&r);
    r.settings.coupling.tool_radius_m = 0.002;
    r.settings.world.near_distance_m = 0.1;
    /* Plates of 60 mm, hinged at the x = -20 mm line; they close from 80 to 4 degrees in 2 s. */
    for (int side = -1; side <= 1; side += 2) {
        scene_body *b = rig_body(&r, SCENE_BOX);
        b->half_size_m = (vec3){0.03, 0.03, 0.0005};
        b->motion = SCENE_KEYFRAMES;
        b->key_count = 3;
        const double degrees[] = {40, 2, 40};
        for (int k = 0; k < 3; k++) {
            double a = side * degrees[k] * M_PI / 180;
            quat q = quat_from_rotation_vector((vec3){0, -a, 0});
            vec3 middle = quat_rotate(q, (vec3){0.03, 0, side * 0.0005});
            b->keys[k] = (scene_key){2.0 * k, {q, vec3_add(middle, (vec3){-0.02, 0, 0})}};
        }
    }
    rig_start(&r);
    double worst = 0;
    for (int i = 0; i < 2000; i++) {
        rig_tick(&r, (vec3){0, 0, 0});
        for (uint32_t k = 0; k < r.frame.body_count; k++) {
            shape plate = {.kind = SHAPE_BOX, .half_size = {0.03, 0.03, 0.0005}};
            pose now = pose_advance(r.frame.bodies[k].world_from_body, r.frame.bodies[k].velocity,
                                    r.frame.bodies[k].acceleration,
                                    1e-9 * (double)(r.record.time_ns - r.frame.time_ns));
            shape_tracker tracker = {0};
            shape_contact c;
            vec3 local = pose_apply_inverse(now, r.record.proxy);
            if (shape_follow(&plate, &tracker, local, (vec3){0, 0, 0}, 0, 1, &c, 1))
                worst = fmax(worst, 0.002 - c.gap);
        }
    }
    rig_stop(&r);
    return worst;
}

double feel_slow_poses(double speed, double rate_hz, double *inside)
{
    /* a second proxy gets what the hand's gets, and tells where the ball is shown */
    static proxy shadow;
    int shapes;
    uint64_t sequence = 0;
    double deepest = 0;
    rig r;
    rig_init(&r);
    r.settings.coupling.tool_radius_m = 0.002;
    r.settings.world.near_distance_m = 0.05;
    r.settings.safety.max_force_n = r.device.max_force = 100;
    r.world_every = (int)lrint(1000 / rate_hz);
    scene_body *b = rig_body(&r, SCENE_SPHERE);
    b->radius_m = 0.024;
    b->motion = SCENE_OSCILLATE;
    b->amplitude_m = (vec3){0, 0, 0.01};
    b->frequency_hz = speed / (2 * M_PI * 0.01);
    b->world_from_body.origin = (vec3){0, 0, -0.0258}; /* touches at full speed */
    r.settings.safety.startup_clear_s = 0.001;
    r.settings.safety.startup_ramp_s = 0.001;
    rig_start(&r);
    const shape *table = world_shapes(r.world, &shapes);
    proxy_init(&shadow, table, shapes, 0.002, r.settings.world.stale_fade_s);
    double worst = 0;
    vec3 last = {0, 0, 0};
    for (int i = 0; i < 4000; i++) {
        const vec3 tool = {0.003, 0, 0};
        rig_tick(&r, tool);
        if (r.frame.sequence != sequence)
            (void)proxy_frame(&shadow, &r.frame);
        sequence = r.frame.sequence;
        proxy_move(&shadow, tool, r.record.time_ns, 1e-3);
        if (shadow.body_count > 0 && !(r.record.tracker_flags & PROXY_GATED))
            deepest =
                fmax(deepest, 0.026 - vec3_distance(r.record.proxy, shadow.bodies[0].now.origin));
        if (r.record.state == SERVO_RUNNING && i > 100)
            worst = fmax(worst, vec3_distance(r.record.force, last));
        last = r.record.force;
    }
    rig_stop(&r);
    if (inside)
        *inside = deepest;
    return worst;
}

double feel_edge(double speed, double depth)
{
    rig r;
    rig_init(&r);
    r.settings.coupling.tool_radius_m = 0.001;
    scene_body *b = rig_body(&r, SCENE_BOX);
    b->half_size_m = (vec3){0.01, 0.01, 0.01};
    rig_start(&r);
    double height = 0.011 - depth, worst = 0;
    rig_open_gate(&r, (vec3){0, 0, 0.016});
    for (int i = 1; i <= 500; i++)
        rig_tick(&r, (vec3){0, 0, 0.016 - (0.016 - height) * i / 500.0});
    vec3 last = r.record.force;
    for (double x = 0; x < 0.014; x += speed * 1e-3) {
        rig_tick(&r, (vec3){x, 0, height});
        worst = fmax(worst, vec3_distance(r.record.force, last));
        last = r.record.force;
    }
    rig_stop(&r);
    return worst;
}

int feel_thin(int trials)
{
    int through = 0;
    unsigned seed = 7;
    for (int t = 0; t < trials; t++) {
        rig r;
        rig_init(&r);
        r.settings.coupling.tool_radius_m = t % 3 == 0 ? 0 : 0.0005 * (t % 3);
        scene_body *b = rig_body(&r, t % 2 ? SCENE_CAPSULE : SCENE_BOX);
        b->half_size_m = (vec3){0.02, 0.02, 0.0002};
        b->radius_m = 0.0005;
        b->half_length_m = 0.02;
        b->world_from_body.rotation =
            t % 2 ? quat_from_rotation_vector((vec3){0, M_PI / 2, 0}) : quat_identity();
        rig_start(&r);
        double x = 0.01 * (2 * unit_random(&seed) - 1), speed = 0.05 + unit_random(&seed);
        rig_open_gate(&r, (vec3){x, 0, 0.012});
        for (double z = 0.012; z > -0.012; z -= speed * 1e-3)
            rig_tick(&r, (vec3){x, 0, z});
        through += r.record.proxy.z < 0;
        rig_stop(&r);
    }
    return through;
}

double feel_friction(double tool_radius)
{
    rig r;
    rig_init(&r);
    r.settings.coupling.tool_radius_m = tool_radius;
    scene_body *b = rig_body(&r, SCENE_PLANE);
    b->material.static_friction = 0.6;
    b->material.kinetic_friction = 0.4;
    rig_start(&r);
    rig_open_gate(&r, (vec3){0, 0, 0.01});
    double floor = tool_radius - 0.002, worst = 0;
    for (int i = 1; i <= 500; i++)
        rig_tick(&r, (vec3){0, 0, 0.01 - (0.01 - floor) * i / 500.0});

    /* Drag slowly until it slips, then at 0.05 m/s, then stop and break away again. */
    double x = 0, peak = 0;
    for (int pass = 0; pass < 3; pass++) {
        peak = 0;
        for (int i = 0; i < 1000; i++, x += 5e-6) {
            rig_tick(&r, (vec3){x, 0, floor});
            peak = fmax(peak, -r.record.force.x / r.record.force.z);
        }
        worst = fmax(worst, fabs(peak - 0.6) / 0.6);
        for (int i = 0; i < 200; i++, x += 5e-5) {
            rig_tick(&r, (vec3){x, 0, floor});
            double ratio = -r.record.force.x / r.record.force.z;
            if (i > 10)
                worst = fmax(worst, fabs(ratio - 0.4) / 0.4);
        }
        for (int i = 0; i < 20; i++)
            rig_tick(&r, (vec3){x, 0, floor});
    }
    rig_stop(&r);
    return worst;
}
