/* The driver "replay": a simulated Falcon whose hand follows recorded positions. The address is a
 * CSV file (replay_track.h) or, where somebody set a loader for them, one of our recordings. */
#ifndef DEVICES_REPLAY_H
#define DEVICES_REPLAY_H

#include "devices/device.h"
#include "devices/replay_path.h"
#include "devices/sim_falcon.h"

/* Settings: those of SIM_FALCON_SETTINGS and
 *   mode                  pulled (default): the simulated hand pulls the handle along the path, and
 *                         the motors can hold it back; imposed: the handle is on the path
 *   axes                  which file axes are base x, y, z, e.g. "xyz" (default), "z-xy"
 *   centre                box (default): middle of the bounding box; none; or "X Y Z" in file axes,
 * m scale                 fit (default): shrink to the workspace, never enlarge; or a number gap_s,
 * jump_speed_m_per_s, glide_speed_m_per_s, loop      see replay_path.h A path that leaves the
 * workspace stops at its border. */
extern const device_driver device_replay;

/* Reads files that are not CSV; known by their first bytes. Set once before any open. The track's
 * is_base_frame makes the defaults centre = none and scale = 1. */
typedef hr_status (*replay_loader)(const char *path, replay_track *out, hr_error *error);
void replay_set_loader(replay_loader load);

/* For devices that device_replay opened. */
void replay_truth_of(const device *dev, sim_truth *out);
const replay_path *replay_path_of(const device *dev);

#endif
