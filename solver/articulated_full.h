/* The fully articulated body behind the metric; shared by articulated_metric.c and
 * articulated_select.c. */
#ifndef SOLVER_ARTICULATED_FULL_H
#define SOLVER_ARTICULATED_FULL_H

#include "solver/articulated_internal.h"

/* What acts at the joint of a node besides its children. */
typedef struct full_source {
    vec6 coriolis;
    double tau[6], speed[6];
} full_source;

/* Passive node: b, p and eta at a velocity of its top. */
HR_RT void full_look(articulated *a, int n, vec6 velocity);

/* Phi, W, P, U, L and Psi of an inner node from its children at the joint's present place. */
HR_RT void full_factor(articulated *a, int n);

/* One right-hand side through the joint of node n. */
HR_RT void full_join_channel(const articulated *a, int n, const art_channel *left,
                             const art_channel *right, const full_source *source, art_channel *out,
                             art_answer *answer);

/* What the joint of node n adds to eta for a pair of right-hand sides. */
HR_RT double full_eta_pair(const articulated *a, int n, const art_answer *x, const art_answer *y);

/* All channels of a node whose children are passive; or the constant one alone. */
HR_RT void full_freeze_channels(articulated *a, int n);
HR_RT void full_freeze_constant(articulated *a, int n);

HR_RT void full_leaf(articulated *a, int n);
HR_RT void full_leaf_constant(articulated *a, int n);

#endif
