#include "solver/contact_rows.h"

#include <math.h>

#define WEIGHT_NONE 1e-12 /* a factor below this is dropped */

HR_RT void contact_row_begin(contact_row *row, uint64_t key)
{
    row->key = key;
    row->count = 0;
    row->rate = 0;
    row->softness = 0;
    row->low = -(double)INFINITY;
    row->high = (double)INFINITY;
    row->is_full = false;
}

/* Adds to an entry that is there already: two points of one body share its unknowns. */
HR_RT static void add(contact_row *row, int unknown, double value)
{
    for (int i = 0; i < row->count; i++) {
        if (row->index[i] == unknown) {
            row->value[i] += value;
            return;
        }
    }
    if (fabs(value) < WEIGHT_NONE)
        return;
    if (row->count >= ROW_ENTRIES_MAX) {
        row->is_full = true;
        return;
    }
    row->index[row->count] = unknown;
    row->value[row->count++] = value;
}

HR_RT static void add_vector(contact_row *row, int first, double factor, vec3 v)
{
    add(row, first, factor * v.x);
    add(row, first + 1, factor * v.y);
    add(row, first + 2, factor * v.z);
}

HR_RT void contact_row_point(contact_row *row, const row_point *p, double factor, vec3 normal)
{
    if (fabs(factor) < WEIGHT_NONE)
        return;
    row->rate += factor * vec3_dot(normal, p->velocity);
    if (p->owner == ROW_PARTICLE || p->owner == ROW_RIGID)
        add_vector(row, p->first, factor, normal);
    if (p->owner == ROW_RIGID)
        add_vector(row, p->first + 3, factor, vec3_cross(p->arm, normal));
    if (p->owner == ROW_ARTICULATED)
        for (int i = 0; i < p->joint_count; i++)
            add(row, p->first + (p->unknowns ? p->unknowns[i] : i),
                factor * vec3_dot(normal, p->joints[i]));
}

HR_RT void contact_row_clearance(contact_row *row, double clearance, row_step step)
{
    double deepest = -step.dt * step.recovery;
    row->high = (clearance > deepest ? clearance : deepest) / step.dt - row->rate;
}

HR_RT void contact_row_vertex_triangle(contact_row *row, uint64_t key, const row_point *vertex,
                                       const row_point triangle[3], const double weights[3],
                                       vec3 normal, double clearance, row_step step)
{
    double w[3], sum = 0;
    for (int k = 0; k < 3; k++) {
        w[k] = weights[k] < 0 ? 0.0 : weights[k] > 1 ? 1.0 : weights[k];
        sum += w[k];
    }
    contact_row_begin(row, key);
    contact_row_point(row, vertex, -1.0, normal);
    for (int k = 0; k < 3 && sum > 0; k++)
        contact_row_point(row, &triangle[k], w[k] / sum, normal);
    contact_row_clearance(row, clearance, step);
}

HR_RT static double clamp(double t)
{
    return t < 0 ? 0.0 : t > 1 ? 1.0 : t;
}

HR_RT void contact_row_edge_edge(contact_row *row, uint64_t key, const row_point first[2], double a,
                                 const row_point second[2], double b, vec3 normal, double clearance,
                                 row_step step)
{
    a = clamp(a);
    b = clamp(b);
    contact_row_begin(row, key);
    contact_row_point(row, &first[0], -(1.0 - a), normal);
    contact_row_point(row, &first[1], -a, normal);
    contact_row_point(row, &second[0], 1.0 - b, normal);
    contact_row_point(row, &second[1], b, normal);
    contact_row_clearance(row, clearance, step);
}

HR_RT void contact_row_edge_scripted(contact_row *row, uint64_t key, const row_point edge[2],
                                     double a, vec3 obstacle, vec3 normal, double clearance,
                                     row_step step)
{
    row_point there = {.owner = ROW_SCRIPTED, .velocity = obstacle};
    a = clamp(a);
    contact_row_begin(row, key);
    contact_row_point(row, &edge[0], -(1.0 - a), normal);
    contact_row_point(row, &edge[1], -a, normal);
    contact_row_point(row, &there, 1.0, normal);
    contact_row_clearance(row, clearance, step);
}

HR_RT void contact_row_longest(contact_row *row, uint64_t key, const row_point *i,
                               const row_point *j, vec3 n, double along, double length, double dt)
{
    contact_row_begin(row, key);
    contact_row_point(row, i, 1.0, n);
    contact_row_point(row, j, -1.0, n);
    row->high = (length - along) / dt - row->rate;
}

HR_RT void contact_row_shortest(contact_row *row, uint64_t key, const row_point *i,
                                const row_point *j, vec3 n, double along, double length, double dt)
{
    contact_row_begin(row, key);
    contact_row_point(row, i, -1.0, n);
    contact_row_point(row, j, 1.0, n);
    row->high = (along - length) / dt - row->rate;
}

HR_RT void contact_row_joint_limit(contact_row *row, uint64_t key, int unknown, double q, double qd,
                                   double low, double high, double dt, double speed)
{
    contact_row_begin(row, key);
    row->count = 1;
    row->index[0] = unknown;
    row->value[0] = 1.0;
    double above = high - q, below = low - q, deepest = dt * speed;
    row->high = (above < -deepest ? -deepest : above) / dt - qd;
    row->low = (below > deepest ? deepest : below) / dt - qd;
}

HR_RT void contact_row_fixed(contact_row *row, uint64_t key, int unknown, double now, double wanted)
{
    contact_row_begin(row, key);
    row->count = 1;
    row->index[0] = unknown;
    row->value[0] = 1.0;
    row->low = wanted - now;
    row->high = row->low;
}

HR_RT hr_status contact_row_emit(const contact_row *row, qp *q)
{
    if (row->is_full)
        return HR_ERR_CAPACITY;
    double size = 0;
    for (int i = 0; i < row->count; i++)
        size += fabs(row->value[i]);
    if (size < WEIGHT_NONE)
        return row->high >= -1e-9 && row->low <= 1e-9 ? HR_OK : HR_ERR_INFEASIBLE;
    return qp_row_add(q, &(qp_row){.key = row->key,
                                   .count = row->count,
                                   .index = row->index,
                                   .value = row->value,
                                   .low = row->low,
                                   .high = row->high,
                                   .softness = row->softness});
}

HR_RT vec3 contact_normal_triangle(vec3 vertex, const vec3 triangle[3], int *side)
{
    vec3 up = vec3_cross(vec3_sub(triangle[1], triangle[0]), vec3_sub(triangle[2], triangle[0]));
    vec3 n = vec3_normalize_or(up, (vec3){0, 0, 1});
    if (*side == 0)
        *side = vec3_dot(n, vec3_sub(vertex, triangle[0])) < 0 ? -1 : 1;
    return *side < 0 ? vec3_negate(n) : n;
}

HR_RT vec3 contact_normal_edges(vec3 on_i, vec3 on_j, vec3 along_i, vec3 along_j, vec3 last,
                                double *signed_gap)
{
    vec3 apart = vec3_sub(on_i, on_j);
    double gap = vec3_length(apart);
    bool knows_side = vec3_length_squared(last) > 0;
    vec3 n = last;
    if (gap > 1e-6) {
        n = vec3_scale(1.0 / gap, apart);
        /* through to the other side since the last clear instant */
        if (knows_side && vec3_dot(n, last) < 0)
            n = vec3_negate(n);
    } else if (!knows_side) {
        n = vec3_normalize_or(vec3_cross(along_i, along_j), (vec3){0, 0, 1});
    }
    *signed_gap = vec3_dot(apart, n);
    return n;
}

static bool look(const shape *s, pose world_from_shape, vec3 point, double reach,
                 shape_contact *out)
{
    shape_tracker tracker = {0};
    vec3 local = pose_apply_inverse(world_from_shape, point);
    shape_seed(s, local, reach, &tracker);
    int count = 0, rounds = s->kind == SHAPE_PARAMETRIC ? 3 : 1; /* correctors after the seed */
    for (int i = 0; i < rounds; i++)
        count = shape_follow(s, &tracker, local, (vec3){0, 0, 0}, 0.0, reach, out, 1);
    if (count == 0)
        return false;
    out->point = pose_apply(world_from_shape, out->point);
    out->normal = pose_rotate(world_from_shape, out->normal);
    return true;
}

bool contact_edge_shape(const shape *s, pose world_from_shape, vec3 start, vec3 end, double reach,
                        double *parameter, shape_contact *out)
{
    const double golden = 0.6180339887498949;
    double length = vec3_distance(start, end), low = 0.0, high = 1.0, wide = reach + length;
    double x[2] = {1.0 - golden, golden}, f[2];
    *parameter = 0.0;
    if (length == 0.0)
        return look(s, world_from_shape, start, reach, out);
    for (int k = 0; k < 2; k++) {
        if (!look(s, world_from_shape, vec3_lerp(start, end, x[k]), wide, out))
            return false;
        f[k] = out->gap;
    }
    while (high - low > 1e-7) {
        int k = f[0] < f[1] ? 0 : 1; /* keep the side of the lower value */
        if (k == 0) {
            high = x[1];
            x[1] = x[0];
            f[1] = f[0];
            x[0] = high - golden * (high - low);
        } else {
            low = x[0];
            x[0] = x[1];
            f[0] = f[1];
            x[1] = low + golden * (high - low);
        }
        if (!look(s, world_from_shape, vec3_lerp(start, end, x[k]), wide, out))
            return false;
        f[k] = out->gap;
    }
    double middle = 0.5 * (low + high);
    *parameter = middle < 1e-6 ? 0.0 : middle > 1.0 - 1e-6 ? 1.0 : middle;
    return look(s, world_from_shape, vec3_lerp(start, end, *parameter), reach, out);
}
