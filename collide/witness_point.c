#include "collide/witness_point.h"

/* Of a Bezier piece: off by 1e-6 of its size on the way, exact at rest, where the proxy ends its
 * rounds. */
static const double taylor_share = 0.02;

enum { ROUNDS = 6, CORRECTORS = 2, SEEK_STEPS = 40 };

HR_RT static uint32_t correct(const witness_body *b, witness_place *p, vec3 point)
{
    static const witness_motion rest = {.rotation = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
    witness_system s;
    witness_box box;
    double dx[WITNESS_UNKNOWNS];
    jet h;
    if (p->feature == WITNESS_VERTEX)
        return 0;
    h.p = point;
    witness_law(&p->at, (int)p->feature, &h, 0, &rest, &s);
    witness_place_box(b, p, 0, &box);
    box.size = b->size;
    uint32_t flags = witness_solve(&s, 1.0, 0.0, 1.0, &box, dx);
    witness_place_correct(b, p, dx, taylor_share);
    return flags;
}

HR_RT static bool settle(const witness_body *b, witness_place *p, vec3 point, bool *is_cycling)
{
    for (int round = 0; round < ROUNDS; round++)
        if (!witness_transit(b, p, point))
            return round > 0;
    *is_cycling = true;
    return true;
}

HR_RT static void measure(const witness_body *b, const witness_place *p, vec3 point,
                          witness_touch *out)
{
    vec3 apart = vec3_sub(point, p->at.p);
    double d = vec3_length(apart);
    if (p->feature == WITNESS_FACE) {
        out->normal = witness_normal(&p->at, witness_place_outward(b, p));
        out->gap = vec3_dot(out->normal, apart);
        /* at a pole the face has no normal, but the difference is one */
        if (vec3_length_squared(out->normal) == 0.0)
            out->normal = vec3_normalize_or(apart, (vec3){0, 0, 0});
        double beside = d * d - out->gap * out->gap;
        out->slope = beside > 0.0 ? sqrt(beside) : 0.0;
        return;
    }
    /* Within rounding of an edge or vertex its own mean normal is the better direction. */
    vec3 mean = witness_place_normal(b, p);
    double sign = vec3_dot(mean, apart) < 0.0 ? -1.0 : 1.0;
    out->gap = sign * d;
    out->normal = d > 1e-9 * b->size ? vec3_scale(sign / d, apart) : mean;
    out->slope = 0.0;
}

HR_RT witness_touch witness_point_step(const witness_body *b, witness_place *p, vec3 point)
{
    witness_touch t = {.flags = correct(b, p, point)};
    bool has_switched = settle(b, p, point, &t.is_cycling);
    for (int i = 0; i < CORRECTORS && has_switched; i++) {
        t.flags |= correct(b, p, point);
        has_switched = settle(b, p, point, &t.is_cycling);
    }
    measure(b, p, point, &t);
    return t;
}

/* From the best sample of one face (edge of a planar body): steps until they rest. */
static double descend(const witness_body *b, vec3 point, witness_place *p)
{
    witness_place_evaluate(b, p);
    double last = (double)INFINITY;
    double least = (double)INFINITY;
    witness_place kept = *p;
    for (int i = 0; i < SEEK_STEPS; i++) {
        (void)witness_point_step(b, p, point);
        witness_place_evaluate(b, p); /* what Taylor's formula said is not quite the surface */
        double d = vec3_distance(p->at.p, point);
        if (d < least) {
            least = d;
            kept = *p;
        }
        bool is_resting = fabs(d - last) <= 1e-15 * b->size && i > 3;
        last = d;
        if (is_resting)
            break;
    }
    *p = kept; /* a step without a line search may rise */
    return least;
}

static double box_distance(const body_face *f, vec3 p)
{
    double dx = fmax(0.0, fmax(f->box_low.x - p.x, p.x - f->box_high.x));
    double dy = fmax(0.0, fmax(f->box_low.y - p.y, p.y - f->box_high.y));
    double dz = fmax(0.0, fmax(f->box_low.z - p.z, p.z - f->box_high.z));
    return sqrt(dx * dx + dy * dy + dz * dz);
}

static double sample_square(const parametric_body *body, long i, vec3 point)
{
    return vec3_length_squared(vec3_sub(body->samples[i].p, point));
}

/* True where no neighbour in the face's grid is nearer: one start per valley of the distance. */
static bool is_valley(const parametric_body *body, int face, int i, int j, vec3 point)
{
    long first = (long)face * BODY_GRID * BODY_GRID;
    double here = sample_square(body, first + (long)i * BODY_GRID + j, point);
    for (int k = 0; k < 9; k++) {
        int row = i + k / 3 - 1;
        int column = j + k % 3 - 1;
        if (row < 0 || row >= BODY_GRID || column < 0 || column >= BODY_GRID)
            continue;
        if (sample_square(body, first + (long)row * BODY_GRID + column, point) < here)
            return false;
    }
    return true;
}

/* Descends from every valley of one face. */
static void seek_face(const witness_body *b, int face, vec3 point, double *best, witness_place *out)
{
    /* the foot of a valley is within two cells of its lowest sample */
    double margin = 2.0 * b->body->faces[face].size / (BODY_GRID - 1);
    long first = (long)face * BODY_GRID * BODY_GRID;
    for (int k = 0; k < BODY_GRID * BODY_GRID; k++) {
        if (sqrt(sample_square(b->body, first + k, point)) - margin > *best ||
            !is_valley(b->body, face, k / BODY_GRID, k % BODY_GRID, point))
            continue;
        const body_sample *s = &b->body->samples[first + k];
        witness_place p;
        witness_place_set(b, WITNESS_FACE, face, s->u, s->v, &p);
        double d = descend(b, point, &p);
        if (d < *best) {
            *best = d;
            *out = p;
        }
    }
}

void witness_point_seek(const witness_body *b, vec3 point, witness_place *out)
{
    double best = (double)INFINITY;
    witness_place_seed(b, point, out);
    if (b->kind != WITNESS_BODY || b->body->is_planar) {
        (void)descend(b, point, out);
        return;
    }
    best = descend(b, point, out);
    for (int face = 0; face < b->body->face_count; face++)
        /* a face whose control points are all farther cannot win */
        if (box_distance(&b->body->faces[face], point) < best)
            seek_face(b, face, point, &best, out);
}
