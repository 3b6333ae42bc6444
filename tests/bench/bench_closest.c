/* Proven nearest points: time per query, beside OpenCASCADE's global projection on one surface, and
 * how it grows with the number of pieces and triangles. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "collide/mesh_closest.h"
#include "geometry/body_closest.h"
#include "geometry/body_draft.h"
#include "tests/bench/bench.h"
#include "tests/bench/peer_closest.h"

enum { QUERIES = 2000 };

static double ours[QUERIES], theirs[QUERIES];

static uint64_t state = 7;
static double random_between(double low, double high)
{
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return low + (high - low) * (double)(state >> 11) * 0x1p-53;
}

static vec3 point_near(vec3 low, vec3 high)
{
    vec3 size = vec3_sub(high, low);
    return (vec3){low.x + size.x * random_between(-0.5, 1.5),
                  low.y + size.y * random_between(-0.5, 1.5),
                  low.z + size.z * random_between(-0.5, 1.5)};
}

static parametric_body load(const char *path)
{
    parametric_body b;
    hr_error error = {""};
    if (parametric_body_load(path, &b, &error) != HR_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    return b;
}

/* How much farther ours is than theirs, at worst, goes along as a figure. */
static void against_occt(const char *name, const char *path)
{
    parametric_body b = load(path);
    body_finder *finder = body_finder_create(&b);
    const nurbs_surface *s = &b.surfaces[0];
    void *peer = peer_surface_create(s->degree, s->count, s->knots[0], s->knots[1], s->points);
    double worst = 0;
    int n = QUERIES / 4;
    for (int i = 0; i < n; i++) {
        vec3 q = point_near(b.box_low, b.box_high);
        body_nearest found = {0};
        int64_t start = bench_now_ns();
        hr_status status = body_find_nearest(finder, q, &found);
        int64_t middle = bench_now_ns();
        double distance = peer_surface_distance(peer, q.x, q.y, q.z);
        int64_t end = bench_now_ns();
        ours[i] = (double)(middle - start);
        theirs[i] = (double)(end - middle);
        if (status != HR_OK)
            exit(1);
        if (distance >= 0)
            worst = fmax(worst, (fabs(found.distance) - distance) / b.size);
    }
    bench_compare(name, ours, n, "OpenCASCADE GeomAPI_ProjectPointOnSurf", theirs, n);
    bench_extra("farther_than_peer", worst);
    peer_surface_destroy(peer);
    body_finder_destroy(finder);
    parametric_body_free(&b);
}

static void time_body(const char *name, const parametric_body *b)
{
    body_finder *finder = body_finder_create(b);
    double nodes = 0;
    for (int i = 0; i < QUERIES; i++) {
        vec3 q = point_near(b->box_low, b->box_high);
        body_nearest found = {0};
        int64_t start = bench_now_ns();
        if (body_find_nearest(finder, q, &found) != HR_OK)
            exit(1);
        ours[i] = (double)(bench_now_ns() - start);
        nodes += found.nodes;
    }
    bench_report(name, ours, QUERIES);
    bench_extra("pieces_looked_at", nodes / QUERIES);
    body_finder_destroy(finder);
}

/* A hilly bicubic sheet of n x n pieces. */
static parametric_body sheet(int n)
{
    int degree[2] = {3, 3}, count[2] = {n + 3, n + 3};
    double *knots = malloc((size_t)(n + 7) * sizeof *knots);
    double *points = malloc((size_t)(n + 3) * (size_t)(n + 3) * 4 * sizeof *points);
    body_draft d = {.file = "sheet"};
    nurbs_surface *s = body_draft_add_surface(&d, 0);
    parametric_body b = {0};
    hr_error error = {""};
    if (!knots || !points || !s)
        exit(1);
    for (int i = 0; i < n + 7; i++)
        knots[i] = fmin(fmax(i - 3, 0), n);
    for (int i = 0; i < count[0] * count[1]; i++) {
        int row = i / count[1], column = i % count[1];
        double p[4] = {row, column, 0.8 * sin(1.3 * row) * cos(0.9 * column), 1.0};
        for (int c = 0; c < 4; c++)
            points[4 * i + c] = p[c];
    }
    if (nurbs_surface_make(degree, count, knots, n + 7, knots, n + 7, points, s, &error) != HR_OK ||
        body_build(&d, &b, &error) != HR_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    body_draft_free(&d);
    free(knots);
    free(points);
    return b;
}

static void time_mesh(const char *name, int rings)
{
    mesh m = {0};
    if (mesh_make_sphere(1.0, rings, 2 * rings, &m) != HR_OK)
        exit(1);
    mesh_finder *finder = mesh_finder_create(&m);
    for (int i = 0; i < QUERIES; i++) {
        vec3 q = point_near((vec3){-1, -1, -1}, (vec3){1, 1, 1});
        mesh_nearest found = {0};
        int64_t start = bench_now_ns();
        if (mesh_find_nearest(finder, q, &found) != HR_OK)
            exit(1);
        ours[i] = (double)(bench_now_ns() - start);
        bench_keep(found.distance);
    }
    bench_report(name, ours, QUERIES);
    bench_extra("triangles", m.triangle_count);
    mesh_finder_destroy(finder);
    mesh_free(&m);
}

int main(void)
{
    against_occt("closest_vs_occt_egg", "config/bodies/egg.json");
    against_occt("closest_vs_occt_waves", "config/bodies/waves.json");
    static const char *const bodies[] = {"sphere-six", "teapot"};
    for (int i = 0; i < HR_COUNT(bodies); i++) {
        char path[100], name[100];
        snprintf(path, sizeof path, "config/bodies/%s.json", bodies[i]);
        snprintf(name, sizeof name, "closest_%s", bodies[i]);
        parametric_body b = load(path);
        time_body(name, &b);
        parametric_body_free(&b);
    }
    for (int n = 4; n <= 64; n *= 4) {
        char name[100];
        snprintf(name, sizeof name, "closest_sheet_%d_pieces", n * n);
        parametric_body b = sheet(n);
        time_body(name, &b);
        parametric_body_free(&b);
    }
    time_mesh("closest_mesh_4k", 32);
    time_mesh("closest_mesh_260k", 256);
    return 0;
}
