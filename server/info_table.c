#include "server/info.h"

const info_probe info_table[] = {
    {"recording", info_trace_accepts, info_trace_print},
    {"body", info_body_accepts, info_body_print},
    {"mesh", info_mesh_accepts, info_mesh_print},
    {"scene", info_scene_accepts, info_scene_print},
    {"URDF model", info_urdf_accepts, info_urdf_print},
    {NULL, NULL, NULL},
};
