#include "server/command.h"

#include <stddef.h>

const command command_table[] = {
    {"devices", cmd_devices, "which drivers there are, and what is plugged in"},
    {"doctor", cmd_doctor, "what is wrong with the device or this machine, and its remedy"},
    {"calibrate", cmd_calibrate, "find a Falcon's motor gain with a weight"},
    {"replay", cmd_replay, "run a recording again and compare it bit for bit"},
    {"check", cmd_check, "prove a recording: CRCs, indices, counts, hashes"},
    {"recover", cmd_recover, "rescue a damaged or cut-off recording"},
    {"export", cmd_export, "a recording as CSV, HDF5 or Motion-BIDS"},
    {"plot", cmd_plot, "draw a recording as a picture"},
    {"info", cmd_info, "what a recording, surface, mesh, model or scene contains"},
    {"scenes", cmd_scenes, "what there is to touch, with pictures"},
    {"ccd", cmd_ccd, "first time of contact of moving features and bodies"},
    {"dynamics", cmd_dynamics, "joint accelerations of a URDF model"},
    {"make-model", cmd_make_model, "write a wooden man or a pendulum as URDF"},
    {"status", cmd_status, "how a running server is"},
    {"watch", cmd_watch, "its state, again and again"},
    {"estop", cmd_estop, "emergency stop: zero force until armed"},
    {"arm", cmd_arm, "let forces come back"},
    {"disarm", cmd_disarm, "switch forces off"},
    {"set", cmd_set, "change a parameter of a running server"},
    {"mark", cmd_mark, "put a marker into the recording"},
    {"trial", cmd_trial, "name the trial that begins"},
    {"qp", cmd_qp, "quadratic programmes and contact problems from files"},
    {"closest", cmd_closest, "nearest points of a body or mesh"},
    {"latency", cmd_latency, "how well this machine keeps time"},
    {"import", cmd_import, "CAD surfaces (STEP, IGES, BREP) into a body file"},
    {NULL, NULL, NULL},
};
