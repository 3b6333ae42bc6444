#include "collide/moving_boxes.h"

/* 64u covers the three sums of at most twelve products below, and a direction that is longer than 1
 * by a few u. */
static const double rounding = 64 * 0x1p-53;

HR_RT static vec3 row_times(const taylor_matrix *m, vec3 d, double *origin)
{
    *origin = d.x * m->m[0][3] + d.y * m->m[1][3] + d.z * m->m[2][3];
    return (vec3){d.x * m->m[0][0] + d.y * m->m[1][0] + d.z * m->m[2][0],
                  d.x * m->m[0][1] + d.y * m->m[1][1] + d.z * m->m[2][1],
                  d.x * m->m[0][2] + d.y * m->m[1][2] + d.z * m->m[2][2]};
}

HR_RT static double extent(const obb *box, vec3 d)
{
    vec3 local = mat3_apply_transposed(box->axes, d);
    return box->half.x * fabs(local.x) + box->half.y * fabs(local.y) + box->half.z * fabs(local.z);
}

/* min over the interval of d . (b's centre - a's centre), less both extents, more than the
 * separation? */
HR_RT static bool verify(const obb *a, const obb *b, const taylor *m, vec3 d, double separation)
{
    double h = m->half, c[3], size = 0, reach = extent(a, d);
    double weight = 1;
    for (int k = 0; k < 3; k++, weight *= h) {
        double origin;
        vec3 row = row_times(&m->c[k], d, &origin);
        c[k] = vec3_dot(row, b->centre) + origin;
        reach += weight * extent(b, row);
        size += weight * (fabs(c[k]) + fabs(origin));
    }
    double at = fabs(b->centre.x) + fabs(b->centre.y) + fabs(b->centre.z) + b->half.x + b->half.y +
                b->half.z;
    double from = vec3_dot(d, a->centre), doubt = 0;
    for (int i = 0; i < 3; i++) {
        double worst = fmax(m->r.m[i][0], fmax(m->r.m[i][1], m->r.m[i][2]));
        doubt += fabs((&d.x)[i]) * (worst * at + m->r.m[i][3]);
    }
    size += reach + at + fabs(from) + separation + vec3_length(a->centre);
    interval range = taylor_quadratic(c[0] - from, c[1], c[2], -h, h);
    return range.low - reach - doubt * (1 + rounding) - rounding * size > separation;
}

/* The boxes at the middle of the interval. */
typedef struct middle {
    vec3 pa[3], qb[3]; /* axes of a and b, frame a */
    vec3 between;      /* from a's centre to b's */
    double r[3][3];    /* pa[i] . qb[j] */
    double t[3];       /* pa[i] . between */
} middle;

/* From a's centre to b's at the middle of the interval. */
HR_RT static vec3 between_centres(const obb *a, const obb *b, const taylor *m)
{
    vec3 out;
    for (int i = 0; i < 3; i++) {
        const double *row = m->c[0].m[i];
        (&out.x)[i] = row[0] * b->centre.x + row[1] * b->centre.y + row[2] * b->centre.z + row[3] -
                      (&a->centre.x)[i];
    }
    return out;
}

HR_RT static void place(const obb *a, const obb *b, const taylor *m, middle *out)
{
    mat3 turn;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            turn.m[i][j] = m->c[0].m[i][j];
    for (int i = 0; i < 3; i++) {
        out->pa[i] = mat3_column(a->axes, i);
        out->qb[i] = mat3_apply(turn, mat3_column(b->axes, i));
        out->t[i] = vec3_dot(out->pa[i], out->between);
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out->r[i][j] = vec3_dot(out->pa[i], out->qb[j]);
}

/* The widest gap so far and its axis, from a to b. */
typedef struct widest {
    double gap, enough;
    vec3 axis;
} widest;

/* True once the gap is enough. */
HR_RT static bool take_wider(widest *w, double gap, double sign, vec3 axis)
{
    if (gap > w->gap) {
        w->gap = gap;
        w->axis = vec3_scale(sign, axis);
    }
    return w->gap > w->enough;
}

HR_RT static bool try_faces(const obb *a, const obb *b, const middle *m, widest *w)
{
    const double *ea = &a->half.x, *eb = &b->half.x;
    for (int i = 0; i < 3; i++) {
        double gap = fabs(m->t[i]) - ea[i] - eb[0] * fabs(m->r[i][0]) - eb[1] * fabs(m->r[i][1]) -
                     eb[2] * fabs(m->r[i][2]);
        if (take_wider(w, gap, m->t[i] < 0 ? -1 : 1, m->pa[i]))
            return true;
    }
    for (int i = 0; i < 3; i++) {
        double along = vec3_dot(m->qb[i], m->between);
        double gap = fabs(along) - eb[i] - ea[0] * fabs(m->r[0][i]) - ea[1] * fabs(m->r[1][i]) -
                     ea[2] * fabs(m->r[2][i]);
        if (take_wider(w, gap, along < 0 ? -1 : 1, m->qb[i]))
            return true;
    }
    return false;
}

HR_RT static bool try_edges(const obb *a, const obb *b, const middle *m, widest *w)
{
    const double *ea = &a->half.x, *eb = &b->half.x;
    for (int k = 0; k < 9; k++) {
        int i = k / 3, j = k % 3, i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3,
            j2 = (j + 2) % 3;
        double along = m->t[i2] * m->r[i1][j] - m->t[i1] * m->r[i2][j];
        double gap = fabs(along) - ea[i1] * fabs(m->r[i2][j]) - ea[i2] * fabs(m->r[i1][j]) -
                     eb[j1] * fabs(m->r[i][j2]) - eb[j2] * fabs(m->r[i][j1]);
        double square = 1 - m->r[i][j] * m->r[i][j];
        if (gap <= 0 || square < 1e-6) /* nearly parallel: the face axes do */
            continue;
        double scale = 1 / sqrt(square);
        if (take_wider(w, gap * scale, (along < 0 ? -1 : 1) * scale,
                       vec3_cross(m->pa[i], m->qb[j])))
            return true;
    }
    return false;
}

bool moving_boxes_are_apart(const obb *a, const obb *b, const moving_frame *frame, double travel,
                            double separation)
{
    middle m;
    m.between = between_centres(a, b, &frame->a_from_b);
    /* 64u of the coordinates covers the gap at the middle; an edge axis may magnify it a
     * thousandfold, since the least sine allowed is 1e-3. */
    double size =
        fabs(m.between.x) + fabs(m.between.y) + fabs(m.between.z) + a->distance + b->distance;
    double far = a->radius + b->radius + separation + travel + rounding * size;
    if (vec3_length_squared(m.between) > far * far) /* the spheres around them are apart */
        return true;
    place(a, b, &frame->a_from_b, &m);
    widest w = {separation, separation + travel + 1024 * rounding * size, {0, 0, 0}};
    if (try_faces(a, b, &m, &w) || try_edges(a, b, &m, &w))
        return true;
    return w.gap > separation && verify(a, b, &frame->a_from_b, w.axis, separation);
}

void moving_frame_bound(moving_frame *f)
{
    const taylor *m = &f->a_from_b;
    double spin = 0, spin_rate = 0, turn = 0, way = 0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            spin += m->c[1].m[i][j] * m->c[1].m[i][j];
            spin_rate += m->c[2].m[i][j] * m->c[2].m[i][j];
            turn = m->r.m[i][j] <= turn ? turn : m->r.m[i][j];
        }
        way = m->r.m[i][3] <= way ? way : m->r.m[i][3];
    }
    f->spin = sqrt(spin) * (1 + rounding);
    f->spin_rate = sqrt(spin_rate) * (1 + rounding);
    f->turn_radius = turn;
    f->way_radius = way;
}

/* Length of C (centre, 1). */
HR_RT static double centre_speed(const taylor_matrix *c, vec3 p)
{
    vec3 v;
    for (int i = 0; i < 3; i++)
        (&v.x)[i] = c->m[i][0] * p.x + c->m[i][1] * p.y + c->m[i][2] * p.z + c->m[i][3];
    return vec3_length(v);
}

double moving_box_travel(const moving_frame *f, const obb *b)
{
    const taylor *m = &f->a_from_b;
    double h = m->half, e = b->radius;
    double first = centre_speed(&m->c[1], b->centre) + f->spin * e;
    double second = centre_speed(&m->c[2], b->centre) + f->spin_rate * e;
    /* |r v| <= 3 times the largest entry times |v|; and sqrt(3) for the three coordinates */
    double doubt = 2 * (3 * f->turn_radius * (b->distance + e) + f->way_radius);
    return (h * (first + h * second) + doubt) * (1 + rounding);
}
