#include "collide/witness_scheme.h"

#include <math.h>

/* Distance to the limit that a configuration must keep: near it errors hardly decay. */
static const double margin = 0.9;

witness_settings witness_settings_default(void)
{
    return (witness_settings){
        .scheme = WITNESS_PC, .step = 1e-3, .uses_velocity = true, .corrects_switches = true};
}

double witness_scheme_factor(witness_scheme scheme, double z)
{
    switch (scheme) {
    case WITNESS_EULER:
        return 1.0 - z;
    case WITNESS_HEUN:
        return 1.0 - z + z * z / 2.0;
    case WITNESS_RK4:
        return 1.0 - z * (1.0 - z / 2.0 * (1.0 - z / 3.0 * (1.0 - z / 4.0)));
    case WITNESS_PC:
        break;
    }
    return exp(-z);
}

double witness_scheme_limit(witness_scheme scheme)
{
    const double scan = 1.0 / 64.0;
    const double far = 16.0; /* no explicit scheme of four stages is stable that far out */
    double low = scan;
    while (low < far && fabs(witness_scheme_factor(scheme, low + scan)) < 1.0)
        low += scan;
    if (low >= far)
        return (double)INFINITY;
    double high = low + scan;
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        if (fabs(witness_scheme_factor(scheme, middle)) < 1.0)
            low = middle;
        else
            high = middle;
    }
    return high;
}

const char *witness_scheme_name(witness_scheme scheme)
{
    switch (scheme) {
    case WITNESS_EULER:
        return "euler";
    case WITNESS_HEUN:
        return "heun";
    case WITNESS_RK4:
        return "rk4";
    case WITNESS_PC:
        break;
    }
    return "pc";
}

hr_status witness_settings_check(const witness_settings *s, hr_error *error)
{
    if (!isfinite(s->step) || !(s->step > 0.0))
        return error_set(error, HR_ERR_ARGUMENT, "expected a step above 0 s, found %g", s->step);
    if (!isfinite(s->gain) || s->gain < 0.0 || (s->gain == 0.0 && s->scheme != WITNESS_PC))
        return error_set(error, HR_ERR_ARGUMENT, "expected a gain above 0 1/s, found %g", s->gain);
    double limit = witness_scheme_limit(s->scheme);
    if (s->gain * s->step >= margin * limit)
        return error_set(error, HR_ERR_ARGUMENT,
                         "expected a gain below %.6g 1/s (0.9 of the limit %.6g of %s at a step of "
                         "%g s), found %g",
                         margin * limit / s->step, limit / s->step, witness_scheme_name(s->scheme),
                         s->step, s->gain);
    return HR_OK;
}
