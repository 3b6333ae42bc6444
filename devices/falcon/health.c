#include "devices/falcon/health.h"

HR_RT bool falcon_frozen_update(falcon_frozen *f, int64_t now_ns, const int16_t counts[3],
                                double speed, vec3 force)
{
    bool has_changed = !f->is_started || counts[0] != f->counts[0] || counts[1] != f->counts[1] ||
                       counts[2] != f->counts[2];
    if (has_changed) {
        for (int i = 0; i < 3; i++)
            f->counts[i] = counts[i];
        f->changed_ns = now_ns;
        f->speed = speed;
        f->force = force;
        f->is_started = true;
        f->is_frozen = false;
        return false;
    }
    int64_t still_ns = now_ns - f->changed_ns;
    if (f->speed > 0.05 && still_ns >= 20000000)
        f->is_frozen = true;
    if (still_ns >= 500000000 && vec3_distance(force, f->force) > 0.5)
        f->is_frozen = true;
    return f->is_frozen;
}
