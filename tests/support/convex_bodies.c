#include "tests/support/convex_bodies.h"

#include "geometry/body_draft.h"
#include "geometry/nurbs_shapes.h"

static const double pi = 3.14159265358979323846;

/* A rational biquadratic patch from points [u][v] and weights. */
static void add_patch(body_draft *d, vec3 p[3][3], double w[3][3])
{
    const double knots[6] = {0, 0, 0, 1, 1, 1};
    double points[36];
    hr_error error = {""};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double *out = points + 4 * (3 * i + j);
            out[0] = w[i][j] * p[i][j].x;
            out[1] = w[i][j] * p[i][j].y;
            out[2] = w[i][j] * p[i][j].z;
            out[3] = w[i][j];
        }
    nurbs_surface *s = body_draft_add_surface(d, 0);
    if (!s || nurbs_surface_make((const int[2]){2, 2}, (const int[2]){3, 3}, knots, 6, knots, 6,
                                 points, s, &error) != HR_OK)
        fail_msg("convex body: %s", error.text);
}

/* Meridians are conic arcs from pole to pole; each patch bulges a little less than a circle, so
 * that the edges between patches are sharp. An affine map of it stays convex. */
static void draft_lemon(test_random *r, body_draft *d)
{
    int patches = 3 + test_random_index(r, 3);
    double height = test_random_between(r, 0.5, 1.2);
    double girth = test_random_between(r, 0.7, 1.4);
    double weight_v = test_random_between(r, 0.6, 0.9);
    double weight_u = test_random_between(r, 0.75, 0.95);
    double turn = test_random_between(r, 0, 2 * pi);
    double stretch = test_random_between(r, 0.8, 1.25);
    /* the middle control point of a circle's arc is at 1 / cos(half angle) */
    double bulge = 1.0 + test_random_between(r, 0.3, 0.8) * (1.0 / cos(pi / patches) - 1.0);
    for (int k = 0; k < patches; k++) {
        vec3 p[3][3];
        double w[3][3];
        for (int i = 0; i < 3; i++) {
            double a = turn + 2 * pi * (k + 0.5 * i) / patches;
            double out = girth * (i == 1 ? bulge : 1.0);
            for (int j = 0; j < 3; j++) {
                double at = j == 1 ? out : 0;
                p[i][j] = (vec3){stretch * at * cos(a), at * sin(a), height * (j - 1)};
                w[i][j] = (i == 1 ? weight_u : 1.0) * (j == 1 ? weight_v : 1.0);
            }
        }
        add_patch(d, p, w);
    }
}

/* A square frustum under an affine map: flat faces, written as biquadratic patches. */
static void draft_block(test_random *r, body_draft *d)
{
    vec3 half = {test_random_between(r, 0.4, 1.0), test_random_between(r, 0.4, 1.0),
                 test_random_between(r, 0.4, 1.0)};
    double taper = test_random_between(r, 0.0, 0.4);
    double shear = test_random_between(r, -0.3, 0.3);
    for (int axis = 0; axis < 3; axis++)
        for (int side = -1; side <= 1; side += 2) {
            vec3 p[3][3];
            double w[3][3];
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    double c[3];
                    c[axis] = side;
                    c[(axis + 1) % 3] = side * (i - 1.0);
                    c[(axis + 2) % 3] = j - 1.0;
                    double shrink = 1.0 - taper * c[2];
                    p[i][j] = (vec3){half.x * shrink * c[0] + shear * c[2], half.y * shrink * c[1],
                                     half.z * c[2]};
                    w[i][j] = 1.0;
                }
            add_patch(d, p, w);
        }
}

static void draft_round(test_random *r, body_draft *d)
{
    nurbs_shape s = {NURBS_ELLIPSOID,
                     {test_random_between(r, 0.5, 1.3), test_random_between(r, 0.5, 1.3),
                      test_random_between(r, 0.5, 1.3)}};
    hr_error error = {""};
    nurbs_surface *out = body_draft_add_surface(d, 0);
    if (!out || nurbs_shape_make(&s, pose_identity(), out, &error) != HR_OK)
        fail_msg("convex body: %s", error.text);
}

parametric_body convex_body(test_random *r, convex_kind kind)
{
    body_draft d = {.file = "random body"};
    parametric_body b;
    hr_error error = {""};
    if (kind == CONVEX_LEMON)
        draft_lemon(r, &d);
    else if (kind == CONVEX_BLOCK)
        draft_block(r, &d);
    else
        draft_round(r, &d);
    d.must_be_convex = d.must_be_closed = true;
    if (body_build(&d, &b, &error) != HR_OK)
        fail_msg("convex body: %s", error.text);
    body_draft_free(&d);
    return b;
}
