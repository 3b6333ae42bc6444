#include "server/command.h"

#include <stddef.h>

const command command_table[] = {
    {"replay", cmd_replay, "run a recording again and compare it bit for bit"},
    {"ccd", cmd_ccd, "first time of contact of moving features and bodies"},
    {"dynamics", cmd_dynamics, "joint accelerations of a URDF model"},
    {"make-model", cmd_make_model, "write a wooden man or a pendulum as URDF"},
    {NULL, NULL, NULL},
};
