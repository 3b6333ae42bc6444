#include "server/trace_track.h"

#include "server/trace_read.h"

static hr_status add_tick(replay_track *track, const tick_record *t, int64_t first_ns)
{
    double time = 1e-9 * (double)(t->time_ns - first_ns);
    if (t->read_status != HR_OK || !(t->sample.valid & DEVICE_HAS_POSITION) ||
        !vec3_is_finite(t->sample.position)) {
        track->missing++;
        return HR_OK;
    }
    if (track->count > 0 && time <= track->points[track->count - 1].time) {
        track->out_of_order++;
        return HR_OK;
    }
    return replay_track_add(
        track,
        (replay_point){.time = time, .position = t->sample.position, .buttons = t->sample.buttons});
}

hr_status trace_load_track(const char *path, replay_track *out, hr_error *error)
{
    trace_reader *r;
    hr_status status = trace_reader_open(path, &r, error);
    if (status != HR_OK)
        return status;
    replay_track track = {.is_base_frame = true};
    int64_t first_ns = 0;
    bool has_first = false;
    const trace_message *m;
    while (status == HR_OK && (m = trace_next_message(r))) {
        if (m->kind != TRACE_TICK || m->hand != 0)
            continue;
        first_ns = has_first ? first_ns : m->tick.time_ns;
        has_first = true;
        status = add_tick(&track, &m->tick, first_ns);
    }
    trace_reader_close(r);
    if (status != HR_OK)
        status = error_set(error, status, "%s: no memory for its positions", path);
    else if (track.count == 0)
        status =
            error_set(error, HR_ERR_FORMAT, "%s: expected ticks with a position, found none", path);
    if (status == HR_OK)
        *out = track;
    else
        replay_track_free(&track);
    return status;
}
