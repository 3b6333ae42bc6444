/* Small articulated models for the tests and benchmarks of collision detection. */
#ifndef TESTS_SUPPORT_CCD_MODELS_H
#define TESTS_SUPPORT_CCD_MODELS_H

#include "geometry/model.h"
#include "tests/test.h"

/* One link with a mesh (taken over), at rest. */
void ccd_model_single(mesh *part, model *out);

/* A link with a mesh on a base without one. */
void ccd_model_jointed(joint_type type, vec3 axis, double pitch, mesh *part, model *out);

/* `links` boxes of unit length along x, hinged in a row about random axes; every link but the base
 * moves. */
void ccd_model_chain(test_random *r, int links, vec3 box, model *out);

/* Random tree: parents, joint types and places at random, a small box on every link. */
void ccd_model_random(test_random *r, int links, model *out);

/* Random coordinates within +-size (unit quaternions where there are any). */
void ccd_model_random_q(test_random *r, const model *m, double size, double *q);

#endif
