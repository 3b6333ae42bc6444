/* A recording as a picture. */
#ifndef SERVER_TRACE_PLOT_H
#define SERVER_TRACE_PLOT_H

#include "geometry/error.h"

/* from and until in s since the first tick; until <= from: to the end. */
HR_MUST_USE hr_status trace_plot(const char *path, double from, double until, const char *output,
                                 hr_error *error);

#endif
