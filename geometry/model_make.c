/* The wooden man and the pendulum: tables of parts turned into links with meshes and inertias. */
#include "geometry/model_make.h"

#include <stdio.h>
#include <string.h>

#include "geometry/mesh_inertia.h"

/* A part of the man: an egg-ended rod from the joint along `reach` (link frame, m). */
typedef struct part {
    const char *name;
    const char *parent;
    joint_type type;
    vec3 at;              /* the joint in the parent's frame, m */
    vec3 axis;            /* hinges */
    double lower, upper;  /* hinges, rad */
    vec3 reach;           /* to the far end */
    double radius, width; /* along the link's x, and its y as a multiple of x */
    double mass;          /* kg */
} part;

#define HINGE(x, y, z)                                                                             \
    {                                                                                              \
        x, y, z                                                                                    \
    }
#define BALL                                                                                       \
    {                                                                                              \
        1, 0, 0                                                                                    \
    }

/* Left limbs only; the right ones are mirrored in y. Masses add up to 75 kg. */
static const part middle[] = {
    {"spine_1", "pelvis", JOINT_SPHERICAL, {0, 0, 0.09}, BALL, 0, 0, {0, 0, 0.12}, 0.085, 1.3, 7},
    {"spine_2", "spine_1", JOINT_SPHERICAL, {0, 0, 0.13}, BALL, 0, 0, {0, 0, 0.13}, 0.09, 1.35, 8},
    {"spine_3", "spine_2", JOINT_SPHERICAL, {0, 0, 0.14}, BALL, 0, 0, {0, 0, 0.16}, 0.1, 1.45, 12},
    {"neck", "spine_3", JOINT_SPHERICAL, {0, 0, 0.17}, BALL, 0, 0, {0, 0, 0.08}, 0.04, 1, 1.4},
    {"head", "neck", JOINT_SPHERICAL, {0, 0, 0.09}, BALL, 0, 0, {0, 0, 0.22}, 0.085, 0.9, 4.6},
};

static const part side[] = {
    {"clavicle",
     "spine_3",
     JOINT_REVOLUTE,
     {0, 0.155, 0.12},
     HINGE(1, 0, 0),
     -0.3,
     0.5,
     {0, 0.07, 0},
     0.03,
     1,
     0.8},
    {"upper_arm",
     "clavicle",
     JOINT_SPHERICAL,
     {0, 0.105, 0},
     BALL,
     0,
     0,
     {0, 0, -0.28},
     0.045,
     1,
     2},
    {"forearm",
     "upper_arm",
     JOINT_REVOLUTE,
     {0, 0, -0.29},
     HINGE(0, 1, 0),
     -2.4,
     0.05,
     {0, 0, -0.16},
     0.038,
     1,
     0.8},
    {"wrist",
     "forearm",
     JOINT_REVOLUTE,
     {0, 0, -0.17},
     HINGE(0, 0, 1),
     -1.5,
     1.5,
     {0, 0, -0.08},
     0.032,
     0.9,
     0.4},
    {"hand", "wrist", JOINT_SPHERICAL, {0, 0, -0.09}, BALL, 0, 0, {0, 0, -0.1}, 0.04, 0.5, 0.35},
    {"fingers",
     "hand",
     JOINT_REVOLUTE,
     {0, 0, -0.11},
     HINGE(1, 0, 0),
     -1.6,
     1.6,
     {0, 0, -0.08},
     0.035,
     0.4,
     0.15},
    {"thigh", "pelvis", JOINT_SPHERICAL, {0, 0.095, -0.085}, BALL, 0, 0, {0, 0, -0.4}, 0.075, 1, 8},
    {"shin",
     "thigh",
     JOINT_REVOLUTE,
     {0, 0, -0.41},
     HINGE(0, 1, 0),
     -0.05,
     2.5,
     {0, 0, -0.3},
     0.055,
     1,
     3},
    {"ankle",
     "shin",
     JOINT_REVOLUTE,
     {0, 0, -0.31},
     HINGE(0, 0, 1),
     -0.6,
     0.6,
     {0, 0, -0.09},
     0.04,
     1,
     0.7},
    {"foot",
     "ankle",
     JOINT_SPHERICAL,
     {-0.03, 0, -0.135},
     BALL,
     0,
     0,
     {0.15, 0, -0.03},
     0.035,
     1.2,
     0.8},
    {"toes",
     "foot",
     JOINT_REVOLUTE,
     {0.16, 0, -0.032},
     HINGE(0, 1, 0),
     -0.9,
     0.5,
     {0.07, 0, 0},
     0.025,
     1.7,
     0.2},
};

static const part pelvis = {"pelvis", "stand", JOINT_CONTINUOUS, {0, 0, 0}, HINGE(0, 0, 1),
                            0,        0,       {0, 0, 0},        0.075,     1.5,
                            7.2};

enum { MAN_RINGS = 12, MAN_SEGMENTS = 23 }; /* 552 triangles a link */

/* Turns the z axis into `direction` and moves the middle of the mesh half way along it. */
static void lay_along(mesh *m, vec3 reach, double width)
{
    double length = vec3_length(reach);
    vec3 up = vec3_normalize_or(reach, (vec3){0, 0, 1});
    /* the broad side stays along the man's y where the rod is not along y itself */
    vec3 broad = fabs(up.y) < 0.9 ? (vec3){0, 1, 0} : (vec3){1, 0, 0};
    broad = vec3_normalize_or(vec3_reject(broad, up), (vec3){0, 1, 0});
    mat3 turn = mat3_from_columns(vec3_cross(broad, up), broad, up);
    for (int i = 0; i < m->vertex_count; i++) {
        vec3 v = m->vertices[i];
        v.y *= width;
        v.z += 0.5 * length;
        m->vertices[i] = mat3_apply(turn, v);
    }
}

/* The mesh becomes the link's only shape, visual and collision alike. */
static hr_status give_mesh(model *m, int link, mesh *shape, double mass)
{
    mesh_inertia own = mesh_inertia_of(shape, mass);
    m->links[link].mass = mass;
    m->links[link].centre = own.centre;
    m->links[link].inertia = own.inertia;
    m->links[link].has_own_inertia = true;
    model_shape s = {
        .link = link, .mesh = model_add_mesh(m, shape), .link_from_mesh = pose_identity()};
    if (s.mesh < 0 || model_add_visual(m, s) < 0 || model_add_collision(m, s) < 0)
        return HR_ERR_MEMORY;
    return HR_OK;
}

/* Rods end a little before the next joint, so that neighbours keep a gap. */
static hr_status make_rod(const part *p, double scale, mesh *out)
{
    double length = scale * vec3_length(p->reach), radius = scale * p->radius;
    double straight = length - 2 * radius;
    hr_status status = straight > 0
                           ? mesh_make_capsule(radius, straight, MAN_RINGS, MAN_SEGMENTS, out)
                           : mesh_make_sphere(radius, MAN_RINGS, MAN_SEGMENTS, out);
    if (status != HR_OK)
        return status;
    if (straight < 0 && length > 0) /* short parts are flattened along their length */
        for (int i = 0; i < out->vertex_count; i++)
            out->vertices[i].z *= 0.5 * length / radius;
    lay_along(out, vec3_scale(scale, p->reach), p->width);
    return HR_OK;
}

static vec3 mirrored(vec3 v, double sign)
{
    return (vec3){v.x, sign * v.y, v.z};
}

/* sign: 1 left, -1 right, 0 in the middle. */
static hr_status add_part(model *m, const part *p, int sign, const wooden_man_options *o)
{
    static const char *const prefixes[] = {"right_", "", "left_"};
    char name[64], parent[64], joint_name[80];
    bool parent_is_middle = strcmp(p->parent, "pelvis") == 0 || strcmp(p->parent, "spine_3") == 0;
    (void)snprintf(name, sizeof name, "%s%s", prefixes[sign + 1], p->name);
    (void)snprintf(parent, sizeof parent, "%s%s", parent_is_middle ? "" : prefixes[sign + 1],
                   p->parent);
    (void)snprintf(joint_name, sizeof joint_name, "%s_joint", name);
    double side_sign = sign == 0 ? 1 : sign;
    bool is_hinge = joint_v_count(p->type) == 1;
    part own = *p;
    own.reach = mirrored(p->reach, side_sign);
    /* a rotation axis is a pseudo-vector: mirroring in y turns x and z round, keeps y */
    vec3 axis = {side_sign * p->axis.x, p->axis.y, side_sign * p->axis.z};
    model_joint joint = {
        .name = joint_name,
        .type = p->type,
        .parent_from_joint = {{1, 0, 0, 0}, vec3_scale(o->scale, mirrored(p->at, side_sign))},
        .axis = is_hinge ? axis : (vec3){1, 0, 0},
        .has_limits = p->upper > p->lower,
        .lower = p->lower,
        .upper = p->upper,
        .effort = 100,
        .velocity = 20,
        .damping = p->type == JOINT_FLOATING ? 0 : o->damping,
        .mimic = -1,
        .mimic_multiplier = 1,
        .file_order = m->link_count - 1};
    int link = model_add_link(m, name, model_find_link(m, parent), &joint);
    mesh shape = {0};
    hr_status status = link < 0 ? HR_ERR_MEMORY : make_rod(&own, o->scale, &shape);
    if (status == HR_OK)
        status = give_mesh(m, link, &shape, p->mass * o->scale * o->scale * o->scale);
    mesh_free(&shape);
    return status;
}

/* A pin below the pelvis, behind the legs' reach. */
static hr_status add_stand(model *m, double scale)
{
    int link = model_add_link(m, "stand", -1, NULL);
    if (link < 0)
        return HR_ERR_MEMORY;
    part rod = {.reach = {0, 0, -0.2}, .radius = 0.012, .width = 1};
    mesh shape = {0};
    hr_status status = make_rod(&rod, scale, &shape);
    for (int i = 0; i < shape.vertex_count; i++)
        shape.vertices[i].z -= 0.1 * scale;
    if (status == HR_OK)
        status = give_mesh(m, link, &shape, 1 * scale * scale * scale);
    mesh_free(&shape);
    return status;
}

hr_status model_make_wooden_man(wooden_man_options options, model *out)
{
    if (!(options.scale > 0))
        options.scale = 1;
    model m = {.name = strdup("wooden_man")};
    part first = pelvis;
    if (options.is_floating)
        first.type = JOINT_FLOATING;
    hr_status status = m.name ? add_stand(&m, options.scale) : HR_ERR_MEMORY;
    if (status == HR_OK)
        status = add_part(&m, &first, 0, &options);
    for (int i = 0; status == HR_OK && i < HR_COUNT(middle); i++)
        status = add_part(&m, &middle[i], 0, &options);
    for (int sign = 1; sign >= -1; sign -= 2)
        for (int i = 0; status == HR_OK && i < HR_COUNT(side); i++)
            status = add_part(&m, &side[i], sign, &options);
    if (status == HR_OK)
        status = model_finish(&m, NULL, NULL);
    if (status == HR_OK)
        *out = m;
    else
        model_free(&m);
    return status;
}

/* Ball number i, 1 ..; 0 is the mount. */
static hr_status add_ball(model *m, int i, const pendulum_options *o)
{
    const double spacing = 0.1, radius = o->radius > 0 ? o->radius : 0.03, mass = 0.1;
    char name[32], joint_name[32];
    (void)snprintf(name, sizeof name, i == 0 ? "mount" : "ball_%d", i);
    (void)snprintf(joint_name, sizeof joint_name, "joint_%d", i);
    bool is_y = o->joints == PENDULUM_ALTERNATING && i % 2 == 1;
    model_joint joint = {.name = joint_name,
                         .type =
                             o->joints == PENDULUM_SPHERICAL ? JOINT_SPHERICAL : JOINT_CONTINUOUS,
                         .parent_from_joint = pose_identity(),
                         .axis = is_y ? (vec3){0, 1, 0} : (vec3){1, 0, 0},
                         .damping = o->damping,
                         .mimic = -1,
                         .mimic_multiplier = 1,
                         .file_order = i - 1};
    joint.parent_from_joint.origin.z = i > 1 ? -spacing : 0;
    int link = model_add_link(m, name, i - 1, i > 0 ? &joint : NULL);
    if (link < 0)
        return HR_ERR_MEMORY;
    mesh ball = {0};
    hr_status status =
        i == 0 ? mesh_make_sphere(0.02, 8, 10, &ball) : mesh_make_sphere(radius, 11, 24, &ball);
    for (int k = 0; i > 0 && k < ball.vertex_count; k++)
        ball.vertices[k].z -= spacing;
    if (status == HR_OK)
        status = give_mesh(m, link, &ball, mass);
    mesh_free(&ball);
    /* the inertia of the ball that the mesh stands for */
    m->links[link].centre = (vec3){0, 0, i > 0 ? -spacing : 0};
    m->links[link].inertia = mat3_scale(0.4 * mass * radius * radius, mat3_identity());
    return status;
}

hr_status model_make_pendulum(pendulum_options options, model *out)
{
    if (options.balls <= 0)
        options.balls = 30;
    model m = {.name = strdup("pendulum")};
    hr_status status = m.name ? HR_OK : HR_ERR_MEMORY;
    for (int i = 0; status == HR_OK && i <= options.balls; i++)
        status = add_ball(&m, i, &options);
    if (status == HR_OK)
        status = model_finish(&m, NULL, NULL);
    if (status == HR_OK)
        *out = m;
    else
        model_free(&m);
    return status;
}

hr_status model_make(const char *name, model *out)
{
    if (strcmp(name, "wooden-man") == 0)
        return model_make_wooden_man((wooden_man_options){.damping = 0.5}, out);
    if (strcmp(name, "wooden-man-free") == 0)
        return model_make_wooden_man((wooden_man_options){.is_floating = true, .damping = 0.5},
                                     out);
    if (strcmp(name, "pendulum") == 0)
        return model_make_pendulum((pendulum_options){.damping = 2e-3}, out);
    if (strcmp(name, "pendulum-spherical") == 0)
        return model_make_pendulum(
            (pendulum_options){.joints = PENDULUM_SPHERICAL, .damping = 2e-3, .radius = 0.045},
            out);
    return HR_ERR_NOT_FOUND;
}
