/* What the files of the step share: the scene, its arenas, and the search through time. */
#ifndef COLLIDE_CCD_SEARCH_H
#define COLLIDE_CCD_SEARCH_H

#include "collide/ccd_step.h"
#include "collide/moving_boxes.h"

/* Two links whose boxes came near during the step. */
typedef struct ccd_pair {
    int32_t body[2], part[2];
    int32_t top; /* their lowest common ancestor in one body; -1: the world */
} ccd_pair;

/* Two boxes of a pair that are not yet proven apart. */
typedef struct ccd_item {
    int32_t pair, node[2];
} ccd_item;

/* A stretch of time with the items that are open in it. */
typedef struct ccd_stretch {
    double start, end;
    int32_t first, count; /* items */
    bool may_expect;      /* it may be cut where a contact is expected, not only at its middle */
} ccd_stretch;

/* A feature contact as the search found it. */
typedef struct ccd_candidate {
    int32_t pair, triangle[2];
    triangle_contact contact; /* time: in steps */
} ccd_candidate;

enum {
    CCD_DEPTH_MAX = 192,
    CCD_CANDIDATES_MAX = 1024,
    CCD_BODY_WORDS = (CCD_BODIES_MAX + 63) / 64
};

struct ccd_scene {
    int body_count;
    ccd_body *bodies[CCD_BODIES_MAX];
    int first_link[CCD_BODIES_MAX + 1];               /* links of all bodies numbered through */
    uint8_t *dropped;                                 /* link_total x link_total */
    int64_t apart[CCD_BODIES_MAX][CCD_BODIES_MAX][2]; /* place numbers at which proven apart */
    double apart_separation;          /* m, the least for which all of that was proven */
    motion_box boxes[CCD_BODIES_MAX]; /* of the step, with what they keep clear */
    int32_t order[CCD_BODIES_MAX];    /* along the axis of the last sweep */
    uint64_t meets[CCD_BODIES_MAX][CCD_BODY_WORDS]; /* bit b of a, a < b: the boxes overlap */
    double enclosed[CCD_BODIES_MAX][2]; /* start and end of each body's last enclosure */
    int pair_room, item_room;
    ccd_pair *pairs;
    int pair_count;
    ccd_item *items;
    int item_count;
    ccd_stretch waiting[CCD_DEPTH_MAX];
    int waiting_count;
    ccd_item *stack; /* of one traversal */
    int stack_room;
    ccd_candidate candidates[CCD_CANDIDATES_MAX];
    int candidate_count;
};

/* The state of one step. */
typedef struct ccd_search {
    ccd_scene *scene;
    const ccd_limits *limits;
    ccd_counters *counters;
    int64_t budget;
    double toc;              /* best so far; above 1: none */
    double expected, around; /* where in this stretch a contact is expected, and how nearly */
    bool may_expect, is_full, is_refused;
    const ccd_pair *alone; /* only this pair is looked at; NULL: all */
} ccd_search;

/* How far apart the triangles of two bodies must stay, m. */
static inline double ccd_separation(const ccd_search *s, int body_a, int body_b)
{
    return s->limits->separation + ccd_body_radius(s->scene->bodies[body_a]) +
           ccd_body_radius(s->scene->bodies[body_b]);
}

/* Two bodies at rest that were proven apart where they are: nothing to do. */
bool ccd_scene_is_settled(const ccd_scene *scene, int body_a, int body_b);

/* Fills scene->meets on the interval that the bodies were enclosed on. */
void ccd_sweep_bodies(ccd_search *search);

/* The next body above `after` that `body` may meet, or -1; only those above it are listed. */
int ccd_scene_next_meeting(const ccd_scene *scene, int body, int after);

/* Fills scene->pairs with what may touch on the interval that the bodies were enclosed on. False
 * when there is no more room. */
bool ccd_broad_phase(ccd_search *search);

/* The motion of a pair on what still matters of a stretch, from its start to the best toc so far,
 * and where it takes the boxes of b that were asked for lately. */
enum { CCD_BOXES_KEPT = 32 };
typedef struct ccd_view {
    const obb_tree *trees[2];
    moving_frame frame;
    double start, middle, end;
    double separation; /* m, of the triangles of this pair */
    bool is_shortest;  /* the stretch is not to be split any more */
    vec3 axis;         /* that last told two triangles apart */
    moving_box boxes[CCD_BOXES_KEPT];
    int32_t nodes[CCD_BOXES_KEPT]; /* whose boxes those are; -1: nobody's */
} ccd_view;

/* Starts with view->frame, which is enclosed around the middle of the stretch. */
void ccd_view_begin(ccd_view *view, const ccd_search *search, int pair, const ccd_stretch *stretch);

/* Tests one item on the stretch of the view; appends what stays open to scene->items, may lower toc
 * and add candidates. */
void ccd_traverse(ccd_search *search, const ccd_item *item, ccd_view *view);

#endif
