/* Choosing the active joints by the metric. Cost: the active nodes, those newly looked at, and the
 * paths of changed forces. */
#include <string.h>

#include "solver/articulated_full.h"

void art_full_freeze(articulated *a, int n)
{
    full_factor(a, n);
    full_freeze_channels(a, n);
}

void art_mark_dirty(articulated *a, int n)
{
    if (n < 0 || a->is_dirty[n])
        return;
    a->is_dirty[n] = 1;
    a->dirty[a->dirty_count++] = n;
}

/* S^T I S of everything outboard of a joint, at the present coordinates; nodes of the chain of
 * bodies are not needed, only the kinematic tree. */
HR_RT static void weigh_joints(articulated *a)
{
    for (int v = 0; v < a->model->v_count; v++)
        a->weight[v] = 1;
    if (a->metric.weights != ARTICULATED_WEIGHT_INERTIA)
        return;
    /* composite inertias by part, kept in the leaves' psi_00 until full_leaf clears it */
    for (int p = 0; p < a->tree.part_count; p++)
        a->full[a->tree.parts[p].leaf].psi_00 = a->parts[p].inertia;
    for (int p = a->tree.part_count - 1; p > 0; p--) {
        const join_joint *j = &a->nodes[a->tree.parts[p].node].join;
        const mat6 *own = &a->full[a->tree.parts[p].leaf].psi_00;
        mat6 *up = &a->full[a->tree.parts[a->tree.parts[p].parent].leaf].psi_00;
        rigid place;
        art_joint_pose(a, p, &place);
        mat6 shifted;
        art_shift_inertia(&place, own, &shifted);
        mat6_add(up, &shifted, up);
        int v = a->parts[p].v;
        if (j->freedom == 1)
            a->weight[v] = j->kind == JOIN_PRISMATIC ? own->m[5][5] : own->m[2][2];
        for (int i = 0; j->freedom > 1 && i < j->freedom; i++)
            a->weight[v + i] = own->m[i][i];
    }
}

articulated_metric articulated_metric_over(double horizon)
{
    /* mean of (qd + t qdd)^2 for t in 0 .. T: (qd + T/2 qdd)^2 + T^2/12 qdd^2 */
    return (articulated_metric){.s0 = 1, .s1 = 0.5 * horizon, .s2 = horizon / sqrt(12.0)};
}

void articulated_use_metric(articulated *a, articulated_metric metric)
{
    a->metric = metric;
    a->has_metric = true;
    weigh_joints(a);
    memset(a->baked_wrench, 0, (size_t)a->tree.part_count * sizeof *a->baked_wrench);
    a->baked_count = a->dirty_count = 0;
    for (int n = 0; n < a->tree.node_count; n++) {
        a->is_dirty[n] = 0;
        if (assembly_node_is_leaf(&a->tree.nodes[n]))
            full_leaf(a, n);
        else if (a->state[n] != NODE_ACTIVE)
            art_full_freeze(a, n);
    }
}

/* The wrenches of now into the constant channels of the leaves. */
HR_RT static void bake_wrenches(articulated *a)
{
    for (int i = 0; i < a->baked_count; i++) {
        a->baked_wrench[a->baked_parts[i]] = (vec6){{0}};
        art_mark_dirty(a, a->tree.parts[a->baked_parts[i]].leaf);
    }
    a->baked_count = a->wrench_count;
    for (int i = 0; i < a->wrench_count; i++) {
        int part = a->wrenches[i].part;
        a->baked_parts[i] = part;
        a->baked_wrench[part] = vec6_add(a->baked_wrench[part], a->wrenches[i].wrench);
        art_mark_dirty(a, a->tree.parts[part].leaf);
    }
}

/* Constant channels along the paths from what changed up to the front. */
HR_RT static void refresh_constants(articulated *a)
{
    for (int i = 0; i < a->dirty_count; i++)
        if (assembly_node_is_leaf(&a->tree.nodes[a->dirty[i]]))
            full_leaf_constant(a, a->dirty[i]);
    for (int i = 0; i < a->dirty_count; i++) {
        int n = a->dirty[i];
        a->is_dirty[n] = 0;
        if (assembly_node_is_leaf(&a->tree.nodes[n]))
            n = a->state[n] == NODE_BURIED ? a->tree.nodes[n].parent : -1;
        for (; n >= 0 && a->state[n] != NODE_ACTIVE; n = a->tree.nodes[n].parent)
            full_freeze_constant(a, n);
    }
    a->dirty_count = 0;
}

/* The fully articulated numbers of the active nodes at the present state. */
HR_RT static void sweep_active(articulated *a)
{
    art_kinematics(a, a->qd);
    for (int i = 0; i < a->front_count; i++)
        full_look(a, a->front[i], a->nodes[a->front[i]].velocity);
    for (int i = 0; i < a->active_count; i++) {
        int n = a->active[i];
        const assembly_node *from = &a->tree.nodes[n];
        const art_full *left = &a->full[from->child[0]], *right = &a->full[from->child[1]];
        const join_joint *j = &a->nodes[n].join;
        art_full *f = &a->full[n];
        full_factor(a, n);
        full_source source = {.coriolis = a->parts[from->joint].coriolis};
        if (j->freedom > 0)
            art_joint_tau(a, from->joint, source.tau);
        for (int k = 0; k < j->freedom; k++)
            source.speed[k] = a->qd[a->parts[from->joint].v + k];
        art_channel l = {{left->join.b[0], left->join.b[1]}, {left->p[0], left->p[1]}};
        art_channel r = {{right->join.b[0], right->join.b[1]}, {right->p[0], right->p[1]}};
        art_channel out = {{{{0}}, {{0}}}, {{{0}}, {{0}}}};
        art_answer *answer = &f->answer[CONSTANT];
        full_join_channel(a, n, &l, &r, &source, &out, answer);
        for (int h = 0; h < 2; h++) {
            f->join.b[h] = out.b[h];
            f->p[h] = out.p[h];
        }
        f->join.f0 = answer->f0;
        memcpy(f->join.r0, answer->r0, sizeof answer->r0);
        f->eta = left->eta + right->eta + full_eta_pair(a, n, answer, answer);
    }
}

HR_RT static double quadratic(const mat6 *m, const vec6 *x, const vec6 *y)
{
    return vec6_dot(*x, fast_apply(m, y));
}

/* The metric of all joints inside a node under the forces on its handles. */
HR_RT static double metric_of(const articulated *a, int n)
{
    const art_full *f = &a->full[n];
    bool has_0 = art_has_handle(&a->tree.nodes[n], 0), has_1 = art_has_handle(&a->tree.nodes[n], 1);
    double sum = f->eta;
    if (has_0)
        sum += quadratic(&f->psi_00, &f->join.f[0], &f->join.f[0]) +
               2 * vec6_dot(f->p[0], f->join.f[0]);
    if (has_1)
        sum += quadratic(&f->psi_11, &f->join.f[1], &f->join.f[1]) +
               2 * vec6_dot(f->p[1], f->join.f[1]);
    if (has_0 && has_1)
        sum += 2 * quadratic(&f->psi_01, &f->join.f[0], &f->join.f[1]);
    return sum;
}

/* --- a heap, largest first; equal values by node, so that the choice never depends on chance ---
 */

HR_RT static bool is_before(art_heap_item x, art_heap_item y)
{
    return x.value > y.value || (x.value == y.value && x.node > y.node);
}

HR_RT static void heap_push(articulated *a, int *count, art_heap_item item)
{
    int i = (*count)++;
    for (; i > 0 && is_before(item, a->heap[(i - 1) / 2]); i = (i - 1) / 2)
        a->heap[i] = a->heap[(i - 1) / 2];
    a->heap[i] = item;
}

HR_RT static art_heap_item heap_pop(articulated *a, int *count)
{
    art_heap_item top = a->heap[0], last = a->heap[--(*count)];
    int i = 0;
    for (int child = 1; child < *count; child = 2 * i + 1) {
        if (child + 1 < *count && is_before(a->heap[child + 1], a->heap[child]))
            child++;
        if (!is_before(a->heap[child], last))
            break;
        a->heap[i] = a->heap[child];
        i = child;
    }
    a->heap[i] = last;
    return top;
}

/* A passive node is opened: its children at the velocity they share with it. */
HR_RT static void open_passive(articulated *a, int n)
{
    const assembly_node *from = &a->tree.nodes[n];
    art_full *f = &a->full[n];
    full_look(a, from->child[0], f->velocity);
    full_look(a, from->child[1], rigid_motion_to_b(&a->nodes[n].top_from_b, f->velocity));
    double tau[6] = {0};
    vec6 none = {{0}};
    if (a->nodes[n].join.freedom > 0)
        art_joint_tau(a, from->joint, tau);
    join_bias(&a->nodes[n].join, &a->full[from->child[0]].join, &a->full[from->child[1]].join,
              &none, tau, &f->join);
}

/* r^T Q r of the joint of a node, and the forces on its children. */
HR_RT static double open_node(articulated *a, int n)
{
    const assembly_node *from = &a->tree.nodes[n];
    const join_joint *j = &a->nodes[n].join;
    int freedom = j->is_locked ? 0 : j->freedom, v = a->parts[from->joint].v;
    double qdd[6], sum = 0;
    if (a->state[n] != NODE_ACTIVE)
        open_passive(a, n);
    (void)join_solve(j, &a->full[n].join, qdd, a->full[from->child[0]].join.f,
                     a->full[from->child[1]].join.f);
    for (int i = 0; i < freedom; i++) {
        double speed = a->state[n] == NODE_ACTIVE ? a->qd[v + i] : 0;
        double r = a->metric.s0 * speed + a->metric.s1 * qdd[i];
        double rest = a->metric.s2 * qdd[i];
        sum += a->weight[v + i] * (r * r + rest * rest);
    }
    return sum;
}

/* Nodes that have to be chosen whatever the metric says. */
HR_RT static void mark_musts(articulated *a)
{
    for (int i = 0; i < a->must_count; i++) {
        int n = a->tree.parts[a->musts[i]].node;
        for (; n >= 0 && a->must[n] != a->stamp; n = a->tree.nodes[n].parent)
            a->must[n] = a->stamp;
    }
}

HR_RT static void offer(articulated *a, int *count, int n, double hysteresis)
{
    if (assembly_node_is_leaf(&a->tree.nodes[n]))
        return;
    double value = metric_of(a, n);
    if (a->state[n] == NODE_ACTIVE)
        value *= hysteresis;
    if (a->must[n] == a->stamp)
        value = (double)INFINITY;
    heap_push(a, count, (art_heap_item){value, n});
}

articulated_selected articulated_select(articulated *a, articulated_selection how)
{
    articulated_selected out = {0};
    if (!a->has_metric)
        articulated_use_metric(a, articulated_metric_over(0.02));
    bake_wrenches(a);
    refresh_constants(a);
    sweep_active(a);
    a->stamp++;
    mark_musts(a);

    int heap_count = 0, chosen = 0, root = a->tree.root;
    double hysteresis = how.hysteresis > 1 ? how.hysteresis : 1;
    out.total = out.left = a->full[root].eta;
    offer(a, &heap_count, root, hysteresis);
    while (heap_count > 0) {
        int n = a->heap[0].node;
        bool is_full = how.budget > 0 && out.active >= how.budget;
        if (a->must[n] != a->stamp && (is_full || out.left <= how.threshold))
            break;
        (void)heap_pop(a, &heap_count);
        out.left -= open_node(a, n);
        out.active += a->nodes[n].join.freedom > 0;
        a->chosen[n] = a->stamp;
        a->order[chosen++] = n;
        offer(a, &heap_count, a->tree.nodes[n].child[0], hysteresis);
        offer(a, &heap_count, a->tree.nodes[n].child[1], hysteresis);
    }
    art_change_set(a, chosen, &out.started, &out.stopped);
    return out;
}
