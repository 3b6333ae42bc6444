/* An articulated body: links joined by joints into a tree, with inertias and meshes.
 *
 * Two levels. *Links* are what the file names: every link i but the first hangs on link
 * links[i].parent < i by joint i (a joint has the number of its child link; joint 0 is unused).
 * *Bodies* are what moves: a link with all that fixed joints weld to it. Body 0 is the base and
 * does not move; body b > 0 hangs on body bodies[b].parent < b by the movable joint of its first
 * link, and its frame is the frame of that link. Dynamics and collision detection see bodies only.
 *
 * A link frame is its joint's frame after the joint's motion. */
#ifndef GEOMETRY_MODEL_H
#define GEOMETRY_MODEL_H

#include "geometry/mesh.h"
#include "geometry/spatial.h"

typedef enum joint_type {
    JOINT_FIXED,
    JOINT_REVOLUTE,   /* q: angle */
    JOINT_CONTINUOUS, /* a revolute joint without limits */
    JOINT_PRISMATIC,  /* q: displacement */
    JOINT_SCREW,      /* q: angle; it advances by pitch per radian */
    JOINT_SPHERICAL,  /* q: quaternion w x y z; velocity: angular, in child axes */
    JOINT_FLOATING    /* q: x y z, quaternion w x y z; velocity: [angular; linear], child axes */
} joint_type;

enum { JOINT_Q_MAX = 7, JOINT_V_MAX = 6 };

typedef struct model_joint {
    char *name;
    joint_type type;
    pose parent_from_joint; /* where the joint sits on the parent link */
    vec3 axis;              /* unit, joint frame; used by the types with one degree of freedom */
    double pitch;           /* m/rad, screw only */
    bool has_limits;
    double lower, upper; /* rad or m */
    double effort;       /* N m or N; 0 where none is stated */
    double velocity;     /* rad/s or m/s; 0 where none is stated */
    double damping;      /* N m s/rad or N s/m */
    double friction;     /* N m or N */
    double armature;     /* rotor inertia, kg m^2 or kg */
    int mimic;           /* joint that this one follows, or -1 */
    double mimic_multiplier, mimic_offset;
    int file_order; /* position among the joints of the file */
    int q, v;       /* where its coordinates and velocities start */
} model_joint;

typedef struct model_shape {
    int link;
    int mesh;
    pose link_from_mesh;
} model_shape;

typedef struct model_link {
    char *name;
    int parent;           /* -1 for link 0 */
    double mass;          /* kg; 0 where the file states none */
    vec3 centre;          /* of mass, link frame, m */
    mat3 inertia;         /* about the centre of mass, link axes, kg m^2 */
    int body;             /* filled by model_finish */
    pose body_from_link;  /* filled by model_finish */
    bool has_own_inertia; /* the file states one */
} model_link;

typedef struct model_body {
    int parent;             /* body; -1 for body 0 */
    int link;               /* its first link, whose joint moves it and whose frame it has */
    pose parent_from_joint; /* where that joint sits in the parent *body's* frame */
    mat6 inertia;           /* of all its links, about its frame's origin; positive definite */
    mat6 stated_inertia;    /* the same without what model_finish had to add */
    double mass;            /* kg */
} model_body;

typedef struct model {
    char *name;
    int link_count, link_room;
    model_link *links;
    model_joint *joints; /* joints[i] leads to links[i] */
    int visual_count, visual_room;
    model_shape *visuals;
    int collision_count, collision_room;
    model_shape *collisions;
    int mesh_count, mesh_room, solid_room;
    mesh *meshes;
    bool *mesh_is_solid; /* a box, sphere, ... made from numbers, not read from a mesh file */
    int body_count;
    model_body *bodies;
    int q_count, v_count; /* all coordinates, all velocities */
} model;

/* How many coordinates and velocities a joint has. */
HR_RT int joint_q_count(joint_type type);
HR_RT int joint_v_count(joint_type type);
const char *joint_type_name(joint_type type);

/* The motion of the joint alone: joint_from_child at the coordinates q[0 ..]. */
HR_RT pose joint_motion(const model_joint *joint, const double *q);

/* The motion subspace S: joint_v_count columns, child frame; child velocity = ... + S v. */
HR_RT void joint_subspace(const model_joint *joint, vec6 columns[JOINT_V_MAX]);

/* Adds `scale` times the velocity v to the coordinates q, on the manifold (quaternions stay unit).
 */
HR_RT void joint_integrate(joint_type type, double *q, const double *v, double scale);

/* A model to add to: {0} is empty. All return the new index, or -1 when out of memory or when the
 * arguments break the contract (parent must exist; the first link has parent -1). The joint is
 * copied, its name too; link 0 ignores it (NULL is good). */
int model_add_link(model *m, const char *name, int parent, const model_joint *joint);

/* Takes over the arrays of *part and empties it. */
int model_add_mesh(model *m, mesh *part);
int model_add_visual(model *m, model_shape shape);
int model_add_collision(model *m, model_shape shape);

/* Call once after the last link: lays out q and v, welds links into bodies. Moving bodies whose
 * inertia is not positive definite get what is missing (the smallest that dynamics can carry);
 * `warn` (may be NULL) hears about each. */
typedef void (*model_warning)(void *context, const char *text);
HR_MUST_USE hr_status model_finish(model *m, model_warning warn, void *context);

/* Makes all lengths and masses so many times as large; inertias, dampers and rotor inertias follow
 * as those of a body of the same build, limits of sliding joints too. Calls model_finish. */
HR_MUST_USE hr_status model_scale(model *m, double length, double mass);

/* Accepts an empty model and leaves an empty model. */
void model_free(model *m);

/* -1 when there is none of that name. */
int model_find_link(const model *m, const char *name);
int model_find_joint(const model *m, const char *name);

/* The coordinates in which every joint rests: zeros, identity quaternions. */
HR_RT void model_zero_coordinates(const model *m, double *q);

/* Plain forward kinematics: base_from_link for every link, base_from_body for every body. */
HR_RT void model_link_poses(const model *m, const double *q, pose *base_from_link);
HR_RT void model_body_poses(const model *m, const double *q, pose *base_from_body);

/* parent_from_child of body b > 0 (poses of bodies) at the coordinates of the whole model. */
HR_RT pose model_body_joint_pose(const model *m, int body, const double *q);

#endif
