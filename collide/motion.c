#include "collide/motion.h"

/* 16u of the largest magnitude covers the sums below. */
static const double rounding = 16 * 0x1p-53;

void motion_set_constant(const rigid *a_from_b, motion *out)
{
    out->is_constant = true;
    out->constant = *a_from_b;
}

void motion_compose_rigid(const motion *a_from_b, const rigid *b_from_c, motion *out)
{
    out->is_constant = a_from_b->is_constant;
    if (a_from_b->is_constant)
        out->constant = rigid_compose(&a_from_b->constant, b_from_c);
    else
        taylor_compose_rigid(&a_from_b->varying, b_from_c, &out->varying);
}

void motion_compose(const motion *a_from_b, const motion *b_from_c, motion *out)
{
    if (b_from_c->is_constant) {
        motion_compose_rigid(a_from_b, &b_from_c->constant, out);
        return;
    }
    out->is_constant = false;
    if (a_from_b->is_constant)
        taylor_rigid_compose(&a_from_b->constant, &b_from_c->varying, &out->varying);
    else
        taylor_compose(&a_from_b->varying, &b_from_c->varying, &out->varying);
}

void motion_relative(const motion *w_from_a, const motion *w_from_b, motion *out)
{
    if (w_from_a->is_constant) {
        motion a_from_w;
        rigid back = rigid_inverse(&w_from_a->constant);
        motion_set_constant(&back, &a_from_w);
        motion_compose(&a_from_w, w_from_b, out);
        return;
    }
    out->is_constant = false;
    if (w_from_b->is_constant) {
        taylor a_from_w;
        taylor_inverse(&w_from_a->varying, &a_from_w);
        taylor_compose_rigid(&a_from_w, &w_from_b->constant, &out->varying);
    } else {
        taylor_relative(&w_from_a->varying, &w_from_b->varying, &out->varying);
    }
}

void motion_to_taylor(const motion *a_from_b, double half, taylor *out)
{
    if (a_from_b->is_constant)
        taylor_constant(&a_from_b->constant, half, out);
    else
        *out = a_from_b->varying;
}

motion_box motion_box_empty(void)
{
    return (motion_box){{1, 1, 1}, {-1, -1, -1}};
}

bool motion_box_is_empty(const motion_box *box)
{
    return box->low.x > box->high.x;
}

motion_box motion_box_hull(const motion_box *a, const motion_box *b)
{
    if (motion_box_is_empty(a))
        return *b;
    if (motion_box_is_empty(b))
        return *a;
    motion_box out;
    double *low = &out.low.x, *high = &out.high.x;
    for (int i = 0; i < 3; i++) {
        double al = (&a->low.x)[i], bl = (&b->low.x)[i];
        double ah = (&a->high.x)[i], bh = (&b->high.x)[i];
        low[i] = al < bl ? al : bl;
        high[i] = ah > bh ? ah : bh;
    }
    return out;
}

bool motion_box_near(const motion_box *a, const motion_box *b, double separation)
{
    if (motion_box_is_empty(a) || motion_box_is_empty(b))
        return false;
    for (int i = 0; i < 3; i++) {
        double al = (&a->low.x)[i], bl = (&b->low.x)[i];
        double ah = (&a->high.x)[i], bh = (&b->high.x)[i];
        double error = rounding * (fabs(al) + fabs(ah) + fabs(bl) + fabs(bh));
        if (al - bh > separation + error || bl - ah > separation + error)
            return false;
    }
    return true;
}

/* Row i of the transform: the range of the centre's coordinate, and the most that a corner can
 * stick out of the centre. */
HR_RT static interval sweep_row(const taylor *m, int i, vec3 centre, vec3 half)
{
    double c[3], reach = m->r.m[i][3], size = 0;
    for (int k = 0; k < 3; k++) {
        const double *row = m->c[k].m[i];
        c[k] = row[0] * centre.x + row[1] * centre.y + row[2] * centre.z + row[3];
    }
    for (int j = 0; j < 3; j++) {
        double entry = fabs(m->c[0].m[i][j]) +
                       m->half * (fabs(m->c[1].m[i][j]) + m->half * fabs(m->c[2].m[i][j]));
        double at = fabs((&centre.x)[j]), e = (&half.x)[j];
        reach += entry * e + m->r.m[i][j] * (at + e);
        size += entry * (at + e);
    }
    for (int k = 0; k < 3; k++)
        size += fabs(m->c[k].m[i][3]) * (k == 0 ? 1 : k == 1 ? m->half : m->half * m->half);
    interval range = taylor_quadratic(c[0], c[1], c[2], -m->half, m->half);
    return interval_widen(range, reach * (1 + rounding) + rounding * size);
}

/* The same for a transform that does not change. */
HR_RT static interval place_row(const rigid *m, int i, vec3 centre, vec3 half)
{
    const double *row = m->rotation.m[i], origin = (&m->origin.x)[i];
    double at = row[0] * centre.x + row[1] * centre.y + row[2] * centre.z + origin;
    double reach = fabs(row[0]) * half.x + fabs(row[1]) * half.y + fabs(row[2]) * half.z;
    double size =
        fabs(centre.x) + fabs(centre.y) + fabs(centre.z) + fabs(origin) + half.x + half.y + half.z;
    return interval_widen(interval_point(at), reach * (1 + rounding) + rounding * size);
}

motion_box motion_sweep(const motion *a_from_b, const motion_box *box)
{
    if (motion_box_is_empty(box))
        return *box;
    vec3 centre = vec3_scale(0.5, vec3_add(box->low, box->high));
    vec3 half = vec3_scale(0.5 * (1 + rounding), vec3_sub(box->high, box->low));
    motion_box out;
    for (int i = 0; i < 3; i++) {
        interval range = a_from_b->is_constant ? place_row(&a_from_b->constant, i, centre, half)
                                               : sweep_row(&a_from_b->varying, i, centre, half);
        (&out.low.x)[i] = range.low;
        (&out.high.x)[i] = range.high;
    }
    return out;
}
