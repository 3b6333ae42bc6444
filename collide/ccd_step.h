/* Continuous collision detection of one step: several articulated bodies and resting objects, from
 * where they rest to where each was told to move, and the first time at which any two links are
 * closer than the separation.
 *
 * Guarantees, for the motion of joint_path.h and rounding included:
 *   no miss      a pair that comes within s is never called free, and toc is not later than that;
 *   safe prefix  before toc every pair stays farther apart than s, also when the budget ran out;
 *   tight        at toc some pair is within s + delta, or contact is at most eps_t later;
 *   same bits    for the same input.
 * The surfaces are tested, not the solids: a link wholly inside another is not seen. */
#ifndef COLLIDE_CCD_STEP_H
#define COLLIDE_CCD_STEP_H

#include "collide/ccd_body.h"
#include "collide/triangle_ccd.h"

typedef enum ccd_status {
    CCD_FREE,    /* proven: nothing comes within s */
    CCD_CONTACT, /* toc is the answer */
    CCD_INITIAL, /* in contact at t = 0 already; toc = 0 */
    CCD_BUDGET,  /* out of budget; free up to toc is proven */
    CCD_REFUSED  /* the tolerance is below four times the rounding at these coordinates; toc = 0 */
} ccd_status;

const char *ccd_status_name(ccd_status status);

typedef struct ccd_limits {
    double separation;     /* s, m, >= 0 */
    double tolerance;      /* delta, m, > 0 */
    double time_tolerance; /* eps_t, in steps, > 0 */
    int64_t budget;        /* box tests and feature nodes */
    bool lets_go; /* pairs in contact at t = 0 that open are ignored until they are apart */
} ccd_limits;

/* s = 0, delta = 1e-6 m, eps_t = 2^-40, a budget of about one second. */
ccd_limits ccd_limits_default(void);

/* Two features that touch at toc. */
typedef struct ccd_contact {
    int body[2]; /* in the order they were added; body[0] <= body[1] */
    int link[2]; /* body of the model */
    triangle_feature feature;
    int triangle[2];    /* of the links' meshes, in file order */
    int corner[2];      /* i of body[0]'s and j of body[1]'s triangle, as in triangle_contact */
    vec3 point[2];      /* m, world frame, one on each, on the triangles */
    vec3 normal;        /* unit, from body[0] to body[1]; zero where they coincide */
    double distance;    /* m, at toc, less the bodies' radii */
    bool is_separating; /* the gap opens at toc */
} ccd_contact;

enum { CCD_CONTACTS_MAX = 256, CCD_BODIES_MAX = 160 };

typedef struct ccd_result {
    ccd_status status;
    double toc; /* 0 .. 1; 1 when free */
    int contact_count;
    ccd_contact contacts[CCD_CONTACTS_MAX];
    int pair_count; /* link pairs that survived the broad phase */
    ccd_counters counters;
} ccd_result;

typedef struct ccd_scene ccd_scene;

/* Room for work: pairs of links and pairs of boxes that wait at the same time; more than that ends
 * a step with CCD_BUDGET. NULL when out of memory. */
ccd_scene *ccd_scene_create(int pair_room, int item_room);
void ccd_scene_destroy(ccd_scene *scene); /* accepts NULL; the bodies stay with their owner */

/* Returns its number, or -1 when out of room. Links of one body that a joint joins are filtered. */
int ccd_scene_add(ccd_scene *scene, ccd_body *body);

/* Filter: `is_tested` false drops the pair of links (bodies of the models) for good. */
HR_MUST_USE hr_status ccd_scene_filter(ccd_scene *scene, int body_a, int link_a, int body_b,
                                       int link_b, bool is_tested);
bool ccd_scene_tests(const ccd_scene *scene, int body_a, int link_a, int body_b, int link_b);

/* One step; the bodies were moved by ccd_body_move. No allocation. */
HR_MUST_USE hr_status ccd_step(ccd_scene *scene, const ccd_limits *limits, ccd_result *out);

/* One pair of links that was not proven free. */
typedef struct ccd_finding {
    int body[2], link[2];
    ccd_status status; /* never CCD_FREE */
    double toc;        /* of this pair */
    int first, count;  /* its contacts in ccd_findings.contacts */
} ccd_finding;

enum { CCD_FINDINGS_MAX = 128 };

typedef struct ccd_findings {
    int count;
    ccd_finding list[CCD_FINDINGS_MAX];
    int contact_count;
    ccd_contact contacts[CCD_CONTACTS_MAX];
    int pair_count;
    bool is_cut_short; /* more findings than there is room for, or out of room to search: nothing
                          but what is listed is known */
    ccd_counters counters;
} ccd_findings;

/* The same step with every pair of links on its own: each that is not free is listed with its own
 * time of contact. The budget is that of all pairs together; when it ends the remaining pairs are
 * listed with CCD_BUDGET and toc 0. Bodies that rest are looked at once: what rests cannot come
 * into contact. */
HR_MUST_USE hr_status ccd_step_each(ccd_scene *scene, const ccd_limits *limits, ccd_findings *out);

/* Pairs of links whose boxes come within `margin` of each other during the step; what rests and was
 * proven apart is left out. Returns how many; the first `room` of them are written. */
typedef struct ccd_near_pair {
    int body[2], part[2], link[2];
} ccd_near_pair;
int ccd_scene_near(ccd_scene *scene, double margin, ccd_near_pair *out, int room,
                   ccd_counters *counters);

#endif
