/* Any bytes as a recording; what parses is made into a path and played. */
#include <stdint.h>
#include <stdlib.h>

#include "devices/replay_path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    replay_track track;
    replay_path path;
    hr_error error;
    if (replay_track_parse((const char *)data, size, "fuzz", &track, &error) != HR_OK)
        return 0;
    replay_shape shape = replay_shape_default();
    shape.is_looped = size & 1;
    if (replay_path_build(&track, &shape, &path) == HR_OK) {
        for (int n = 0; n <= 64; n++) {
            replay_place place;
            replay_path_at(&path, (path.length + 1) * n / 32, &place);
            /* inside the bounding sphere, glides included: hold and track both are */
            if (!vec3_is_finite(place.position) || vec3_length(place.position) > 0.2)
                abort();
        }
        replay_path_free(&path);
    }
    replay_track_free(&track);
    return 0;
}
