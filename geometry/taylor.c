/* Taylor models of rigid transforms: the algebra of polynomial parts, and what each operation adds
 * to the radius. u = 2^-53 is the unit of rounding; a sum of n products is off by at most
 * n u / (1 - n u) times the sum of their magnitudes. */
#include "geometry/taylor.h"

/* Half a row of a 3x4 matrix: what every 64-bit x86 and ARM multiplies at once. */
typedef double pair __attribute__((vector_size(16), may_alias));
typedef long long pair_bits __attribute__((vector_size(16)));

/* 24u: the longest sum below has ten products and an addition (11u), and the magnitudes it is
 * multiplied with are themselves rounded sums of at most that length. */
static const double rounding = 24 * 0x1p-53;

/* What a rotation matrix that was rounded from an exact one may be off by, per entry. */
static const double not_orthonormal = 8 * 0x1p-53;

HR_RT static inline pair load(const double row[4], int half)
{
    return *(const pair *)(row + (half ? 2 : 0));
}

HR_RT static inline void store(double row[4], int half, pair value)
{
    *(pair *)(row + (half ? 2 : 0)) = value;
}

HR_RT static inline pair absolute(pair a)
{
    const pair_bits magnitude_bits = {0x7fffffffffffffffLL, 0x7fffffffffffffffLL};
    return (pair)((pair_bits)a & magnitude_bits);
}

/* Absorbs the rounding of the radius itself and every underflow. */
HR_RT static inline pair round_up(pair radius)
{
    return radius * (1 + rounding) + DBL_MIN;
}

/* |C0| + h |C1| + h^2 |C2| */
HR_RT static inline pair magnitude(const taylor *a, int row, int half)
{
    return absolute(load(a->c[0].m[row], half)) +
           a->half * (absolute(load(a->c[1].m[row], half)) +
                      a->half * absolute(load(a->c[2].m[row], half)));
}

/* Half of a row of a times the 3x4 matrix b, without the origin of a. */
HR_RT static inline pair times(const double a[4], const taylor_matrix *b, int half)
{
    return a[0] * load(b->m[0], half) + a[1] * load(b->m[1], half) + a[2] * load(b->m[2], half);
}

/* The origin of a row is the last number of its second half. */
HR_RT static inline pair origin_of(double x, int half)
{
    return (pair){0, half ? x : 0};
}

HR_RT static void rows_of(const rigid *a, taylor_matrix *out)
{
    const double origin[3] = {a->origin.x, a->origin.y, a->origin.z};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            out->m[i][j] = a->rotation.m[i][j];
        out->m[i][3] = origin[i];
    }
}

HR_RT void taylor_constant(const rigid *a_from_b, double half, taylor *out)
{
    *out = (taylor){.half = half};
    rows_of(a_from_b, &out->c[0]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out->r.m[i][j] = not_orthonormal;
}

/* The rotation part: a a^T + cos (1 - a a^T) + sin K and its derivatives in s. The third derivative
 * is at most |rate|^3 (|1 - a a^T| + |K|) entry by entry. */
HR_RT static void screw_rotation(const double a[3], double angle, double rate, double angle_error,
                                 taylor *out)
{
    double half = out->half, turn = fabs(rate) * half;
    bool is_small = turn < 1.5; /* beyond, turn^3 / 6 + turn^2 / 2 is worse than the circle */
    double sine = is_small ? sin(angle) : 0, cosine = is_small ? cos(angle) : 0;
    if (!is_small)
        rate = 0;
    double remainder = is_small ? turn * turn * turn / 6 : 1;
    double slack = angle_error + rounding * (1 + turn + turn * turn);
    const double skew[3][3] = {{0, -a[2], a[1]}, {a[2], 0, -a[0]}, {-a[1], a[0], 0}};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double along = a[i] * a[j], across = (i == j ? 1 : 0) - along, k = skew[i][j];
            out->c[0].m[i][j] = along + cosine * across + sine * k;
            out->c[1].m[i][j] = rate * (cosine * k - sine * across);
            out->c[2].m[i][j] = -0.5 * rate * rate * (cosine * across + sine * k);
            out->r.m[i][j] = remainder * (fabs(across) + fabs(k)) + slack;
        }
    }
}

HR_RT void taylor_screw(vec3 axis, double angle, double rate, double angle_error, vec3 slide,
                        vec3 slide_rate, double half, taylor *out)
{
    const double a[3] = {axis.x, axis.y, axis.z};
    const double p[3] = {slide.x, slide.y, slide.z};
    const double v[3] = {slide_rate.x, slide_rate.y, slide_rate.z};
    out->half = half;
    screw_rotation(a, angle, rate, angle_error, out);
    for (int i = 0; i < 3; i++) {
        out->c[0].m[i][3] = p[i];
        out->c[1].m[i][3] = v[i];
        out->c[2].m[i][3] = 0;
        out->r.m[i][3] = rounding * (fabs(p[i]) + fabs(v[i]));
        for (int half_row = 0; half_row < 2; half_row++)
            store(out->r.m[i], half_row, round_up(load(out->r.m[i], half_row)));
    }
}

HR_RT void taylor_compose(const taylor *a, const taylor *b, taylor *out)
{
    const double h = a->half, h3 = h * h * h;
    taylor_matrix spread; /* R_B + rounding |B| */
    taylor_matrix reach;  /* |B| + R_B */
    taylor_matrix size;   /* |A| */
    for (int k = 0; k < 3; k++) {
        for (int half = 0; half < 2; half++) {
            pair whole = magnitude(b, k, half), radius = load(b->r.m[k], half);
            store(spread.m[k], half, radius + rounding * whole);
            store(reach.m[k], half, whole + radius);
            store(size.m[k], half, magnitude(a, k, half));
        }
    }
    for (int i = 0; i < 3; i++) {
        const double *a0 = a->c[0].m[i], *a1 = a->c[1].m[i], *a2 = a->c[2].m[i];
        for (int half = 0; half < 2; half++) {
            store(out->c[0].m[i], half, times(a0, &b->c[0], half) + origin_of(a0[3], half));
            store(out->c[1].m[i], half,
                  times(a0, &b->c[1], half) + times(a1, &b->c[0], half) + origin_of(a1[3], half));
            store(out->c[2].m[i], half,
                  times(a0, &b->c[2], half) + times(a1, &b->c[1], half) +
                      times(a2, &b->c[0], half) + origin_of(a2[3], half));
            pair third = times(a1, &b->c[2], half) + times(a2, &b->c[1], half);
            pair fourth = times(a2, &b->c[2], half);
            store(out->r.m[i], half,
                  round_up(times(size.m[i], &spread, half) + times(a->r.m[i], &reach, half) +
                           origin_of(a->r.m[i][3] + rounding * size.m[i][3], half) +
                           h3 * (absolute(third) + h * absolute(fourth))));
        }
    }
    out->half = h;
}

HR_RT void taylor_compose_rigid(const taylor *a, const rigid *b_from_c, taylor *out)
{
    taylor_matrix b;
    taylor_matrix spread;
    taylor_matrix reach;
    rows_of(b_from_c, &b);
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < 4; j++) {
            double slack = j < 3 ? not_orthonormal : 0;
            reach.m[k][j] = fabs(b.m[k][j]) + slack;
            spread.m[k][j] = slack + rounding * fabs(b.m[k][j]);
        }
    }
    for (int i = 0; i < 3; i++) {
        double size[4] __attribute__((aligned(16)));
        store(size, 0, magnitude(a, i, 0));
        store(size, 1, magnitude(a, i, 1));
        for (int half = 0; half < 2; half++) {
            for (int k = 0; k < 3; k++)
                store(out->c[k].m[i], half,
                      times(a->c[k].m[i], &b, half) + origin_of(a->c[k].m[i][3], half));
            store(out->r.m[i], half,
                  round_up(times(size, &spread, half) + times(a->r.m[i], &reach, half) +
                           origin_of(a->r.m[i][3] + rounding * size[3], half)));
        }
    }
    out->half = a->half;
}

HR_RT void taylor_rigid_compose(const rigid *a_from_b, const taylor *b, taylor *out)
{
    taylor_matrix a;
    taylor_matrix spread;
    rows_of(a_from_b, &a);
    /* |a_ij| <= 1 off by its own inexactness: the first bound covers both. */
    for (int k = 0; k < 3; k++)
        for (int half = 0; half < 2; half++)
            store(spread.m[k], half, load(b->r.m[k], half) + rounding * magnitude(b, k, half));
    for (int half = 0; half < 2; half++) {
        pair all = magnitude(b, 0, half) + magnitude(b, 1, half) + magnitude(b, 2, half);
        for (int i = 0; i < 3; i++) {
            const double size[4] = {fabs(a.m[i][0]), fabs(a.m[i][1]), fabs(a.m[i][2]),
                                    fabs(a.m[i][3])};
            for (int k = 0; k < 3; k++)
                store(out->c[k].m[i], half,
                      times(a.m[i], &b->c[k], half) + origin_of(k == 0 ? a.m[i][3] : 0, half));
            store(out->r.m[i], half,
                  round_up(times(size, &spread, half) + not_orthonormal * all +
                           origin_of(rounding * size[3], half)));
        }
    }
    out->half = b->half;
}

/* The transposed rotation with an origin of zero. */
HR_RT static void transpose_rotation(const taylor *a, taylor *back)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            for (int k = 0; k < 3; k++)
                back->c[k].m[i][j] = a->c[k].m[j][i];
            back->r.m[i][j] = a->r.m[j][i];
        }
        back->c[0].m[i][3] = back->c[1].m[i][3] = back->c[2].m[i][3] = back->r.m[i][3] = 0;
    }
    back->half = a->half;
}

HR_RT void taylor_inverse(const taylor *a_from_b, taylor *out)
{
    taylor identity = {.half = a_from_b->half}; /* exact: its radius is zero */
    for (int i = 0; i < 3; i++)
        identity.c[0].m[i][i] = 1;
    taylor_relative(a_from_b, &identity, out);
}

HR_RT void taylor_relative(const taylor *w_from_a, const taylor *w_from_b, taylor *out)
{
    taylor back, moved = *w_from_b;
    transpose_rotation(w_from_a, &back);
    double h = w_from_a->half;
    for (int i = 0; i < 3; i++) {
        double size = 0;
        for (int k = 2; k >= 0; k--) {
            double a = w_from_a->c[k].m[i][3], b = w_from_b->c[k].m[i][3];
            moved.c[k].m[i][3] = b - a;
            size = size * h + (fabs(a) + fabs(b));
        }
        moved.r.m[i][3] += w_from_a->r.m[i][3] + rounding * size;
    }
    taylor_compose(&back, &moved, out);
}

HR_RT void taylor_shift(const taylor *a, double centre, double half_width, taylor *out)
{
    for (int i = 0; i < 3; i++) {
        for (int half = 0; half < 2; half++) {
            pair c0 = load(a->c[0].m[i], half), c1 = load(a->c[1].m[i], half);
            pair c2 = load(a->c[2].m[i], half);
            pair slack = rounding * magnitude(a, i, half);
            store(out->c[0].m[i], half, c0 + centre * (c1 + centre * c2));
            store(out->c[1].m[i], half, c1 + 2 * centre * c2);
            store(out->c[2].m[i], half, c2);
            store(out->r.m[i], half, round_up(load(a->r.m[i], half) + slack));
        }
    }
    out->half = half_width;
}

HR_RT void taylor_bound(const taylor *a, interval_rigid *out)
{
    const double h = a->half;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 4; j++) {
            double c0 = a->c[0].m[i][j], c1 = a->c[1].m[i][j], c2 = a->c[2].m[i][j];
            double size = fabs(c0) + h * (fabs(c1) + h * fabs(c2));
            double slack = (a->r.m[i][j] + rounding * size) * (1 + rounding) + DBL_MIN;
            out->m[i][j] = interval_widen(taylor_quadratic(c0, c1, c2, -h, h), slack);
        }
    }
}

HR_RT rigid taylor_at(const taylor *a, double s)
{
    rigid out;
    double *origin[3] = {&out.origin.x, &out.origin.y, &out.origin.z};
    for (int i = 0; i < 3; i++) {
        double row[4];
        for (int j = 0; j < 4; j++)
            row[j] = a->c[0].m[i][j] + s * (a->c[1].m[i][j] + s * a->c[2].m[i][j]);
        for (int j = 0; j < 3; j++)
            out.rotation.m[i][j] = row[j];
        *origin[i] = row[3];
    }
    return out;
}

HR_RT static inline double dot4(const double row[4], vec3 p)
{
    return row[0] * p.x + row[1] * p.y + row[2] * p.z + row[3];
}

HR_RT taylor_point taylor_apply(const taylor *a, vec3 point)
{
    taylor_point out;
    double *r[3] = {&out.r.x, &out.r.y, &out.r.z};
    const vec3 size = {fabs(point.x), fabs(point.y), fabs(point.z)};
    for (int k = 0; k < 3; k++)
        out.c[k] =
            (vec3){dot4(a->c[k].m[0], point), dot4(a->c[k].m[1], point), dot4(a->c[k].m[2], point)};
    for (int i = 0; i < 3; i++) {
        double whole[4] __attribute__((aligned(16)));
        for (int half = 0; half < 2; half++)
            store(whole, half, load(a->r.m[i], half) + rounding * magnitude(a, i, half));
        *r[i] = dot4(whole, size) * (1 + rounding) + DBL_MIN;
    }
    return out;
}

HR_RT interval taylor_point_range(const taylor_point *path, vec3 d, double low, double high)
{
    double reach = fabs(low) > fabs(high) ? fabs(low) : fabs(high);
    vec3 size = {fabs(d.x), fabs(d.y), fabs(d.z)};
    double total = 0;
    for (int k = 2; k >= 0; k--) {
        vec3 c = path->c[k];
        vec3 magnitude_k = {fabs(c.x), fabs(c.y), fabs(c.z)};
        total = total * reach + vec3_dot(size, magnitude_k);
    }
    interval range = taylor_quadratic(vec3_dot(d, path->c[0]), vec3_dot(d, path->c[1]),
                                      vec3_dot(d, path->c[2]), low, high);
    return interval_widen(range,
                          (vec3_dot(size, path->r) + rounding * total) * (1 + rounding) + DBL_MIN);
}

HR_RT interval taylor_range(const taylor *a_from_b, vec3 direction, vec3 point_b, vec3 point_a)
{
    taylor_point path = taylor_apply(a_from_b, point_b);
    vec3 size = {fabs(path.c[0].x) + fabs(point_a.x), fabs(path.c[0].y) + fabs(point_a.y),
                 fabs(path.c[0].z) + fabs(point_a.z)};
    path.c[0] = vec3_sub(path.c[0], point_a);
    path.r = vec3_add_scaled(path.r, rounding, size);
    return taylor_point_range(&path, direction, -a_from_b->half, a_from_b->half);
}

HR_RT double taylor_radius(const taylor *a, double reach)
{
    double largest = 0;
    for (int i = 0; i < 3; i++) {
        double x = (a->r.m[i][0] + a->r.m[i][1] + a->r.m[i][2]) * reach + a->r.m[i][3];
        largest = x <= largest ? largest : x; /* a NaN stays */
    }
    return largest;
}
