/* How meshes feel: the imposed path of the workloads, 2 mm below the surface, over balls and blobs
 * of 2 000, 20 480 and 200 000 triangles, with a point and with spheres of 0.4 and 2 mm. An imposed
 * path exaggerates what a hand would feel. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collide/touch_mesh.h"
#include "server/proxy.h"
#include "tests/bench/bench.h"
#include "tests/support/geodesic.h"

enum { TICKS = 20000, ENTRY = 500 };

static const double stiffness = 1500, depth_m = 0.002;
static const int frequencies[3] = {10, 32, 100};
static const double radii[3] = {0, 0.0004, 0.002};

typedef struct path {
    bool is_blob;
    double speed;  /* m/s */
    bool is_tap;   /* depth 3 mm sin at 10 Hz */
    double radius; /* m, of the tool */
} path;

/* The tool's centre at a tick, and the surface's direction there. */
static vec3 tool_at(const path *w, int tick, vec3 *direction)
{
    double a = tick < ENTRY ? 0 : (tick - ENTRY) * w->speed * 1e-3 / 0.024;
    double latitude = 0.7 * sin(0.37 * a);
    vec3 u = {cos(a) * cos(latitude), sin(a) * cos(latitude), sin(latitude)};
    double surface = w->is_blob ? blob_radius(u) : 0.024;
    double depth = w->is_tap ? 0.003 * sin(2 * M_PI * 10 * tick * 1e-3) : depth_m;
    if (tick < ENTRY)
        depth = -0.004 + (depth + 0.004) * tick / ENTRY;
    *direction = u;
    return vec3_scale(surface + w->radius - depth, u);
}

typedef struct figures {
    double error; /* relative RMS of the force against the exact sphere */
    double step;  /* N, largest change from tick to tick */
    int lost;     /* ticks with the proxy over 4 mm away though the surface is 2 mm away */
    double *ns;   /* TICKS - ENTRY update times */
} figures;

static void run(const touch_mesh *m, const path *w, figures *out)
{
    shape s = {.kind = SHAPE_MESH, .mesh = m};
    proxy *p = calloc(1, sizeof *p);
    contact_frame *f = calloc(1, sizeof *f);
    proxy_init(p, &s, 1, w->radius, 1);
    f->sequence = 1;
    f->body_count = 1;
    f->bodies[0] = (frame_body){
        .key = 1, .world_from_body = pose_identity(), .material = {stiffness, 0, 0, 0}};
    (void)proxy_frame(p, f);
    double sum = 0, exact_sum = 0;
    vec3 last = {0, 0, 0};
    out->step = out->lost = 0;
    for (int i = 0; i < TICKS; i++) {
        vec3 u, tool = tool_at(w, i, &u);
        int64_t start = bench_now_ns();
        proxy_move(p, tool, 1000000LL * i, 1e-3);
        int64_t took = bench_now_ns() - start;
        vec3 force = vec3_scale(stiffness, vec3_sub(p->position, tool));
        if (i > ENTRY) {
            vec3 exact = vec3_scale(stiffness * depth_m, u);
            out->ns[i - ENTRY - 1] = (double)took;
            sum += vec3_length_squared(vec3_sub(force, exact));
            exact_sum += vec3_length_squared(exact);
            out->step = fmax(out->step, vec3_distance(force, last));
            out->lost += vec3_distance(p->position, tool) > 0.004;
        }
        last = force;
    }
    out->error = sqrt(sum / exact_sum);
    free(p);
    free(f);
}

static touch_mesh *made(bool is_blob, int frequency)
{
    mesh m = is_blob ? geodesic_blob(frequency) : geodesic_sphere(frequency, 0.024);
    touch_mesh *out = NULL;
    if (touch_mesh_create(&m, TOUCH_MESH_CREASE_RAD, &out) != HR_OK)
        exit(1);
    mesh_free(&m);
    return out;
}

int main(void)
{
    static double ns[TICKS];
    const int timed = TICKS - ENTRY - 1;
    figures f = {.ns = ns};
    double error = 0, step = 0, lost = 0;
    for (int k = 0; k < 3; k++) {
        touch_mesh *ball = made(false, frequencies[k]), *blob = made(true, frequencies[k]);
        for (int r = 0; r < 3; r++) {
            run(ball, &(path){false, 0.5, false, radii[r]}, &f);
            printf("ball of %6d, tool %.1f mm: error %.3f %%, step %.4f N\n", ball->triangle_count,
                   1e3 * radii[r], 100 * f.error, f.step);
            error = fmax(error, f.error);
            step = fmax(step, f.step);
            if (k == 2 && r == 0) {
                bench_report("feel_03_update", ns, timed);
                bench_value("feel_03", ns[timed / 2] * 1e-3, "us"); /* sorted by the report */
            }
            if (k == 2 && r == 2) {
                bench_report("feel_04_update", ns, timed);
                bench_value("feel_04", ns[timed * 99 / 100] * 1e-3, "us");
            }
            for (int way = 0; way < 3; way++) {
                run(blob, &(path){true, way == 0 ? 0.5 : 0.1, way == 2, radii[r]}, &f);
                lost = fmax(lost, 100.0 * f.lost / timed);
            }
        }
        touch_mesh_destroy(ball);
        touch_mesh_destroy(blob);
    }
    bench_value("feel_05_mesh", 100 * error, "%");
    bench_value("feel_06_mesh", step, "N");
    bench_value("feel_07_mesh", lost, "%");
    return 0;
}
