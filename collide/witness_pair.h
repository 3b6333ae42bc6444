/* Two bodies (or a body and a point) and their nearest points, kept from tick to tick: the full
 * hybrid step of control law and automaton. Plain memory, bounded time, no allocation. */
#ifndef COLLIDE_WITNESS_PAIR_H
#define COLLIDE_WITNESS_PAIR_H

#include "collide/witness_automaton.h"
#include "collide/witness_scheme.h"

enum {
    WITNESS_CONVERGED = 1u << 0,
    WITNESS_DEGRADED = 1u << 1,   /* a fallback step was taken */
    WITNESS_NOT_UNIQUE = 1u << 2, /* a continuum of nearest points */
    WITNESS_CYCLING = 1u << 3,    /* transitions did not come to rest */
    WITNESS_IN_CONTACT = 1u << 4, /* the contact form was used */
    WITNESS_HELD = 1u << 5,       /* a pose was not finite: nothing was changed */
    WITNESS_RESEEDED = 1u << 6,   /* fallbacks did not end: started again from the grid */
    WITNESS_SWITCHED = 1u << 7    /* a transition fired */
};

/* All in A's frame. */
typedef struct witness_result {
    vec3 on_a, on_b; /* m, the witness points */
    vec3 normal;     /* unit, out of A toward B; zero where there is no direction */
    double distance; /* m, signed: negative in penetration */
    double gap_rate; /* m/s */
    double cosine;   /* largest cosine between the difference and a tangent that can move */
    uint32_t flags;  /* WITNESS_* above */
    int switches;    /* transitions in this tick */
} witness_result;

typedef struct witness_pair {
    witness_body a, b;
    witness_settings settings;
    witness_place on_a, on_b;
    bool stays_on_feature;                 /* no transitions: clamped to where it is */
    bool is_in_contact;                    /* form of the last step */
    int fallback_ticks;                    /* in a row */
    uint64_t fallbacks, reseeds, switches; /* since the start */
    witness_result last;
} witness_pair;

/* Seeds both witnesses from the coarse grids. Ellipsoids go with WITNESS_PC and WITNESS_EULER only:
 * their chart is re-centred after every solve. */
HR_RT void witness_pair_init(witness_pair *p, witness_body a, witness_body b,
                             witness_settings settings, const witness_motion *now);

/* One tick, from the relative motion at its begin to that at its end, settings.step later. Only
 * WITNESS_RK4 looks at `middle`. */
HR_RT void witness_pair_step(witness_pair *p, const witness_motion *begin,
                             const witness_motion *middle, const witness_motion *end);

/* One corrector and the transitions at rest, without a prediction: what a sampled pose without a
 * velocity needs. */
HR_RT void witness_pair_correct(witness_pair *p, const witness_motion *now);

/* The tracker's own error bar: about how far the last distance is above the true one, m. */
HR_RT double witness_pair_excess(const witness_pair *p, const witness_motion *now);

#endif
