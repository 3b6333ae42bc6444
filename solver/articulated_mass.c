/* The active joints as unknowns of a contact problem: their inertia by the composite-body method
 * over the rigid groups, and the motion of points by each of them. */
#include <string.h>

#include "solver/articulated_internal.h"

void art_number_unknowns(articulated *a)
{
    a->unknown_count = 0;
    for (int i = 0; i < a->joint_count; i++) {
        art_joint *j = &a->joints[i];
        const join_joint *join = &a->nodes[j->node].join;
        j->unknown = a->unknown_count;
        j->freedom = join->is_locked ? 0 : join->freedom;
        for (int k = 0; k < j->freedom; k++)
            a->unknowns[a->unknown_count++] = a->parts[j->part].v + k;
    }
}

int articulated_freedom(const articulated *a)
{
    return a->unknown_count;
}

const int32_t *articulated_unknowns(const articulated *a)
{
    return a->unknowns;
}

/* Column k of S in the frame of the joint's part, whose axis is z. */
HR_RT static vec6 motion_column(const join_joint *j, int k)
{
    vec6 s = {{0}};
    if (j->kind == JOIN_PRISMATIC) {
        s.v[5] = 1;
    } else if (j->freedom == 1) {
        s.v[2] = 1;
        s.v[5] = j->kind == JOIN_SCREW ? j->pitch : 0;
    } else {
        s.v[k] = 1;
    }
    return s;
}

/* Entry k of S^T f. */
HR_RT static double force_along(const join_joint *j, int k, const vec6 *f)
{
    if (j->kind == JOIN_PRISMATIC)
        return f->v[5];
    if (j->freedom == 1)
        return f->v[2] + (j->kind == JOIN_SCREW ? j->pitch * f->v[5] : 0);
    return f->v[k];
}

/* Where the group of a joint sits in the frame of the group that carries it. */
HR_RT static rigid parent_from_group(const articulated *a, const art_joint *j)
{
    const rigid *place = &a->nodes[j->node].join.a_from_b;
    return j->parent_slot ? rigid_compose(&a->nodes[j->parent_front].top_from_1, place) : *place;
}

/* Inertia of all that each joint moves, in the frame of its group, couplings included. */
HR_RT static void gather_composites(articulated *a)
{
    mat6 shifted;
    for (int i = 0; i < a->joint_count; i++)
        a->composite[i] = a->nodes[a->joints[i].front].inertia;
    for (int i = 0; i < a->wrench_count; i++) {
        rigid top_from_part;
        if (!a->wrenches[i].has_stiff)
            continue;
        int joint = a->nodes[art_front_of(a, a->wrenches[i].part, &top_from_part)].joint;
        if (joint < 0)
            continue;
        art_shift_inertia(&top_from_part, &a->wrenches[i].stiff, &shifted);
        mat6_add(&a->composite[joint], &shifted, &a->composite[joint]);
    }
    for (int i = a->joint_count - 1; i >= 0; i--) {
        const art_joint *j = &a->joints[i];
        if (j->parent < 0)
            continue;
        rigid place = parent_from_group(a, j);
        art_shift_inertia(&place, &a->composite[i], &shifted);
        mat6_add(&a->composite[j->parent], &shifted, &a->composite[j->parent]);
    }
}

/* Row and column of one unknown: the force that moves it alone, felt by every joint on the way to
 * the base. */
HR_RT static void fill_unknown(const articulated *a, int index, int column, double *k)
{
    const art_joint *j = &a->joints[index];
    int n = a->unknown_count, row = j->unknown + column;
    vec6 s = motion_column(&a->nodes[j->node].join, column);
    vec6 force = fast_apply_transposed(&a->composite[index], &s);
    for (int i = 0; i <= column; i++)
        k[row * n + j->unknown + i] = k[(j->unknown + i) * n + row] =
            force_along(&a->nodes[j->node].join, i, &force);
    k[row * n + row] += a->parts[j->part].k[column];
    while (j->parent >= 0) {
        force = fast_force_to_a(&a->nodes[j->node].join.a_from_b, &force);
        if (j->parent_slot)
            force = fast_force_to_a(&a->nodes[j->parent_front].top_from_1, &force);
        j = &a->joints[j->parent];
        for (int i = 0; i < j->freedom; i++)
            k[row * n + j->unknown + i] = k[(j->unknown + i) * n + row] =
                force_along(&a->nodes[j->node].join, i, &force);
    }
}

void articulated_mass_matrix(articulated *a, double *k)
{
    art_poses(a);
    gather_composites(a);
    memset(k, 0, (size_t)a->unknown_count * (size_t)a->unknown_count * sizeof *k);
    for (int i = 0; i < a->joint_count; i++)
        for (int column = 0; column < a->joints[i].freedom; column++)
            fill_unknown(a, i, column, k);
}

/* The joint that moves the group of a body, or -1. */
HR_RT static int joint_above(const articulated *a, int body)
{
    rigid unused;
    return a->nodes[art_front_of(a, a->tree.body_part[body], &unused)].joint;
}

int articulated_jacobian(articulated *a, int body, vec3 point, int room, int *unknowns,
                         vec3 *columns)
{
    int count = 0, first = joint_above(a, body);
    for (int i = first; i >= 0; i = a->joints[i].parent)
        count += a->joints[i].freedom;
    if (count > room)
        return count;
    art_poses(a);
    int at = count;
    for (int i = first; i >= 0; i = a->joints[i].parent) {
        const art_joint *j = &a->joints[i];
        const rigid *group = &a->nodes[j->front].base_from_top;
        vec3 arm = vec3_sub(point, group->origin);
        for (int k = j->freedom - 1; k >= 0; k--) {
            vec6 s = motion_column(&a->nodes[j->node].join, k);
            vec3 spin = mat3_apply(group->rotation, vec6_angular(s));
            vec3 slide = mat3_apply(group->rotation, vec6_linear(s));
            unknowns[--at] = j->unknown + k;
            columns[at] = vec3_add(slide, vec3_cross(spin, arm));
        }
    }
    return count;
}

void articulated_add_velocity(articulated *a, const double *change)
{
    for (int i = 0; i < a->unknown_count; i++)
        a->qd[a->unknowns[i]] += change[i];
    a->has_poses = false;
}
