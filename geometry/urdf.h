/* Reads robot description files (URDF) into an articulated model.
 *
 * Joint types: fixed, revolute, continuous, prismatic, floating, and by extension spherical (or
 * ball) and screw (<screw pitch="metres per radian"/>). <dynamics> may carry armature (rotor
 * inertia) besides damping and friction. Links and joints are numbered depth first, children in the
 * order of the file; model_joint.file_order keeps the order of the joint elements. Transmissions,
 * materials, simulator tags and unknown elements are passed over. */
#ifndef GEOMETRY_URDF_H
#define GEOMETRY_URDF_H

#include <stddef.h>

#include "geometry/model.h"

typedef enum urdf_meshes {
    URDF_SKIP_MESHES,    /* dynamics needs none */
    URDF_LOAD_MESHES,    /* a missing or broken mesh is a warning, the shape is left out */
    URDF_REQUIRE_MESHES, /* ... is an error */
} urdf_meshes;

typedef struct urdf_options {
    urdf_meshes meshes;
    model_warning warn; /* hears "file:line: link ..."; may be NULL */
    void *context;
} urdf_options;

/* Mesh names may be relative, package://..., file://... or absolute; every suffix of the name is
 * tried below the file's folder and the folders above it. On failure *out is untouched and the
 * message is "file:line: what was expected, what was found". */
HR_MUST_USE hr_status urdf_load(const char *path, urdf_options options, model *out,
                                hr_error *error);

/* The same from memory; `name` stands for the file in messages and names the folder of meshes. */
HR_MUST_USE hr_status urdf_parse(const char *text, size_t size, const char *name,
                                 urdf_options options, model *out, hr_error *error);

/* Writes *path, the existing file that a mesh name in the URDF at `urdf_path` means. */
HR_MUST_USE hr_status urdf_find_mesh(const char *urdf_path, const char *mesh_name, char *path,
                                     size_t size);

#endif
