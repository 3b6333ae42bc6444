/* Rows of the contact programme from features. Unknowns are velocity changes dv; every row reads
 *
 *     sum f_k n . dv_k  <=  h/dt - sum f_k n . v_k
 *
 * with f_k < 0 for the points of the first body and > 0 for those of the second, n the unit normal
 * from the second to the first, h the clearance (gap less both radii). So increasing the left side
 * closes the gap. A point may belong to a particle, a rigid body, an articulated body or to
 * something scripted whose velocity is given. */
#ifndef SOLVER_CONTACT_ROWS_H
#define SOLVER_CONTACT_ROWS_H

#include "collide/shape.h"
#include "geometry/vec3.h"
#include "solver/qp.h"

enum { ROW_ENTRIES_MAX = 128 };

typedef enum row_owner {
    ROW_SCRIPTED, /* no unknowns */
    ROW_PARTICLE, /* unknowns first .. first + 2: velocity */
    ROW_RIGID, /* first .. first + 2: velocity of the centre; first + 3 .. + 5: angular velocity */
    ROW_ARTICULATED /* columns of the point's Jacobian, by joint_count unknowns */
} row_owner;

typedef struct row_point {
    row_owner owner;
    int first;
    vec3 velocity; /* m/s, of the point at the start of the step (scripted: at its end) */
    vec3 arm;      /* m, rigid: from the centre to the point, world axes */
    /* Articulated: velocity of the point per unit of each of these unknowns, counted from `first`;
     * NULL: 0, 1, 2 ... Borrowed until the row or the programme is made. */
    int joint_count;
    const int *unknowns;
    const vec3 *joints;
} row_point;

typedef struct contact_row {
    uint64_t key;
    int count;
    int index[ROW_ENTRIES_MAX];
    double value[ROW_ENTRIES_MAX];
    double low, high;
    double softness;
    double rate;  /* sum f_k n . v_k: the row's left side for the present velocities */
    bool is_full; /* more entries than there is room for: refused by contact_row_emit */
} contact_row;

/* How a clearance becomes a bound. */
typedef struct row_step {
    double dt;       /* s */
    double recovery; /* m/s, exit speed from penetration; 0.05 */
} row_step;
#define ROW_RECOVERY 0.05

HR_RT void contact_row_begin(contact_row *row, uint64_t key);
HR_RT void contact_row_point(contact_row *row, const row_point *point, double factor, vec3 normal);

/* Bounds the row by a clearance, m; deep ones ask only for the recovery speed. */
HR_RT void contact_row_clearance(contact_row *row, double clearance, row_step step);

/* Vertex i against triangle j: weights of the triangle's corners, clamped to [0, 1] here. */
HR_RT void contact_row_vertex_triangle(contact_row *row, uint64_t key, const row_point *vertex,
                                       const row_point triangle[3], const double weights[3],
                                       vec3 normal, double clearance, row_step step);

/* Edge i (parameter a) against edge j (parameter b). */
HR_RT void contact_row_edge_edge(contact_row *row, uint64_t key, const row_point first[2], double a,
                                 const row_point second[2], double b, vec3 normal, double clearance,
                                 row_step step);

/* Point of an edge (or a vertex: both ends the same, a = 0) against something scripted that moves
 * with `obstacle` there. */
HR_RT void contact_row_edge_scripted(contact_row *row, uint64_t key, const row_point edge[2],
                                     double a, vec3 obstacle, vec3 normal, double clearance,
                                     row_step step);

/* Longest: |x_i - x_j| <= length after the step, linearised along n (unit, from j to i), where
 * `along` = n . (x_i - x_j). Shortest: >= length. */
HR_RT void contact_row_longest(contact_row *row, uint64_t key, const row_point *i,
                               const row_point *j, vec3 n, double along, double length, double dt);
HR_RT void contact_row_shortest(contact_row *row, uint64_t key, const row_point *i,
                                const row_point *j, vec3 n, double along, double length, double dt);

/* low <= q + dt (qd + dqd) <= high for one unknown; deep violations recover at `speed`. */
HR_RT void contact_row_joint_limit(contact_row *row, uint64_t key, int unknown, double q, double qd,
                                   double low, double high, double dt, double speed);

/* One component of a velocity that is given: unknown = wanted - now. */
HR_RT void contact_row_fixed(contact_row *row, uint64_t key, int unknown, double now,
                             double wanted);

/* Adds the row. A row without entries is left out: HR_OK where it asks for nothing, else
 * HR_ERR_INFEASIBLE. */
HR_RT HR_MUST_USE hr_status contact_row_emit(const contact_row *row, qp *q);

/* Normal of a triangle on the side where the vertex was when it was last clear: side is +1, -1 or 0
 * (not known: the present side, which is written back). */
HR_RT vec3 contact_normal_triangle(vec3 vertex, const vec3 triangle[3], int *side);

/* From edge j to edge i. Closer than 1e-6 m the difference has no direction: then the last normal,
 * or without one (zero vector) the cross product of the edges. *signed_gap follows the normal. */
HR_RT vec3 contact_normal_edges(vec3 on_i, vec3 on_j, vec3 along_i, vec3 along_j, vec3 last,
                                double *signed_gap);

/* The point of the segment nearest to a shape at rest in world_from_shape, within `reach`: its
 * parameter and the contact there (world frame). False where there is none. Convex shapes: the
 * distance along a segment is convex, so a golden-section search finds it. */
bool contact_edge_shape(const shape *s, pose world_from_shape, vec3 start, vec3 end, double reach,
                        double *parameter, shape_contact *out);

#endif
