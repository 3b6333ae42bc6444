/* Articulated models: building, welding into bodies, forward kinematics. */
#include "geometry/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A body without inertia between two joints would make its neighbours' equations singular. One
 * gram in a ball of a centimetre is felt by nobody and keeps the condition number moderate. */
static const double DEFAULT_MASS = 1e-3;    /* kg */
static const double DEFAULT_INERTIA = 4e-8; /* kg m^2 */

int joint_q_count(joint_type type)
{
    if (type == JOINT_FIXED)
        return 0;
    return type == JOINT_SPHERICAL ? 4 : type == JOINT_FLOATING ? 7 : 1;
}

int joint_v_count(joint_type type)
{
    if (type == JOINT_FIXED)
        return 0;
    return type == JOINT_SPHERICAL ? 3 : type == JOINT_FLOATING ? 6 : 1;
}

const char *joint_type_name(joint_type type)
{
    static const char *const names[] = {"fixed", "revolute",  "continuous", "prismatic",
                                        "screw", "spherical", "floating"};
    return names[type];
}

pose joint_motion(const model_joint *joint, const double *q)
{
    pose p = pose_identity();
    if (joint->type == JOINT_REVOLUTE || joint->type == JOINT_CONTINUOUS ||
        joint->type == JOINT_SCREW) {
        double s = sin(0.5 * q[0]);
        p.rotation =
            (quat){cos(0.5 * q[0]), s * joint->axis.x, s * joint->axis.y, s * joint->axis.z};
        if (joint->type == JOINT_SCREW)
            p.origin = vec3_scale(joint->pitch * q[0], joint->axis);
    } else if (joint->type == JOINT_PRISMATIC) {
        p.origin = vec3_scale(q[0], joint->axis);
    } else if (joint->type == JOINT_SPHERICAL) {
        p.rotation = quat_normalize((quat){q[0], q[1], q[2], q[3]});
    } else if (joint->type == JOINT_FLOATING) {
        p.origin = (vec3){q[0], q[1], q[2]};
        p.rotation = quat_normalize((quat){q[3], q[4], q[5], q[6]});
    }
    return p;
}

void joint_subspace(const model_joint *joint, vec6 columns[JOINT_V_MAX])
{
    vec3 none = {0, 0, 0};
    switch (joint->type) {
    case JOINT_FIXED:
        return;
    case JOINT_REVOLUTE:
    case JOINT_CONTINUOUS:
        columns[0] = vec6_make(joint->axis, none);
        return;
    case JOINT_SCREW:
        columns[0] = vec6_make(joint->axis, vec3_scale(joint->pitch, joint->axis));
        return;
    case JOINT_PRISMATIC:
        columns[0] = vec6_make(none, joint->axis);
        return;
    case JOINT_SPHERICAL:
    case JOINT_FLOATING:
        for (int k = 0; k < joint_v_count(joint->type); k++) {
            columns[k] = (vec6){{0}};
            columns[k].v[k] = 1;
        }
        return;
    }
}

/* q <- q * exp(scale w), unit. */
HR_RT static void turn(double *q, const double *w, double scale)
{
    quat step = quat_from_rotation_vector((vec3){scale * w[0], scale * w[1], scale * w[2]});
    quat r = quat_normalize(quat_multiply((quat){q[0], q[1], q[2], q[3]}, step));
    q[0] = r.w;
    q[1] = r.x;
    q[2] = r.y;
    q[3] = r.z;
}

void joint_integrate(joint_type type, double *q, const double *v, double scale)
{
    if (type == JOINT_SPHERICAL) {
        turn(q, v, scale);
    } else if (type == JOINT_FLOATING) {
        vec3 d = quat_rotate((quat){q[3], q[4], q[5], q[6]}, (vec3){v[3], v[4], v[5]});
        q[0] += scale * d.x;
        q[1] += scale * d.y;
        q[2] += scale * d.z;
        turn(q + 3, v, scale);
    } else if (type != JOINT_FIXED) {
        q[0] += scale * v[0];
    }
}

/* Grows *array so that index `count` exists. */
static bool make_room(void **array, int *room, int count, size_t size)
{
    if (count < *room)
        return true;
    int wanted = *room < 8 ? 16 : 2 * *room;
    void *bigger = realloc(*array, (size_t)wanted * size);
    if (!bigger)
        return false;
    *array = bigger;
    *room = wanted;
    return true;
}

int model_add_link(model *m, const char *name, int parent, const model_joint *joint)
{
    bool is_base = m->link_count == 0;
    if (is_base ? parent != -1 : parent < 0 || parent >= m->link_count || !joint)
        return -1;
    int room = m->link_room;
    if (!make_room((void **)&m->links, &room, m->link_count, sizeof *m->links) ||
        !make_room((void **)&m->joints, &m->link_room, m->link_count, sizeof *m->joints))
        return -1;
    model_joint own = joint ? *joint : (model_joint){.parent_from_joint = pose_identity()};
    if (is_base)
        own.type = JOINT_FIXED;
    own.name = strdup(joint && joint->name ? joint->name : "");
    char *own_name = strdup(name);
    if (!own.name || !own_name) {
        free(own.name);
        free(own_name);
        return -1;
    }
    if (!joint)
        own.mimic = -1;
    m->joints[m->link_count] = own;
    m->links[m->link_count] =
        (model_link){.name = own_name, .parent = parent, .body_from_link = pose_identity()};
    return m->link_count++;
}

int model_add_mesh(model *m, mesh *part)
{
    if (!make_room((void **)&m->meshes, &m->mesh_room, m->mesh_count, sizeof *m->meshes) ||
        !make_room((void **)&m->mesh_is_solid, &m->solid_room, m->mesh_count, sizeof(bool)))
        return -1;
    m->mesh_is_solid[m->mesh_count] = false;
    m->meshes[m->mesh_count] = *part;
    *part = (mesh){0};
    return m->mesh_count++;
}

int model_add_visual(model *m, model_shape shape)
{
    if (!make_room((void **)&m->visuals, &m->visual_room, m->visual_count, sizeof *m->visuals))
        return -1;
    m->visuals[m->visual_count] = shape;
    return m->visual_count++;
}

int model_add_collision(model *m, model_shape shape)
{
    if (!make_room((void **)&m->collisions, &m->collision_room, m->collision_count,
                   sizeof *m->collisions))
        return -1;
    m->collisions[m->collision_count] = shape;
    return m->collision_count++;
}

static void assign_bodies(model *m)
{
    m->body_count = 0;
    m->q_count = m->v_count = 0;
    for (int i = 0; i < m->link_count; i++) {
        model_link *link = &m->links[i];
        model_joint *joint = &m->joints[i];
        joint->q = m->q_count;
        joint->v = m->v_count;
        m->q_count += joint_q_count(joint->type);
        m->v_count += joint_v_count(joint->type);
        if (i > 0 && joint->type == JOINT_FIXED) {
            const model_link *parent = &m->links[link->parent];
            link->body = parent->body;
            link->body_from_link = pose_compose(parent->body_from_link, joint->parent_from_joint);
            continue;
        }
        model_body *body = &m->bodies[m->body_count];
        *body = (model_body){.parent = -1, .link = i, .parent_from_joint = pose_identity()};
        if (i > 0) {
            const model_link *parent = &m->links[link->parent];
            body->parent = parent->body;
            body->parent_from_joint =
                pose_compose(parent->body_from_link, joint->parent_from_joint);
        }
        link->body = m->body_count++;
        link->body_from_link = pose_identity();
    }
}

/* Adds the inertia of a link to that of its body, both about the body's origin. */
static void add_link_inertia(model_body *body, const model_link *link)
{
    mat3 r = quat_to_mat3(link->body_from_link.rotation);
    mat3 turned = mat3_multiply(mat3_multiply(r, link->inertia), mat3_transpose(r));
    mat6 part = mat6_inertia(link->mass, pose_apply(link->body_from_link, link->centre), turned);
    mat6_add(&body->inertia, &part, &body->inertia);
    body->mass += link->mass;
}

static bool is_positive_definite(const mat6 *inertia)
{
    mat6 inverse;
    return mat6_inverse_spd(inertia, &inverse) == HR_OK;
}

/* The least that makes the inertia of a moving body positive definite: first only rotational
 * inertia (a point mass), then mass too (nothing stated), and as the last resort a ball in place of
 * an indefinite matrix. */
static const char *mend_inertia(model_body *body)
{
    mat3 ball = mat3_scale(DEFAULT_INERTIA, mat3_identity());
    vec3 origin = {0, 0, 0};
    if (body->mass > 0) {
        mat6 spin = mat6_inertia(0, origin, ball), mended;
        mat6_add(&body->inertia, &spin, &mended);
        if (is_positive_definite(&mended)) {
            body->inertia = mended;
            return "a singular rotational inertia: 4e-08 kg m^2 added";
        }
        vec3 centre = {body->inertia.m[2][4] / body->mass, body->inertia.m[0][5] / body->mass,
                       body->inertia.m[1][3] / body->mass};
        body->inertia =
            mat6_inertia(body->mass, centre, mat3_scale(body->mass * 1e-4, mat3_identity()));
        return "an inertia that is not positive definite: that of a ball with its mass taken";
    }
    body->mass = DEFAULT_MASS;
    body->inertia = mat6_inertia(DEFAULT_MASS, origin, ball);
    return "no inertia: 0.001 kg and 4e-08 kg m^2 taken";
}

hr_status model_finish(model *m, model_warning warn, void *context)
{
    if (m->link_count == 0)
        return HR_ERR_ARGUMENT;
    free(m->bodies);
    m->bodies = calloc((size_t)m->link_count, sizeof *m->bodies);
    if (!m->bodies)
        return HR_ERR_MEMORY;
    assign_bodies(m);
    for (int i = 0; i < m->link_count; i++)
        add_link_inertia(&m->bodies[m->links[i].body], &m->links[i]);
    for (int b = 0; b < m->body_count; b++) {
        model_body *body = &m->bodies[b];
        body->stated_inertia = body->inertia;
        if (b == 0 || is_positive_definite(&body->inertia))
            continue;
        const char *what = mend_inertia(body);
        char text[256];
        (void)snprintf(text, sizeof text, "link \"%.120s\" moves but has %s",
                       m->links[body->link].name, what);
        if (warn)
            warn(context, text);
    }
    return HR_OK;
}

/* Torque and its time integrals go with mass * length^2, force with mass * length: a sliding joint
 * whose damper is a force per speed keeps the ratio by mass alone. */
static void scale_joint(model_joint *joint, double length, double mass)
{
    bool slides = joint->type == JOINT_PRISMATIC;
    double turning = slides ? mass : mass * length * length;
    joint->parent_from_joint.origin = vec3_scale(length, joint->parent_from_joint.origin);
    joint->pitch *= length;
    joint->damping *= turning;
    joint->armature *= turning;
    joint->friction *= slides ? mass * length : turning;
    joint->effort *= slides ? mass * length : turning;
    if (slides) {
        joint->lower *= length;
        joint->upper *= length;
        joint->velocity *= length;
    }
}

hr_status model_scale(model *m, double length, double mass)
{
    if (!(length > 0) || !(mass > 0) || !isfinite(length) || !isfinite(mass))
        return HR_ERR_ARGUMENT;
    for (int i = 0; i < m->link_count; i++) {
        model_link *link = &m->links[i];
        link->mass *= mass;
        link->centre = vec3_scale(length, link->centre);
        link->inertia = mat3_scale(mass * length * length, link->inertia);
        scale_joint(&m->joints[i], length, mass);
    }
    for (int i = 0; i < m->visual_count; i++)
        m->visuals[i].link_from_mesh.origin =
            vec3_scale(length, m->visuals[i].link_from_mesh.origin);
    for (int i = 0; i < m->collision_count; i++)
        m->collisions[i].link_from_mesh.origin =
            vec3_scale(length, m->collisions[i].link_from_mesh.origin);
    for (int i = 0; i < m->mesh_count; i++)
        for (int k = 0; k < m->meshes[i].vertex_count; k++)
            m->meshes[i].vertices[k] = vec3_scale(length, m->meshes[i].vertices[k]);
    return model_finish(m, NULL, NULL);
}

void model_free(model *m)
{
    for (int i = 0; i < m->link_count; i++) {
        free(m->links[i].name);
        free(m->joints[i].name);
    }
    for (int i = 0; i < m->mesh_count; i++)
        mesh_free(&m->meshes[i]);
    free(m->links);
    free(m->joints);
    free(m->visuals);
    free(m->collisions);
    free(m->meshes);
    free(m->mesh_is_solid);
    free(m->bodies);
    free(m->name);
    *m = (model){0};
}

int model_find_link(const model *m, const char *name)
{
    for (int i = 0; i < m->link_count; i++)
        if (strcmp(m->links[i].name, name) == 0)
            return i;
    return -1;
}

int model_find_joint(const model *m, const char *name)
{
    for (int i = 1; i < m->link_count; i++)
        if (strcmp(m->joints[i].name, name) == 0)
            return i;
    return -1;
}

void model_zero_coordinates(const model *m, double *q)
{
    for (int i = 0; i < m->q_count; i++)
        q[i] = 0;
    for (int i = 1; i < m->link_count; i++) {
        const model_joint *joint = &m->joints[i];
        if (joint->type == JOINT_SPHERICAL)
            q[joint->q] = 1;
        else if (joint->type == JOINT_FLOATING)
            q[joint->q + 3] = 1;
    }
}

void model_link_poses(const model *m, const double *q, pose *base_from_link)
{
    base_from_link[0] = pose_identity();
    for (int i = 1; i < m->link_count; i++) {
        const model_joint *joint = &m->joints[i];
        pose base_from_joint =
            pose_compose(base_from_link[m->links[i].parent], joint->parent_from_joint);
        base_from_link[i] = pose_compose(base_from_joint, joint_motion(joint, q + joint->q));
    }
}

pose model_body_joint_pose(const model *m, int body, const double *q)
{
    const model_joint *joint = &m->joints[m->bodies[body].link];
    return pose_compose(m->bodies[body].parent_from_joint, joint_motion(joint, q + joint->q));
}

void model_body_poses(const model *m, const double *q, pose *base_from_body)
{
    base_from_body[0] = pose_identity();
    for (int b = 1; b < m->body_count; b++)
        base_from_body[b] =
            pose_compose(base_from_body[m->bodies[b].parent], model_body_joint_pose(m, b, q));
}
