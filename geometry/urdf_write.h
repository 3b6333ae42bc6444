/* Writes an articulated model as URDF with STL meshes beside it. */
#ifndef GEOMETRY_URDF_WRITE_H
#define GEOMETRY_URDF_WRITE_H

#include "geometry/model.h"

/* Writes FOLDER/NAME.urdf and FOLDER/meshes/MESH.stl; makes the folders where they are missing.
 * Numbers keep all their digits; STL rounds coordinates to single precision. */
HR_MUST_USE hr_status urdf_save(const model *m, const char *folder, const char *name,
                                hr_error *error);

#endif
