/* A scene: the bodies that can be touched, their materials and how they move. Text to one plain
 * struct. World frame: CHAI3D axes, metres. Fit for geometry and physics to be built from it by the
 * server. */
#ifndef CONFIG_SCENE_H
#define CONFIG_SCENE_H

#include <stdint.h>

#include "config/config.h"
#include "geometry/error.h"
#include "geometry/vec3.h"

enum {
    SCENE_BODIES_MAX = 128,
    SCENE_NAME_MAX = 48,
    SCENE_KEYS_MAX = 16,
    SCENE_TEXT_MAX = 4096,
    SCENE_FOLDERS_MAX = 16
};

typedef enum scene_shape {
    SCENE_PLANE,       /* through the origin, outward normal +z */
    SCENE_SPHERE,      /* radius */
    SCENE_ELLIPSOID,   /* semi-axes */
    SCENE_CAPSULE,     /* radius, half length along z */
    SCENE_BOX,         /* half extents */
    SCENE_BODY,        /* parametric body file */
    SCENE_MESH,        /* triangle mesh file */
    SCENE_ARTICULATED, /* URDF file */
    SCENE_CABLE        /* one of the two cable set-ups */
} scene_shape;

typedef struct scene_material {
    double stiffness_n_per_m;
    double damping_n_s_per_m;
    double static_friction;
    double kinetic_friction; /* <= static */
} scene_material;

typedef enum scene_motion {
    SCENE_FIXED,
    SCENE_KEYFRAMES, /* smooth interpolation through poses at times, repeated */
    SCENE_OSCILLATE, /* amplitude * sin(2 pi f t) along a direction, and rotation about an axis */
    SCENE_FREE       /* moved by the dynamics */
} scene_motion;

typedef struct scene_key {
    double time_s;
    pose world_from_body;
} scene_key;

typedef struct scene_body {
    char name[SCENE_NAME_MAX];
    scene_shape shape;
    double radius_m;
    double half_length_m;
    vec3 half_size_m; /* semi-axes or half extents */
    char file[CONFIG_PATH_MAX];
    double scale; /* of the file's lengths */
    pose world_from_body;
    double mass_kg; /* for SCENE_FREE */
    scene_material material;
    scene_motion motion;
    vec3 amplitude_m;
    vec3 turn_rad; /* rotation vector amplitude */
    double frequency_hz;
    int key_count;
    scene_key keys[SCENE_KEYS_MAX];
    int active_joints; /* budget, for SCENE_ARTICULATED; 0: all */
    int line;          /* in the scene file, for messages */
} scene_body;

typedef struct scene {
    char file[CONFIG_PATH_MAX];
    char name[SCENE_NAME_MAX];
    char sentence[160];               /* what a person can feel there */
    vec3 gravity;                     /* m/s^2 */
    double tool_radius_m;             /* < 0: as configured */
    char tool_file[CONFIG_PATH_MAX];  /* convex body that is the tool; empty: a point or sphere */
    double tool_scale;                /* of that file's lengths */
    char hand_script[SCENE_TEXT_MAX]; /* default script of the simulated hand */
    int hand_script_line;
    int body_count;
    scene_body bodies[SCENE_BODIES_MAX];
} scene;

/* On failure *out is untouched. Relative files are looked up beside the scene file. */
HR_MUST_USE hr_status scene_load(const char *path, scene *out, hr_error *error);
HR_MUST_USE hr_status scene_parse(const char *text, const char *name, scene *out, hr_error *error);

/* Does `file` name a file? Cable set-ups, and the mechanisms and meshes that the program makes
 * itself (articulated bodies and meshes whose file has no dot), are names only. */
bool scene_body_has_file(const scene_body *body);

/* The word that scene files use. */
const char *scene_shape_name(scene_shape shape);

/* Where shipped scenes are looked for, best first; returns how many. */
int scene_folders(char folders[][CONFIG_PATH_MAX], int room);

/* Finds a shipped scene by name (in the source tree, $HAPTICD_SCENES or the installed folder), or
 * takes name as a path. Writes the path. */
HR_MUST_USE hr_status scene_find(const char *name, char *path, int size, hr_error *error);

#endif
