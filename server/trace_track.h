/* The path of a recorded hand, for the replay device: what devices/replay.h calls a loader. */
#ifndef SERVER_TRACE_TRACK_H
#define SERVER_TRACE_TRACK_H

#include "devices/replay_track.h"
#include "geometry/error.h"

/* Positions and buttons of the recording's first hand, in our base frame. Ticks whose device read
 * failed are missing samples. What is whole of a damaged recording is used. */
HR_MUST_USE hr_status trace_load_track(const char *path, replay_track *out, hr_error *error);

#endif
