#include "server/parameters.h"

#include <string.h>

static const parameter parameters[] = {
    {PARAMETER_DEGRADED, "servo.degraded", 0, 1, false, "1 while there is no real-time scheduling"},
    {PARAMETER_WATCHDOG, "servo.watchdog", 0, 1, false, "1 when a watchdog trips"},
    {PARAMETER_STIFFNESS, "coupling.stiffness_n_per_m", 0, 10000, true,
     "upper bound on the stiffness of every material"},
    {PARAMETER_DAMPING, "coupling.damping_n_s_per_m", 0, 50, true,
     "damping between tool and surface, added to the material's"},
    {PARAMETER_MAX_FORCE, "safety.max_force_n", 0, 100, true,
     "longest force; never above the configuration's"},
    {PARAMETER_FRICTION, "coupling.friction_factor", 0, 10, true,
     "factor on the friction of every material"},
    {PARAMETER_MAX_SPEED, "safety.max_speed_m_per_s", 0, 10, true,
     "speed at which the force is cut; never above the configuration's"},
};

_Static_assert(HR_COUNT(parameters) == PARAMETER_COUNT - 1, "every parameter has a line");

const parameter *parameter_list(int *count)
{
    *count = HR_COUNT(parameters);
    return parameters;
}

const parameter *parameter_find(const char *name)
{
    for (int i = 0; i < HR_COUNT(parameters); i++)
        if (strcmp(parameters[i].name, name) == 0)
            return &parameters[i];
    return NULL;
}

const parameter *parameter_for(servo_parameter key)
{
    for (int i = 0; i < HR_COUNT(parameters); i++)
        if (parameters[i].key == key)
            return &parameters[i];
    return NULL;
}
