#include "tests/support/feel_grip.h"

#include <math.h>
#include <stdio.h>

#include "server/proxy.h"

enum { SURFACE_MM = -5 }; /* of the plane, below the middle of the workspace */

grip_case grip_case_usual(double stiffness)
{
    return (grip_case){
        .stiffness = stiffness, .damping = 2, .device_friction = -1, .tremor = 20e-6};
}

/* "0 0 V" or "V 0 0", by axis. */
static const char *along(int axis, double v, char *out, int size)
{
    snprintf(out, (size_t)size, axis ? "%g 0 0" : "0 0 %g", v);
    return out;
}

static void start(grip_rig *g, const grip_case *c, const grip *how, const char *script)
{
    *g = (grip_rig){0};
    rig_init(&g->rig);
    scene_body *b = rig_body(&g->rig, SCENE_PLANE);
    double surface = SURFACE_MM * 1e-3;
    b->material.stiffness_n_per_m = c->stiffness;
    b->material.static_friction = c->static_friction;
    b->material.kinetic_friction = c->kinetic_friction;
    b->world_from_body.origin = c->axis ? (vec3){surface, 0, 0} : (vec3){0, 0, surface};
    if (c->axis)
        b->world_from_body.rotation = quat_from_rotation_vector((vec3){0, M_PI / 2, 0});
    config *s = &g->rig.settings;
    s->coupling.stiffness_n_per_m = 1e5;
    s->coupling.damping_n_s_per_m = c->damping;
    if (c->is_layer_off)
        s->safety.passivity_damping_max_n_s_per_m = s->coupling.damping_n_s_per_m = 0;
    char friction[32];
    snprintf(friction, sizeof friction, "%g", c->device_friction);
    const char *const more[] = {"device_friction_n", friction, NULL};
    grip_start(g, how, script, c->tremor, c->device_friction >= 0 ? more : NULL);
    if (!c->is_layer_off)
        return;
    /* A hand that thinks its device is ahead by half a period does not look ahead. */
    int count;
    const shape *shapes = world_shapes(g->rig.world, &count);
    hand_destroy(g->rig.hand);
    g->rig.device.latency = -0.5 / s->servo.rate_hz;
    g->rig.hand = hand_create(s, 0, &g->rig.device, shapes, count);
}

static double normal_of(const grip_case *c, vec3 v)
{
    return c->axis ? v.x : v.z;
}

grip_energy feel_energy(const grip_case *c, const grip *how)
{
    char script[400], p[5][40];
    double surface = SURFACE_MM * 1e-3;
    snprintf(script, sizeof script,
             "hold 0.5; move %s over 0.4; tap %s times 4 over 2; tap %s times 8 over 1.5;"
             "hold 0.5 pressing %s; hold 0.3; hold 0.4 pressing %s; move 0 0 0 over 0.3",
             along(c->axis, surface + 0.004, p[0], 40), along(c->axis, -0.010, p[1], 40),
             along(c->axis, -0.007, p[2], 40), along(c->axis, -3, p[3], 40),
             along(c->axis, -6, p[4], 40));
    grip_rig g;
    start(&g, c, how, script);
    grip_energy e = {.worst = -1, .worst_raw = -1};
    double before = 0, variation = 0;
    vec3 last = {0, 0, 0};
    int quiet = 10;
    for (int i = 0; i < 6000; i++) {
        grip_tick(&g);
        vec3 f = g.rig.record.force;
        bool is_pushing = vec3_length_squared(f) > 0;
        if (is_pushing && quiet >= 10) { /* an episode begins: nothing has been pushed yet */
            before = g.put;
            variation = 0;
            e.episodes++;
        }
        variation += vec3_distance(f, last);
        last = f;
        quiet = is_pushing ? 0 : quiet + 1;
        /* The last force has run out two exchanges after it was sent. */
        if (quiet != 5 || e.episodes == 0)
            continue;
        double bound = 0.5 * g.rig.device.position_resolution * variation;
        double out = g.put - before;
        e.worst_raw = fmax(e.worst_raw, out);
        if (out - bound > e.worst) {
            e.worst = out - bound;
            e.bound = bound;
        }
    }
    grip_stop(&g);
    return e;
}

/* Presses with 3 N after a knock, and calls `look` for every tick of the last half second. */
static void press(const grip_case *c, const grip *how,
                  void (*look)(void *self, const grip_rig *g, const grip_case *c), void *self)
{
    char script[300], p[3][40];
    double surface = SURFACE_MM * 1e-3;
    snprintf(script, sizeof script,
             "hold 0.5; move %s over 0.3; tap %s times 2 over 0.3; hold 2 "
             "pressing %s",
             along(c->axis, surface + 0.001, p[0], 40), along(c->axis, -0.008, p[1], 40),
             along(c->axis, -3 - how->stiffness * 0.001, p[2], 40));
    grip_rig g;
    start(&g, c, how, script);
    for (int i = 0; i < 3000; i++) {
        grip_tick(&g);
        if (i >= 1500 && i < 3000)
            look(self, &g, c);
    }
    grip_stop(&g);
}

typedef struct range {
    int count;
    double low, high;
} range;

static void look_at_place(void *self, const grip_rig *g, const grip_case *c)
{
    range *r = self;
    sim_truth t;
    sim_truth_of(g->dev, &t);
    double x = normal_of(c, t.position);
    if (++r->count <= 1000)
        return;
    r->low = r->count == 1001 ? x : fmin(r->low, x);
    r->high = r->count == 1001 ? x : fmax(r->high, x);
}

double feel_swing(const grip_case *c, const grip *how)
{
    range r = {0};
    press(c, how, look_at_place, &r);
    return r.high - r.low;
}

/* Second-order Butterworth high-pass at 20 Hz, 1 kHz sampling (bilinear). */
typedef struct high_pass {
    int count;
    double x1, x2, y1, y2, sum;
} high_pass;

static void look_at_force(void *self, const grip_rig *g, const grip_case *c)
{
    high_pass *h = self;
    double k = tan(M_PI * 20 * 1e-3), n = 1 / (1 + M_SQRT2 * k + k * k);
    double x = normal_of(c, g->rig.record.force);
    if (h->count == 0)
        h->x1 = h->x2 = x;
    double y = n * (x - 2 * h->x1 + h->x2) - n * (2 * (k * k - 1) * h->y1) -
               n * (1 - M_SQRT2 * k + k * k) * h->y2;
    h->x2 = h->x1;
    h->x1 = x;
    h->y2 = h->y1;
    h->y1 = y;
    if (++h->count > 500)
        h->sum += y * y;
}

double feel_ripple(const grip_case *c, const grip *how)
{
    high_pass h = {0};
    press(c, how, look_at_force, &h);
    return sqrt(h.sum / (h.count - 500));
}

double feel_grip_friction(const grip_case *c, const grip *how, int *breaks)
{
    grip_case rough = *c;
    rough.static_friction = 0.6;
    rough.kinetic_friction = 0.4;
    rough.axis = 0;
    char script[900];
    /* The hand's own spring presses with 5 N and pulls sideways with up to 4 N beyond friction. */
    double below = SURFACE_MM * 1e-3 - 5 / how->stiffness, aside = 0.008 + 4 / how->stiffness;
    int used = snprintf(script, sizeof script, "hold 0.5; move 0 0 %g over 0.5; ", below);
    for (int i = 0; i < 8; i++)
        used += snprintf(script + used, sizeof script - (size_t)used,
                         "slide %g 0 %g over 0.5; hold 0.2; ", i % 2 ? -aside : aside, below);
    grip_rig g;
    start(&g, &rough, how, script);
    double peak = 0, peaks = 0, sliding = 0;
    int broken = 0, slid = 0, since = 0;
    for (int i = 0; i < 1000 + 8 * 700; i++) {
        grip_tick(&g);
        vec3 f = g.rig.record.force;
        bool is_sticking = (g.rig.record.tracker_flags & PROXY_STICKS) != 0;
        if (i < 1000 || !(f.z > 1))
            continue;
        double ratio = hypot(f.x, f.y) / f.z;
        /* Slipping for 10 ms: what it held last was the break-away. */
        if (is_sticking) {
            peak = ratio;
            since = 0;
        } else if (++since == 1) {
            peak = fmax(peak, ratio);
        } else if (since == 10 && peak > 0.5) {
            peaks += peak;
            broken++;
        }
        if (since > 20) {
            sliding += ratio;
            slid++;
        }
    }
    grip_stop(&g);
    if (breaks)
        *breaks = broken;
    if (broken == 0 || slid == 0)
        return 1;
    return fmax(fabs(peaks / broken - 0.6) / 0.6, fabs(sliding / slid - 0.4) / 0.4);
}
