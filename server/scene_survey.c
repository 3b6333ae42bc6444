#include "server/scene_survey.h"

#include <string.h>

#include "collide/touch_mesh.h"
#include "geometry/model_make.h"
#include "geometry/urdf.h"

static hr_status count_model(const scene_body *b, scene_survey *out, hr_error *error)
{
    model m = {0};
    hr_status status = HR_OK;
    if (scene_body_has_file(b))
        status = urdf_load(b->file, (urdf_options){.meshes = URDF_LOAD_MESHES}, &m, error);
    else if (model_make(b->file, &m) != HR_OK)
        status = error_set(error, HR_ERR_MEMORY, "%s: no memory", b->file);
    if (status != HR_OK)
        return status;
    for (int i = 1; i < m.link_count; i++)
        out->joints += joint_v_count(m.joints[i].type) > 0;
    out->degrees += m.v_count;
    bool has_collisions = m.collision_count > 0;
    const model_shape *shapes = has_collisions ? m.collisions : m.visuals;
    int count = has_collisions ? m.collision_count : m.visual_count;
    for (int i = 0; i < count; i++)
        out->triangles += m.meshes[shapes[i].mesh].triangle_count;
    model_free(&m);
    return HR_OK;
}

static bool is_articulated(const scene *s, const char *name)
{
    for (int i = 0; i < s->body_count; i++)
        if (strcmp(s->bodies[i].name, name) == 0)
            return s->bodies[i].shape == SCENE_ARTICULATED;
    return false;
}

hr_status scene_survey_make(const scene *s, const config *settings, const world *w,
                            scene_survey *out, hr_error *error)
{
    scene_survey made = {.touchable = world_body_count(w)};
    made.tool_radius_m =
        s->tool_radius_m >= 0 ? s->tool_radius_m : settings->coupling.tool_radius_m;
    for (int i = 0; i < s->body_count; i++) {
        made.kinds[s->bodies[i].shape]++;
        hr_status status = HR_OK;
        if (s->bodies[i].shape == SCENE_ARTICULATED)
            status = count_model(&s->bodies[i], &made, error);
        if (status != HR_OK)
            return status;
    }
    int count;
    const shape *shapes = world_shapes(w, &count);
    for (int i = 0; i < count; i++) /* the meshes of links are counted with their model */
        if (shapes[i].kind == SHAPE_MESH && !is_articulated(s, world_body_name(w, i)))
            made.triangles += shapes[i].mesh->triangle_count;
    *out = made;
    return HR_OK;
}
