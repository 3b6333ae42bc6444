/* Any bytes as a URDF; what loads goes through the dynamics once. */
#include <stdint.h>
#include <stdlib.h>

#include "geometry/urdf.h"
#include "solver/articulated_body.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    model m;
    hr_error error;
    urdf_options options = {.meshes = size % 2 ? URDF_LOAD_MESHES : URDF_SKIP_MESHES};
    if (urdf_parse((const char *)data, size, "fuzz/none.urdf", options, &m, &error) != HR_OK)
        return 0;
    articulated_body *a = articulated_body_create(&m);
    double *q = calloc((size_t)m.q_count + 3 * (size_t)m.v_count + 1, sizeof *q);
    if (a && q) {
        double *qd = q + m.q_count;
        model_zero_coordinates(&m, q);
        articulated_body_input in = {.q = q, .qd = qd, .gravity = {0, 0, -9.81}};
        hr_status status = articulated_body_accelerations(a, &in, qd + m.v_count);
        (void)status;
    }
    free(q);
    articulated_body_destroy(a);
    model_free(&m);
    return 0;
}
