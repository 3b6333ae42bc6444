#include "solver/god_object_6.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct god_object_6 {
    double mass;
    mat3 inertia;
    qp *qp;
};

god_object_6 *god_object_6_create(double mass, mat3 inertia)
{
    god_object_6 *g = mass > 0 ? calloc(1, sizeof *g) : NULL;
    if (!g)
        return NULL;
    g->mass = mass;
    g->inertia = inertia;
    g->qp = qp_create((qp_limits){
        .variables = 6, .rows = GOD_OBJECT_6_CONTACTS, .entries = 6L * GOD_OBJECT_6_CONTACTS});
    if (!g->qp) {
        free(g);
        return NULL;
    }
    return g;
}

void god_object_6_destroy(god_object_6 *g)
{
    if (!g)
        return;
    qp_destroy(g->qp);
    free(g);
}

HR_RT static hr_status set_up(god_object_6 *g, quat world_from_tool, tool_wrench w,
                              const tool_contact *contacts, int count)
{
    const int sizes[2] = {3, 3};
    const int index[6] = {0, 1, 2, 3, 4, 5};
    mat3 r = quat_to_mat3(world_from_tool);
    mat3 turned = mat3_multiply(mat3_multiply(r, g->inertia), mat3_transpose(r));
    mat3 blocks[2] = {mat3_scale(g->mass, mat3_identity()), turned};
    double b[6] = {w.force.x, w.force.y, w.force.z, w.torque.x, w.torque.y, w.torque.z};
    hr_status status = qp_set_blocks(g->qp, 2, sizes, &blocks[0].m[0][0]);
    if (status == HR_OK)
        status = qp_set_b(g->qp, b);
    if (status != HR_OK)
        return status;
    qp_rows_begin(g->qp);
    for (int i = 0; i < count && status == HR_OK; i++) {
        vec3 n = contacts[i].normal, moment = vec3_cross(contacts[i].arm, n);
        double value[6] = {-n.x, -n.y, -n.z, -moment.x, -moment.y, -moment.z};
        status = qp_row_add(g->qp, &(qp_row){.key = contacts[i].key,
                                             .count = 6,
                                             .index = index,
                                             .value = value,
                                             .low = -(double)INFINITY,
                                             .high = 0.0});
    }
    return status;
}

HR_RT hr_status god_object_6_accelerate(god_object_6 *g, quat world_from_tool, tool_wrench coupling,
                                        const tool_contact *contacts, int count,
                                        twist *acceleration, tool_wrench *hand)
{
    *acceleration = (twist){{0, 0, 0}, {0, 0, 0}};
    *hand = (tool_wrench){vec3_negate(coupling.force), vec3_negate(coupling.torque)};
    if (count < 0 || count > GOD_OBJECT_6_CONTACTS)
        return HR_ERR_CAPACITY;
    hr_status status = set_up(g, world_from_tool, coupling, contacts, count);
    if (status != HR_OK)
        return status;
    qp_info info;
    qp_status solved = qp_solve(g->qp, (qp_budget){.iterations = -1}, &info);
    if (solved != QP_OPTIMAL) /* a = 0 satisfies every row, so this is a budget or rounding */
        return HR_ERR_MAX_ITER;
    const double *a = qp_x(g->qp);
    acceleration->linear = (vec3){a[0], a[1], a[2]};
    acceleration->angular = (vec3){a[3], a[4], a[5]};
    double f[6];
    qp_force(g->qp, f);
    hand->force = (vec3){-f[0], -f[1], -f[2]};
    hand->torque = (vec3){-f[3], -f[4], -f[5]};
    return HR_OK;
}

hr_status god_object_6_move(god_object_6 *g, pose start, tool_wrench coupling, double time,
                            const tool_contact *contacts, int count, tool_first_contact first,
                            void *world, god_object_6_result *out)
{
    *out = (god_object_6_result){.world_from_tool = start};
    if (count < 0 || count > GOD_OBJECT_6_CONTACTS)
        return HR_ERR_CAPACITY;
    memcpy(out->contacts, contacts, (size_t)count * sizeof *contacts);
    out->contact_count = count;
    double left = 1.0;
    for (; out->moves < GOD_OBJECT_6_MOVES && left > 0; out->moves++) {
        twist a;
        hr_status status =
            god_object_6_accelerate(g, out->world_from_tool.rotation, coupling, out->contacts,
                                    out->contact_count, &a, &out->hand);
        if (status != HR_OK)
            return status;
        double reach = 0.5 * time * time * left;
        twist way = {vec3_scale(reach, a.linear), vec3_scale(reach, a.angular)};
        tool_contact new_one;
        double t =
            first(world, out->world_from_tool, way, out->contacts, out->contact_count, &new_one);
        out->world_from_tool = pose_advance(out->world_from_tool, way, (twist){0}, t);
        /* what was touched turns with the tool only by second order; the caller finds it again */
        left *= 1.0 - t;
        if (t >= 1.0 || out->contact_count >= GOD_OBJECT_6_CONTACTS)
            break;
        out->contacts[out->contact_count++] = new_one;
    }
    return HR_OK;
}
