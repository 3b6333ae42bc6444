/* What a scene consists of, counted; what a person wants to know before starting it. */
#ifndef SERVER_SCENE_SURVEY_H
#define SERVER_SCENE_SURVEY_H

#include "server/world.h"

enum { SCENE_SHAPES = SCENE_CABLE + 1 };

typedef struct scene_survey {
    int kinds[SCENE_SHAPES]; /* bodies of the scene by scene_shape */
    int touchable;           /* bodies that can be felt: links count one by one */
    int joints;              /* that move */
    int degrees;             /* of freedom, of all joints */
    int triangles;           /* of meshes and of links */
    double tool_radius_m;    /* as the scene or else the settings say */
} scene_survey;

/* The settings must be those with which the world was made. */
HR_MUST_USE hr_status scene_survey_make(const scene *s, const config *settings, const world *w,
                                        scene_survey *out, hr_error *error);

#endif
