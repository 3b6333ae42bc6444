/* Any bytes as a URDF; what loads goes through the dynamics once. */
#include <stdint.h>
#include <stdlib.h>

#include "geometry/urdf.h"
#include "solver/articulated.h"
#include "solver/articulated_body.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A few adaptive steps: chooses, stops and starts joints, asks for masses. */
static void run_adaptive(const model *m)
{
    articulated_options how = {.gravity = {0, 0, -9.81},
                               .step_s = 1e-3,
                               .use_damping = true,
                               .use_armature = true,
                               .use_limits = true};
    articulated *a = articulated_create(m, &how);
    for (int budget = 8; a && budget > 0; budget /= 2) {
        (void)articulated_select(a, (articulated_selection){.budget = budget});
        articulated_step(a);
        size_t n = (size_t)articulated_freedom(a);
        double *mass = calloc(n * n + 1, sizeof *mass);
        if (mass)
            articulated_mass_matrix(a, mass);
        free(mass);
    }
    articulated_destroy(a);
}

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
    if (m.body_count < 200)
        run_adaptive(&m);
    model_free(&m);
    return 0;
}
