#include "server/skin.h"

#include <stdlib.h>

#include "collide/touch_mesh.h"
#include "geometry/parametric_body.h"

static const double PI = 3.14159265358979323846;

static hr_status add_piece(skin *s, const vec3 *corners, int count, vec3 normal)
{
    if (s->count == s->room) {
        int room = s->room ? 2 * s->room : 256;
        skin_piece *more = realloc(s->pieces, (size_t)room * sizeof *more);
        if (!more)
            return HR_ERR_MEMORY;
        s->pieces = more;
        s->room = room;
    }
    skin_piece *p = &s->pieces[s->count++];
    *p = (skin_piece){.count = count, .normal = normal};
    for (int i = 0; i < count; i++)
        p->corners[i] = corners[i];
    return HR_OK;
}

/* Newell's normal of a polygon: right also where two corners fall together, at a pole. */
static vec3 polygon_normal(const vec3 *corners, int count)
{
    vec3 sum = {0, 0, 0};
    for (int i = 0; i < count; i++)
        sum = vec3_add(sum, vec3_cross(corners[i], corners[(i + 1) % count]));
    return vec3_normalize_or(sum, (vec3){0, 0, 0});
}

/* --- surfaces with two parameters ------------------------------------------------------------- */

/* A point of a surface; u and v from 0 to 1, right-handed: u x v points out. */
typedef vec3 (*surface_point)(const void *surface, double u, double v);

static int steps(double length, double size, int low, int high)
{
    double n = ceil(length / size);
    return n > high ? high : n < low ? low : (int)n;
}

static hr_status add_grid(skin *s, surface_point at, const void *surface, int nu, int nv)
{
    hr_status status = HR_OK;
    for (int i = 0; i < nu && status == HR_OK; i++)
        for (int j = 0; j < nv && status == HR_OK; j++) {
            double u0 = (double)i / nu, u1 = (i + 1.0) / nu;
            double v0 = (double)j / nv, v1 = (j + 1.0) / nv;
            vec3 corners[4] = {at(surface, u0, v0), at(surface, u1, v0), at(surface, u1, v1),
                               at(surface, u0, v1)};
            status = add_piece(s, corners, 4, polygon_normal(corners, 4));
        }
    return status;
}

typedef struct square {
    vec3 middle, across, up; /* half sides */
} square;

static vec3 square_point(const void *surface, double u, double v)
{
    const square *q = surface;
    return vec3_add(q->middle,
                    vec3_add(vec3_scale(2 * u - 1, q->across), vec3_scale(2 * v - 1, q->up)));
}

static hr_status add_square(skin *s, square q, double size)
{
    return add_grid(s, square_point, &q, steps(2 * vec3_length(q.across), size, 1, 64),
                    steps(2 * vec3_length(q.up), size, 1, 64));
}

/* Bands of latitude of a ball that may be stretched and lifted, and the straight part of a tube. */
typedef struct band {
    vec3 half_size;
    double lift;      /* m, along z */
    double low, high; /* rad, latitudes */
} band;

static vec3 band_point(const void *surface, double u, double v)
{
    const band *b = surface;
    double turn = 2 * PI * u, tilt = b->low + v * (b->high - b->low);
    return (vec3){b->half_size.x * cos(tilt) * cos(turn), b->half_size.y * cos(tilt) * sin(turn),
                  b->half_size.z * sin(tilt) + b->lift};
}

typedef struct tube {
    double radius, half_length;
} tube;

static vec3 tube_point(const void *surface, double u, double v)
{
    const tube *t = surface;
    double turn = 2 * PI * u;
    return (vec3){t->radius * cos(turn), t->radius * sin(turn), (2 * v - 1) * t->half_length};
}

static int steps_around(vec3 half_size, double size)
{
    double widest = fmax(half_size.x, fmax(half_size.y, half_size.z));
    return steps(2 * PI * widest, size, 12, 96);
}

static hr_status add_ball(skin *s, vec3 half_size, double size)
{
    int around = steps_around(half_size, size);
    band whole = {half_size, 0, -0.5 * PI, 0.5 * PI};
    return add_grid(s, band_point, &whole, around, around / 2);
}

static hr_status add_capsule(skin *s, double radius, double half_length, double size)
{
    vec3 half_size = {radius, radius, radius};
    int around = steps_around(half_size, size), quarter = around / 4;
    band bottom = {half_size, -half_length, -0.5 * PI, 0},
         top = {half_size, half_length, 0, 0.5 * PI};
    tube middle = {radius, half_length};
    hr_status status = add_grid(s, band_point, &bottom, around, quarter);
    if (status == HR_OK)
        status = add_grid(s, band_point, &top, around, quarter);
    if (status == HR_OK && half_length > 0)
        status = add_grid(s, tube_point, &middle, around, steps(2 * half_length, size, 1, 64));
    return status;
}

static hr_status add_box(skin *s, vec3 half, double size)
{
    vec3 x = {half.x, 0, 0}, y = {0, half.y, 0}, z = {0, 0, half.z};
    square sides[6] = {{x, y, z}, {vec3_negate(x), z, y}, {y, z, x}, {vec3_negate(y), x, z},
                       {z, x, y}, {vec3_negate(z), y, x}};
    hr_status status = HR_OK;
    for (int i = 0; i < 6 && status == HR_OK; i++)
        status = add_square(s, sides[i], 2 * size); /* flat: coarse will do */
    return status;
}

/* --- parametric bodies ------------------------------------------------------------------------ */

typedef struct face_surface {
    const parametric_body *body;
    int face;
} face_surface;

static vec3 face_point(const void *surface, double u, double v)
{
    const face_surface *s = surface;
    const body_face *f = &s->body->faces[s->face];
    /* the other way round where the outward normal is -f_u x f_v */
    double a = f->outward > 0 ? u : v, b = f->outward > 0 ? v : u;
    jet j;
    body_face_jet(s->body, s->face, f->low[0] + a * (f->high[0] - f->low[0]),
                  f->low[1] + b * (f->high[1] - f->low[1]), NULL, &j);
    return j.p;
}

/* Length of the longest of a few lines of constant v (or u). */
static double longest_line(const face_surface *s, bool along_u)
{
    enum { LINES = 5, PARTS = 8 };
    double longest = 0;
    for (int k = 0; k < LINES; k++) {
        double length = 0, other = (double)k / (LINES - 1);
        vec3 before = face_point(s, along_u ? 0 : other, along_u ? other : 0);
        for (int i = 1; i <= PARTS; i++) {
            double t = (double)i / PARTS;
            vec3 now = face_point(s, along_u ? t : other, along_u ? other : t);
            length += vec3_distance(before, now);
            before = now;
        }
        longest = fmax(longest, length);
    }
    return longest;
}

static hr_status add_surface(skin *s, const parametric_body *body, double size)
{
    hr_status status = HR_OK;
    for (int i = 0; i < body->face_count && status == HR_OK; i++) {
        face_surface f = {body, i};
        int first = s->count;
        status = add_grid(s, face_point, &f, steps(longest_line(&f, true), size, 4, 64),
                          steps(longest_line(&f, false), size, 4, 64));
        for (int k = first; k < s->count && !body->is_closed; k++)
            s->pieces[k].normal = (vec3){0, 0, 0}; /* an open sheet has two sides */
    }
    return status;
}

/* --- meshes ----------------------------------------------------------------------------------- */

/* A vertex snapped to a grid of cells, so that a fine mesh becomes a coarse one of its vertices. */
static uint64_t cell_of(vec3 p, double size)
{
    const double middle = 1 << 20;
    uint64_t x = (uint64_t)(floor(p.x / size) + middle), y = (uint64_t)(floor(p.y / size) + middle),
             z = (uint64_t)(floor(p.z / size) + middle);
    return (x & 0x1fffff) << 42 | (y & 0x1fffff) << 21 | (z & 0x1fffff);
}

typedef struct snapped {
    uint64_t cell;
    int vertex;
} snapped;

static int by_cell(const void *a, const void *b)
{
    const snapped *x = a, *y = b;
    if (x->cell != y->cell)
        return x->cell < y->cell ? -1 : 1;
    return x->vertex - y->vertex;
}

/* For every vertex the mean place of all vertices in its cell. */
static hr_status thin_out(const touch_mesh *m, double size, vec3 *place)
{
    size_t n = (size_t)m->vertex_count;
    snapped *list = malloc(n * sizeof *list);
    vec3 *own = calloc(n, sizeof *own);
    hr_status status = list && own ? HR_OK : HR_ERR_MEMORY;
    for (int i = 0; i < m->triangle_count && status == HR_OK; i++)
        for (int k = 0; k < 3; k++)
            own[m->triangles[i].vertex[k]] = m->triangles[i].corners[k];
    for (size_t i = 0; i < n && status == HR_OK; i++)
        list[i] = (snapped){cell_of(own[i], size), (int)i};
    if (status == HR_OK)
        qsort(list, n, sizeof *list, by_cell);
    for (size_t i = 0; i < n && status == HR_OK;) {
        size_t end = i;
        vec3 sum = {0, 0, 0};
        for (; end < n && list[end].cell == list[i].cell; end++)
            sum = vec3_add(sum, own[list[end].vertex]);
        for (size_t k = i; k < end; k++)
            place[list[k].vertex] = vec3_scale(1.0 / (double)(end - i), sum);
        i = end;
    }
    free(list);
    free(own);
    return status;
}

static bool is_same(vec3 a, vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static hr_status add_mesh(skin *s, const touch_mesh *m, double size)
{
    double area = 0;
    for (int i = 0; i < m->triangle_count; i++) {
        const vec3 *c = m->triangles[i].corners;
        area += 0.5 * vec3_length(vec3_cross(vec3_sub(c[1], c[0]), vec3_sub(c[2], c[0])));
    }
    bool is_fine = area / m->triangle_count < 0.25 * size * size;
    vec3 *place = is_fine ? calloc((size_t)m->vertex_count, sizeof *place) : NULL;
    hr_status status = is_fine && !place ? HR_ERR_MEMORY : HR_OK;
    if (is_fine && status == HR_OK)
        status = thin_out(m, size, place);
    for (int i = 0; i < m->triangle_count && status == HR_OK; i++) {
        const touch_triangle *t = &m->triangles[i];
        vec3 c[3];
        for (int k = 0; k < 3; k++)
            c[k] = place ? place[t->vertex[k]] : t->corners[k];
        if (is_same(c[0], c[1]) || is_same(c[1], c[2]) || is_same(c[2], c[0]))
            continue;
        status = add_piece(s, c, 3, m->is_closed ? polygon_normal(c, 3) : (vec3){0, 0, 0});
    }
    free(place);
    return status;
}

hr_status skin_make(const shape *s, double size, vec3 middle, double reach, skin *out)
{
    skin made = {0};
    hr_status status = HR_OK;
    switch (s->kind) {
    case SHAPE_PLANE:
        status = add_square(&made, (square){{middle.x, middle.y, 0}, {reach, 0, 0}, {0, reach, 0}},
                            reach / 8);
        break;
    case SHAPE_SPHERE:
        status = add_ball(&made, (vec3){s->radius, s->radius, s->radius}, size);
        break;
    case SHAPE_ELLIPSOID:
        status = add_ball(&made, s->half_size, size);
        break;
    case SHAPE_CAPSULE:
        status = add_capsule(&made, s->radius, s->half_length, size);
        break;
    case SHAPE_BOX:
        status = add_box(&made, s->half_size, size);
        break;
    case SHAPE_PARAMETRIC:
        status = add_surface(&made, s->surface, size);
        break;
    case SHAPE_MESH:
        status = add_mesh(&made, s->mesh, size);
        break;
    }
    if (status == HR_OK)
        *out = made;
    else
        skin_free(&made);
    return status;
}

void skin_free(skin *s)
{
    free(s->pieces);
    *s = (skin){0};
}
