/* The three set-ups of the paper at full size, for the benchmark and its figure: two wooden men
 * pulled together, a pendulum that meets itself, a wooden man who falls on plates and pots. */
#ifndef TESTS_SUPPORT_CCD_SCENES_H
#define TESTS_SUPPORT_CCD_SCENES_H

#include "collide/ccd_step.h"
#include "tests/test.h"

typedef enum ccd_scene_kind { CCD_MEN, CCD_PENDULUM, CCD_FALLING } ccd_scene_kind;

typedef struct ccd_stage {
    ccd_scene_kind kind;
    int count, moving; /* bodies; the first `moving` of them move */
    model models[16];
    ccd_body *bodies[16];
    ccd_scene *scene;
    ccd_limits limits;
    int triangles;
} ccd_stage;

/* How many joints can be active in each of the moving bodies. */
int ccd_stage_joints(const ccd_stage *s);

ccd_stage *ccd_stage_create(ccd_scene_kind kind);
void ccd_stage_destroy(ccd_stage *s);

/* Puts the bodies shortly before a contact and asks them to move through it, with `active` moving
 * joints in each moving body: the step of a 250 Hz world in which a man is pulled or falls at 1 m/s
 * and joints turn at up to 1 rad/s (the pendulum's at 3).
 * False when no contact came about with this draw. */
bool ccd_stage_before_contact(ccd_stage *s, test_random *r, int active, ccd_result *out);

#endif
