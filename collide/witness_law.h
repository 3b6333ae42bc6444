/* The control law of the witness points (Patoglu and Gillespie): the error g whose root is the pair
 * of nearest points, its Jacobian H in the parameters and its rate b under the bodies' motion, for
 * every pair of features: surface (2 parameters), curve (1) or point (0) against the same.
 *
 *     D = f - h          f on A, h on B, everything in A's frame
 *     g = dD/dx . D      the gradient of |D|^2 / 2
 *     dg/dt = H dx/dt + b
 *
 * At the root of a disjoint convex pair H is positive definite where the distance is positive and
 * no direction is flat on both. Near contact and inside, H loses rank: the contact form has the
 * same roots with the lower rows divided by the distance, and stays regular. */
#ifndef COLLIDE_WITNESS_LAW_H
#define COLLIDE_WITNESS_LAW_H

#include <stdint.h>

#include "geometry/jet.h"
#include "geometry/vec3.h"

enum { WITNESS_UNKNOWNS = 4 };

/* fmax without its call. */
HR_RT static inline double witness_larger(double a, double b)
{
    return a > b ? a : b;
}

/* Motion of B seen from A, in A's axes. */
typedef struct witness_motion {
    mat3 rotation; /* A from B */
    vec3 origin;   /* m, B's origin */
    twist rate;    /* of B's frame: linear is the velocity of its origin */
} witness_motion;

/* From the two bodies' world poses and velocities. A rotating A moves B's origin too: that is the
 * term that is easily forgotten. */
HR_RT witness_motion witness_motion_between(pose world_from_a, twist velocity_a, pose world_from_b,
                                            twist velocity_b);

/* Velocity, seen from A, of B's material point that is now at `point`. */
HR_RT static inline vec3 witness_velocity_at(const witness_motion *m, vec3 point)
{
    return vec3_add(m->rate.linear, vec3_cross(m->rate.angular, vec3_sub(point, m->origin)));
}

/* Which error the system holds. */
typedef enum witness_form {
    WITNESS_GRADIENT,  /* g, H, b */
    WITNESS_CONTACT_A, /* J^T D and L^T n_A: the normal is that of A's surface */
    WITNESS_CONTACT_B  /* L^T D and J^T n_B, the roles exchanged */
} witness_form;

/* dg/dt = m dx/dt + b at one instant. Unknowns: A's parameters first, then B's. */
typedef struct witness_system {
    int n, na; /* unknowns, and how many of them are A's */
    witness_form form;
    vec3 difference;                              /* D, m */
    vec3 tangent[WITNESS_UNKNOWNS];               /* dD/dx_i */
    double curvature[2][3];                       /* D . d2D: uu uv vv of A, then of B */
    double scale[WITNESS_UNKNOWNS];               /* |tangent| */
    double m[WITNESS_UNKNOWNS][WITNESS_UNKNOWNS]; /* H, or the contact form's Jacobian */
    double g[WITNESS_UNKNOWNS];                   /* the error */
    double b[WITNESS_UNKNOWNS];                   /* its rate when the parameters rest */
} witness_system;

/* f: A's feature with na moving parameters, in A's frame; h: B's with nb, in B's. */
HR_RT void witness_law(const jet *f, int na, const jet *h, int nb, const witness_motion *motion,
                       witness_system *out);

/* The contact form. form = WITNESS_CONTACT_A: f has two derivatives that span a plane (of a planar
 * curve the second is the plane's axis and na = 1) and outward = +1 or -1 turns f_u x f_v out of
 * the body; WITNESS_CONTACT_B the same of h. witness_law must have filled *out before. */
HR_RT void witness_law_contact(const jet *f, const jet *h, witness_form form, double outward,
                               const witness_motion *motion, witness_system *out);

/* Unit normal of a jet that spans a plane; zero where it does not. */
HR_RT vec3 witness_normal(const jet *at, double outward);

/* What limits the parameters. */
typedef struct witness_box {
    double x[WITNESS_UNKNOWNS];
    double low[WITNESS_UNKNOWNS], high[WITNESS_UNKNOWNS]; /* infinite where the parameter wraps */
    double range[WITNESS_UNKNOWNS]; /* of the parameter; steps stay below 1/4 */
    double size; /* m, of the bodies: a tangent shorter than 1e-6 of it is frozen */
} witness_box;

enum {
    WITNESS_MAJORISED = 1u << 0,  /* H was indefinite: the majoriser's descent step was taken */
    WITNESS_NON_UNIQUE = 1u << 1, /* H or the contact form was singular: Levenberg step */
    WITNESS_STUCK = 1u << 2,      /* no usable step: the parameters stay */
    WITNESS_FROZEN = 1u << 3,     /* a collapsed parameter was left out */
    WITNESS_LIMITED = 1u << 4     /* the step was shortened */
};

/* Solves m dx = -gain g - feedforward b in the box: a parameter at its bound that would leave is
 * removed with its row and column, at most n times. For rates (dx per second) `step` is the time
 * that the caller will multiply with, for the limit on the step; 1 for increments. Returns flags.
 */
HR_RT uint32_t witness_solve(const witness_system *s, double gain, double feedforward, double step,
                             const witness_box *box, double dx[WITNESS_UNKNOWNS]);

/* About |D| minus the true distance: g^T H^-1 g / (2 |D|) on the parameters that can move; infinite
 * where H does not tell. Needs the gradient form. */
HR_RT double witness_excess(const witness_system *s, const witness_box *box);

/* Largest |g_i| / (|D| |tangent_i|) over the parameters that can move: the cosine between D and a
 * tangent. */
HR_RT double witness_cosine(const witness_system *s, const witness_box *box);

#endif
