/* Which kind of actor plays a scene body. */
#include "server/actor.h"

#include "server/actor_kinds.h"

const actor_class *actor_class_for(const scene_body *body)
{
    switch (body->shape) {
    case SCENE_PLANE:
    case SCENE_SPHERE:
    case SCENE_ELLIPSOID:
    case SCENE_CAPSULE:
    case SCENE_BOX:
    case SCENE_BODY:
    case SCENE_MESH:
        return body->motion == SCENE_FREE ? &actor_free : &actor_scripted;
    case SCENE_CABLE:
        return &actor_cable;
    case SCENE_ARTICULATED:
        return &actor_articulated;
    default:
        return NULL;
    }
}
