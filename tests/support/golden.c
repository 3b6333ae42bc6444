#include "tests/support/golden.h"

#include <string.h>

#include "tests/test.h"

#include "geometry/urdf.h"

static const struct {
    const char *urdf, *name;
} robots[GOLDEN_COUNT] = {
    {"tests/data/urdf/kuka_iiwa/model.urdf", "kuka_iiwa"},
    {"tests/data/urdf/allegro_hand_description/urdf/allegro_right_hand.urdf", "allegro_right"},
    {"tests/data/urdf/pr2_description/urdf/pr2.urdf", "pr2"},
};

static FILE *open_csv(const char *name, const char *suffix, char *line, int size)
{
    char path[256];
    snprintf(path, sizeof path, "tests/data/urdf/golden/%s%s.csv", name, suffix);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, size, file)); /* the header */
    return file;
}

golden golden_load(int index)
{
    golden g = {0};
    hr_error error;
    char line[512], joint[128];
    if (urdf_load(robots[index].urdf, (urdf_options){0}, &g.model, &error) != HR_OK)
        fail_msg("%s", error.text);
    FILE *file = open_csv(robots[index].name, "", line, sizeof line);
    int rows = 0;
    while (fgets(line, sizeof line, file)) {
        double v[6];
        assert_int_equal(sscanf(line, "%127[^,],%*[^,],%lf,%lf,%lf,%lf,%lf,%lf", joint, &v[0],
                                &v[1], &v[2], &v[3], &v[4], &v[5]),
                         7);
        int link = model_find_joint(&g.model, joint);
        assert_true(link > 0);
        int at = g.model.joints[link].v;
        g.q[at] = v[0];
        g.qd[at] = v[1];
        g.qdd[at] = v[2];
        g.is_locked[g.model.links[link].body] = v[3] == 0;
        g.qd_half[at] = v[4];
        g.qdd_half[at] = v[5];
        rows++;
    }
    fclose(file);
    assert_int_equal(rows, g.model.v_count);
    file = open_csv(robots[index].name, "_invinertia_last", line, sizeof line);
    for (int i = 0; i < 6; i++) {
        double *m = g.inverse_inertia[i];
        assert_int_equal(
            fscanf(file, "%lf,%lf,%lf,%lf,%lf,%lf", &m[0], &m[1], &m[2], &m[3], &m[4], &m[5]), 6);
    }
    fclose(file);
    return g;
}

void golden_free(golden *g)
{
    model_free(&g->model);
}

void golden_assert(const golden *g, const double *actual, const double *expected)
{
    double size = 0;
    for (int i = 0; i < g->model.v_count; i++)
        size = fmax(size, fabs(expected[i]));
    for (int i = 0; i < g->model.v_count; i++)
        assert_near(actual[i] / size, expected[i] / size, 1e-10);
}
