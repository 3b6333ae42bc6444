#include "tests/support/feel_body.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "geometry/body_closest.h"
#include "tests/support/rig.h"

static const double pi = 3.14159265358979323846;
static const double radius = 0.024;
static const double stiffness = 1500;

/* Direction of the path at longitude a, and arc length per longitude on the unit sphere. */
static vec3 path_direction(double a)
{
    double latitude = 0.7 * sin(0.37 * a);
    return (vec3){cos(latitude) * cos(a), cos(latitude) * sin(a), sin(latitude)};
}

static double path_rate(double a)
{
    double latitude = 0.7 * sin(0.37 * a);
    double slope = 0.7 * 0.37 * cos(0.37 * a);
    return hypot(cos(latitude), slope);
}

static double radius_at(const feel_path *p, vec3 d)
{
    if (!p->is_blob)
        return radius;
    return radius * (1 + 0.12 * sin(5 * d.x) * cos(4 * d.y + 1) * sin(6 * d.z + 0.5));
}

static scene_body *add_body(rig *r, const char *file, double scale)
{
    scene_body *b = rig_body(r, SCENE_BODY);
    snprintf(b->file, sizeof b->file, "%s", file);
    b->scale = scale;
    return b;
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void wait_tick(void)
{
    int64_t next = (now_ns() / 1000000 + 1) * 1000000;
    struct timespec t = {next / 1000000000, next % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static double timed_tick(rig *r, vec3 position, bool is_paced)
{
    rig_prepare(r, position);
    if (is_paced)
        wait_tick();
    int64_t start = now_ns();
    rig_run(r);
    return (double)(now_ns() - start);
}

/* What one tick adds to the result. */
static void judge(const feel_path *p, const rig *r, vec3 u, double depth, feel_path_result *f,
                  vec3 *last_exact, vec3 last)
{
    vec3 exact = vec3_scale(stiffness * fmax(depth, 0), u);
    double away = vec3_distance(r->record.proxy, r->record.tool);
    double wrong = vec3_distance(r->record.force, exact) / (stiffness * 0.002);
    f->error += wrong * wrong;
    f->step = fmax(f->step, vec3_distance(r->record.force, last));
    f->ideal = fmax(f->ideal, vec3_distance(exact, *last_exact));
    f->lost += away > 0.004;
    f->farthest = fmax(f->farthest, away);
    double distance = vec3_length(r->record.proxy);
    vec3 d = vec3_scale(1.0 / distance, r->record.proxy);
    if (!p->is_blob)
        f->leak = fmax(f->leak, radius + p->tool_radius - distance);
    else
        f->leak = fmax(f->leak, radius_at(p, d) - distance);
    vec3 proxy = p->is_blob ? r->record.proxy : vec3_scale(radius + p->tool_radius, d);
    if (depth > 0)
        f->proxy_error = fmax(f->proxy_error, vec3_distance(r->record.proxy, proxy));
    *last_exact = exact;
}

/* How far a sphere is inside the body, by the proven nearest point. */
static double inside(body_finder *finder, vec3 centre, double tool_radius)
{
    body_nearest nearest;
    if (body_find_nearest(finder, centre, &nearest) != HR_OK)
        return 1;
    return tool_radius - nearest.distance;
}

feel_path_result feel_path_run(const feel_path *p)
{
    const double dt = 1e-3;
    const int entry = 500;
    const double outside = 0.033;
    rig r;
    feel_path_result f = {0};
    rig_init(&r);
    add_body(&r, p->file, p->scale);
    r.settings.coupling.tool_radius_m = p->tool_radius;
    r.settings.safety.max_force_n = r.device.max_force = 40;
    r.settings.safety.max_slew_n_per_s = 1e6;
    rig_start(&r);
    vec3 u = path_direction(0);
    rig_open_gate(&r, vec3_scale(outside, u));
    double below = radius_at(p, u) + p->tool_radius - 0.002;
    for (int i = 1; i <= entry; i++)
        rig_tick(&r, vec3_scale(outside - (outside - below) * i / entry, u));

    int shapes;
    body_finder *finder = p->is_blob && !p->times
                              ? body_finder_create(world_shapes(r.world, &shapes)[0].surface)
                              : NULL;
    double a = 0;
    vec3 last = r.record.force;
    vec3 last_exact = last;
    int counted = 0;
    for (int i = 0; i < p->ticks; i++) {
        a += p->speed * dt / (radius_at(p, u) * path_rate(a));
        u = path_direction(a);
        double depth = p->is_tapping ? 0.003 * sin(2 * pi * 10 * i * dt) : 0.002;
        double height = radius_at(p, u) + p->tool_radius - depth;
        double ns = timed_tick(&r, vec3_scale(height, u), p->is_paced);
        if (p->times)
            p->times[i] = ns;
        if (i > 100) {
            judge(p, &r, u, depth, &f, &last_exact, last);
            if (finder && i % 20 == 0)
                f.leak = fmax(f.leak, inside(finder, r.record.proxy, p->tool_radius));
            counted++;
        }
        last = r.record.force;
        last_exact = i <= 100 ? last : last_exact;
    }
    f.error = sqrt(f.error / counted);
    f.lost /= counted;
    body_finder_destroy(finder);
    rig_stop(&r);
    return f;
}

double feel_body_seam(const char *file, double scale, double speed, double depth)
{
    rig r;
    double worst = 0;
    rig_init(&r);
    add_body(&r, file, scale);
    r.settings.coupling.tool_radius_m = 0.001;
    rig_start(&r);
    /* a great circle that crosses seams at many angles */
    vec3 axis = vec3_normalize_or((vec3){0.3, -0.5, 0.8}, (vec3){0, 0, 1});
    vec3 e1 = vec3_any_perpendicular(axis);
    vec3 e2 = vec3_cross(axis, e1);
    rig_open_gate(&r, vec3_scale(0.033, e1));
    for (int i = 1; i <= 500; i++)
        rig_tick(&r, vec3_scale(0.033 - (0.033 - radius + depth) * i / 500.0, e1));
    vec3 last = r.record.force;
    int ticks = (int)(2 * pi * radius / speed * 1e3);
    for (int i = 0; i < ticks; i++) {
        double a = 2 * pi * i / ticks;
        vec3 u = vec3_add(vec3_scale(cos(a), e1), vec3_scale(sin(a), e2));
        rig_tick(&r, vec3_scale(radius - depth, u));
        if (i > 50)
            worst = fmax(worst, vec3_distance(r.record.force, last));
        last = r.record.force;
    }
    rig_stop(&r);
    return worst;
}

double feel_body_edge(const char *file, double scale, double half_size, double speed, double depth)
{
    rig r;
    double worst = 0;
    rig_init(&r);
    add_body(&r, file, scale);
    r.settings.coupling.tool_radius_m = 0.001;
    rig_start(&r);
    double level = half_size - depth;
    rig_open_gate(&r, (vec3){0, 0, half_size + 0.01});
    for (int i = 1; i <= 500; i++)
        rig_tick(&r, (vec3){0, 0, half_size + 0.01 - (0.01 + depth) * i / 500.0});
    vec3 last = r.record.force;
    /* along x on the top, around the edge at the same depth, down the side */
    for (double s = 0; s < 2 * half_size; s += speed * 1e-3) {
        vec3 at = {s, 0, level};
        if (s > level)
            at = (vec3){level, 0, 2 * level - s};
        rig_tick(&r, at);
        worst = fmax(worst, vec3_distance(r.record.force, last));
        last = r.record.force;
    }
    rig_stop(&r);
    return worst;
}

static double unit_random(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 16777216.0;
}

int feel_body_thin(const char *file, double scale, int trials)
{
    int passed = 0;
    unsigned seed = 5;
    for (int t = 0; t < trials; t++) {
        rig r;
        rig_init(&r);
        add_body(&r, file, scale);
        r.settings.safety.max_force_n = r.device.max_force = 40;
        rig_start(&r);
        double x = 0.012 * (2 * unit_random(&seed) - 1);
        double y = 0.012 * (2 * unit_random(&seed) - 1);
        double side = t % 2 ? 1 : -1;
        double reach = 0.004 + 0.004 * unit_random(&seed);
        rig_open_gate(&r, (vec3){x, y, 0.02 * side});
        for (int i = 0; i <= 400; i++)
            rig_tick(&r, (vec3){x, y, side * (0.02 - (0.02 + reach) * i / 400.0)});
        for (int i = 0; i < 200; i++)
            rig_tick(&r, (vec3){x + 1e-5 * i, y, -side * reach});
        passed += r.record.proxy.z * side < 0;
        rig_stop(&r);
    }
    return passed;
}
