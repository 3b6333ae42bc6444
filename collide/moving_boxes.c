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

/* The best axis of the fifteen at the middle of the interval, in frame a, from a to b. */
HR_RT static bool best_axis(const obb *a, const obb *b, const taylor *m, double separation,
                            vec3 *axis)
{
    double origin[3], r[3][3], t[3];
    vec3 pa[3], qb[3];
    mat3 turn;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            turn.m[i][j] = m->c[0].m[i][j];
        origin[i] = m->c[0].m[i][3];
    }
    vec3 centre = vec3_add(mat3_apply(turn, b->centre), (vec3){origin[0], origin[1], origin[2]});
    vec3 between = vec3_sub(centre, a->centre);
    for (int i = 0; i < 3; i++) {
        pa[i] = mat3_column(a->axes, i);
        qb[i] = mat3_apply(turn, mat3_column(b->axes, i));
        t[i] = vec3_dot(pa[i], between);
    }
    const double *ea = &a->half.x, *eb = &b->half.x;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            r[i][j] = vec3_dot(pa[i], qb[j]);

    double best = separation;
    bool has_one = false;
    for (int i = 0; i < 3; i++) {
        double s = vec3_dot(qb[i], between);
        double gap_a = fabs(t[i]) - ea[i] - eb[0] * fabs(r[i][0]) - eb[1] * fabs(r[i][1]) -
                       eb[2] * fabs(r[i][2]);
        double gap_b =
            fabs(s) - eb[i] - ea[0] * fabs(r[0][i]) - ea[1] * fabs(r[1][i]) - ea[2] * fabs(r[2][i]);
        if (gap_a > best) {
            best = gap_a;
            *axis = vec3_scale(t[i] < 0 ? -1 : 1, pa[i]);
            has_one = true;
        }
        if (gap_b > best) {
            best = gap_b;
            *axis = vec3_scale(s < 0 ? -1 : 1, qb[i]);
            has_one = true;
        }
    }
    for (int k = 0; k < 9; k++) {
        int i = k / 3, j = k % 3, i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3,
            j2 = (j + 2) % 3;
        double square = 1 - r[i][j] * r[i][j];
        if (square < 1e-6) /* nearly parallel: the face axes do */
            continue;
        double along = t[i2] * r[i1][j] - t[i1] * r[i2][j];
        double gap = fabs(along) - ea[i1] * fabs(r[i2][j]) - ea[i2] * fabs(r[i1][j]) -
                     eb[j1] * fabs(r[i][j2]) - eb[j2] * fabs(r[i][j1]);
        if (gap > 0 && gap > best * sqrt(square)) {
            best = gap / sqrt(square);
            *axis = vec3_scale((along < 0 ? -1 : 1) / sqrt(square), vec3_cross(pa[i], qb[j]));
            has_one = true;
        }
    }
    return has_one;
}

bool moving_boxes_are_apart(const obb *a, const obb *b, const taylor *a_from_b, double separation,
                            vec3 *axis)
{
    bool has_hint = axis->x != 0 || axis->y != 0 || axis->z != 0;
    if (has_hint && verify(a, b, a_from_b, *axis, separation))
        return true;
    vec3 d;
    if (!best_axis(a, b, a_from_b, separation, &d) || !verify(a, b, a_from_b, d, separation))
        return false;
    *axis = d;
    return true;
}

double moving_box_travel(const obb *b, const taylor *m)
{
    double turn = 0, h = m->half;
    vec3 v = {0, 0, 0};
    for (int i = 0; i < 3; i++) {
        double speed = m->c[1].m[i][3];
        for (int j = 0; j < 3; j++) {
            double entry = fabs(m->c[1].m[i][j]) + h * fabs(m->c[2].m[i][j]);
            turn += entry * entry;
            speed += m->c[1].m[i][j] * (&b->centre.x)[j];
        }
        (&v.x)[i] = speed;
    }
    return 2 * h * (vec3_length(v) + sqrt(turn) * vec3_length(b->half)) +
           2 * taylor_radius(m, vec3_length(b->centre) + vec3_length(b->half));
}
