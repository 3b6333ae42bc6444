/* Query files for the feature tests: eight rows per query, one row per vertex position, rational
 * coordinates as numerator and denominator. Rows 1-4 are the points at t = 0 (vertex and face
 * corners, or the two edges), rows 5-8 the same at t = 1. A seventh column, or a file
 * NAME_truth.json beside NAME.csv, tells the exact verdict. */
#ifndef COLLIDE_CCD_QUERIES_H
#define COLLIDE_CCD_QUERIES_H

#include <stddef.h>

#include "geometry/error.h"
#include "geometry/vec3.h"

typedef enum ccd_truth {
    CCD_TRUTH_UNKNOWN = -1,
    CCD_TRUTH_FREE = 0,
    CCD_TRUTH_CONTACT = 1
} ccd_truth;

typedef struct ccd_query {
    vec3 start[4], end[4]; /* m, nearest doubles to the rationals */
    ccd_truth truth;
    int line; /* of its first row */
} ccd_query;

typedef struct ccd_queries {
    int count, room;
    ccd_query *items;
} ccd_queries;

/* Errors read "name:line:column: ...". On failure *out is empty. Release with ccd_queries_free. */
HR_MUST_USE hr_status ccd_queries_parse(const char *text, size_t length, const char *name,
                                        ccd_queries *out, hr_error *error);

/* The same from a file, with the verdicts of NAME_truth.json where there is one. */
HR_MUST_USE hr_status ccd_queries_load(const char *path, ccd_queries *out, hr_error *error);
void ccd_queries_free(ccd_queries *q);

#endif
