/* The older route to the first contact of two features: bound the coplanarity function over a
 * stretch of time by intervals, bisect while it may vanish and the features may meet. Correct but
 * loose: motion in one plane and parallel edges are never excluded. Kept as the second method that
 * feature_ccd is tested against. */
#ifndef COLLIDE_COPLANARITY_CCD_H
#define COLLIDE_COPLANARITY_CCD_H

#include "collide/feature_ccd.h"

/* Uses time_tolerance and nodes of the limits; separation is taken as zero. Fills verdict, time and
 * nodes of *out. */
HR_RT void coplanarity_ccd(const feature_motion *motion, double low, double high,
                           const feature_limits *limits, feature_result *out);

#endif
