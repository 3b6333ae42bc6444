/* An articulated body as collision detection sees it: the kinematics of a step over time intervals,
 * kept on the assembly tree so that only what moves is computed.
 *
 * Frames: a node has the frame of its top part. Because top(C) = top(A), child A shares the frame
 * of its parent C; child B hangs on it by C_from_B     = [top_from_handle of A at the parent part]
 * joint(t) C: handle[0] = A's handle[0];  handle[1] = C_from_B [top_from_handle of B] (the paper's
 * principal-to-secondary, joint and child-to-parent transforms read off this tree). The *dirty*
 * nodes are those whose joint moves in this step, and their ancestors. Everything else is a set of
 * rigid groups with cached constants and boxes. */
#ifndef COLLIDE_CCD_BODY_H
#define COLLIDE_CCD_BODY_H

#include "collide/assembly_tree.h"
#include "collide/joint_path.h"
#include "collide/motion.h"
#include "collide/obb_tree.h"

/* How much work was done; see the cost claims in the tests. */
typedef struct ccd_counters {
    int64_t joint_evals;   /* joint enclosures */
    int64_t node_updates;  /* dirty nodes recomputed, per interval */
    int64_t world_updates; /* transforms toward the world or a common ancestor */
    int64_t box_tests;     /* pairs of oriented boxes over an interval */
    int64_t sweep_tests;   /* pairs of boxes of whole bodies */
    int64_t broad_tests;   /* pairs of boxes of the assembly trees */
    int64_t time_splits;
    int64_t triangle_tests;
    int64_t feature_tests;
    int64_t feature_nodes;
} ccd_counters;

typedef struct ccd_body ccd_body;

/* Builds boxes over the collision meshes (or the visual ones where there are none) of every body of
 * the model; the model must outlive it. NULL when out of memory or when a coordinate is not finite.
 * `shape` is for tests: results do not depend on it. */
ccd_body *ccd_body_create(const model *m, assembly_shape shape, pose world_from_base);
void ccd_body_destroy(ccd_body *body); /* accepts NULL */

/* Every triangle stands for all points within `radius` (m, >= 0) of it: one degenerate triangle is
 * a ball or a capsule. Zero after create. */
void ccd_body_set_radius(ccd_body *body, double radius);
double ccd_body_radius(const ccd_body *body);

/* Sets the coordinates at which everything rests and refreshes every constant: O(n). */
HR_MUST_USE hr_status ccd_body_place(ccd_body *body, const double *q);

/* The step from where the body rests to q1: joints whose coordinates differ are active.
 * HR_ERR_NOT_FINITE changes nothing. Costs O(joints of the model) comparisons and O(dirty) work;
 * ccd_body_move_joints costs O(m log n) only. */
HR_MUST_USE hr_status ccd_body_move(ccd_body *body, const double *q1);

/* The same where the caller knows which bodies (child bodies of the joints) may have moved. */
HR_MUST_USE hr_status ccd_body_move_joints(ccd_body *body, const int *joints, int count,
                                           const double *q1);

/* Ends the step at time t: the body rests there. O(dirty). */
void ccd_body_stop(ccd_body *body, double t);

/* The coordinates at time t of the step; all of the model's are written. */
void ccd_body_coordinates_at(const ccd_body *body, double t, double *q);

/* Where the body rests now, or was at the start of the step. */
const double *ccd_body_coordinates(const ccd_body *body);

/* Enclosures of everything dirty on |t - middle| <= half. */
void ccd_body_enclose(ccd_body *body, double middle, double half, ccd_counters *counters);

/* Valid for the interval of the last ccd_body_enclose: transform and box of a node relative to its
 * ancestor `top` (the tree's root: relative to the world). Pointers live until the next call with
 * another ancestor or interval. The box holds everything below the node, in the ancestor's frame.
 */
const motion *ccd_body_from_node(ccd_body *body, int top, int node, ccd_counters *counters);
const motion_box *ccd_body_box(ccd_body *body, int top, int node, ccd_counters *counters);

/* world_from_part at time t of the step, by points. */
rigid ccd_body_part_at(const ccd_body *body, int part, double t);

const assembly_tree *ccd_body_tree(const ccd_body *body);
const model *ccd_body_model(const ccd_body *body);
bool ccd_body_is_dirty(const ccd_body *body, int node);
int ccd_body_dirty_count(const ccd_body *body);

/* Changes whenever the body comes to rest somewhere else. */
int64_t ccd_body_place_number(const ccd_body *body);

/* The triangles of a part in its frame; NULL where it has none. */
const obb_tree *ccd_body_triangles(const ccd_body *body, int part);

#endif
