/* The assembly tree: one binary tree over the bodies of an articulated model, shared by adaptive
 * dynamics and articulated collision detection. Topology only; each user keeps its own numbers in
 * arrays beside it, by node.
 *
 * Leaves are *parts*: the bodies of the model, where a body with very many joints (a hub) is split
 * into several parts welded together. Without hubs part b is body b. Parts are numbered so that
 * the parent has the lower number; joint i leads from parts[i].parent to part i.
 *
 * An inner node C = (A, B, joint): A = child[0] holds the parent part of the joint, B = child[1]
 * its child part. top is the lowest-numbered part of a node: top(C) = top(A), top(B) = joint. The
 * frame of a node is the frame of its top. A handle of C is a part of C with a joint that leads out
 * of C. By construction there is at most one handle in A and at most one in B. */
#ifndef COLLIDE_ASSEMBLY_TREE_H
#define COLLIDE_ASSEMBLY_TREE_H

#include <stdint.h>

#include "geometry/model.h"

typedef struct assembly_part {
    int32_t body;   /* of the model */
    int32_t parent; /* part; -1 for part 0 */
    int32_t leaf;   /* its node */
    int32_t node;   /* the inner node that its joint closes; -1 for part 0 */
    bool is_welded; /* its joint is a weld to another part of the same body, at the same place */
} assembly_part;

typedef struct assembly_node {
    int32_t parent;    /* node; -1 for the root */
    int32_t child[2];  /* nodes A and B; -1 -1 for a leaf */
    int32_t joint;     /* inner: the part whose joint joins A and B; leaf: the part itself */
    int32_t top;       /* lowest-numbered part; its frame is the node's frame */
    int32_t handle[2]; /* parts: [0] lies in A (or is the leaf itself), [1] lies in B; -1: none */
    int32_t a_slot;    /* which handle of A is the parent part of the joint; B's is always [0] */
    int32_t b_slot;    /* which handle of B is our handle[1]; A's handle[0] is always our [0] */
    int32_t first;     /* the nodes of this subtree are first .. this one, in post-order */
    int32_t height;    /* 0 for a leaf */
    int32_t depth;     /* 0 for the root */
} assembly_node;

typedef struct assembly_tree {
    int body_count;
    int part_count; /* >= body_count */
    assembly_part *parts;
    int32_t *body_part; /* by body: its first part, whose joint is the body's joint */
    int node_count;     /* 2 part_count - 1, in post-order: children before parents */
    assembly_node *nodes;
    int root; /* the last node */
    int height;
} assembly_tree;

/* Shapes other than ASSEMBLY_BALANCED are for tests: the results must not depend on them. */
typedef enum assembly_shape {
    ASSEMBLY_BALANCED,   /* heavy paths cut where the parts weigh the same */
    ASSEMBLY_FROM_BASE,  /* paths cut after the first part: depth grows with the number of joints */
    ASSEMBLY_FROM_LEAVES /* paths cut before the last part */
} assembly_shape;

typedef struct assembly_options {
    assembly_shape shape;
    int hub_limit; /* side branches of one body before it is split; 0: 4, which no limb exceeds */
} assembly_options;

/* A joint of the base that floats is put at the root. On failure *out is untouched. */
HR_MUST_USE hr_status assembly_tree_build(const model *m, assembly_options options,
                                          assembly_tree *out);
void assembly_tree_free(assembly_tree *tree);

/* The deepest node that contains both nodes; at most `height` steps. */
HR_RT int assembly_tree_common(const assembly_tree *tree, int node_a, int node_b);

/* Does the subtree of `node` contain `inner`? */
HR_RT static inline bool assembly_tree_contains(const assembly_tree *tree, int node, int inner)
{
    return tree->nodes[node].first <= inner && inner <= node;
}

HR_RT static inline bool assembly_node_is_leaf(const assembly_node *node)
{
    return node->child[0] < 0;
}

#endif
