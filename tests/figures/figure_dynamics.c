/* Cost and error of adaptive dynamics against the number of active joints: the chain of thirty
 * balls (a swing, and a short push near its end) and the free wooden man (his hand pulled by a
 * spring). Argument: the folder to write to. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "geometry/model_make.h"
#include "server/svg_plot.h"
#include "solver/articulated.h"

enum { STEPS_PER_CHOICE = 5, POINTS_MAX = 64 };

static const double STEP = 2e-3; /* s */

typedef struct experiment {
    const char *label;
    const model *model;
    int watched;        /* body whose place is compared */
    double first_angle; /* of the first joint */
    vec3 push;          /* N, on the watched body's centre */
    double push_until;  /* s */
    vec3 goal;          /* m from the start, of a spring; zero: none */
    double seconds;
} experiment;

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static articulated *start(const experiment *e, int budget)
{
    const model *m = e->model;
    articulated_options options = {.gravity = {0, 0, -9.81}, .step_s = STEP, .use_damping = true};
    articulated *a = articulated_create(m, &options);
    double *state = calloc((size_t)m->q_count + (size_t)m->v_count, sizeof *state);
    model_zero_coordinates(m, state);
    if (e->first_angle != 0)
        state[0] = e->first_angle;
    articulated_set_state(a, state, state + m->q_count);
    free(state);
    if (budget > 0)
        articulated_use_metric(a, articulated_metric_over(0.02));
    return a;
}

static void force(const experiment *e, articulated *a, double time, vec3 origin)
{
    articulated_clear_wrenches(a);
    pose at = articulated_body_pose(a, e->watched);
    vec3 f = time < e->push_until ? e->push : (vec3){0, 0, 0};
    if (vec3_length(e->goal) > 0) {
        vec3 speed = pose_rotate(at, vec6_linear(articulated_body_velocity(a, e->watched)));
        f = vec3_scale(300, vec3_sub(vec3_add(origin, e->goal), at.origin));
        f = vec3_add_scaled(f, -10, speed);
    }
    vec3 own = pose_rotate_inverse(at, f);
    articulated_add_wrench(a, e->watched, vec6_make((vec3){0, 0, 0}, own));
}

/* rms distance of the watched body to the run with all joints (m), and the least time of a step
 * with its share of the choice (us). */
static void measure(const experiment *e, int budget, double *error, double *cost)
{
    articulated *a = start(e, budget), *all = start(e, 0);
    vec3 origin = articulated_body_pose(a, e->watched).origin;
    double sum = 0, least = INFINITY;
    int steps = (int)(e->seconds / STEP);
    for (int i = 0; i < steps; i += STEPS_PER_CHOICE) {
        double spent = 0;
        for (int k = 0; k < STEPS_PER_CHOICE; k++) {
            double time = (i + k) * STEP;
            force(e, a, time, origin);
            force(e, all, time, origin);
            double from = now_us();
            if (k == 0)
                (void)articulated_select(
                    a, (articulated_selection){.budget = budget, .hysteresis = 2});
            articulated_step(a);
            spent += now_us() - from;
            articulated_step(all);
            double d = vec3_distance(articulated_body_pose(a, e->watched).origin,
                                     articulated_body_pose(all, e->watched).origin);
            sum += d * d;
        }
        least = fmin(least, spent / STEPS_PER_CHOICE);
    }
    *error = sqrt(sum / steps);
    *cost = least;
    articulated_destroy(a);
    articulated_destroy(all);
}

static void draw(const experiment *e, int joints, svg_panel *errors, svg_panel *costs)
{
    double x[POINTS_MAX], error[POINTS_MAX], cost[POINTS_MAX];
    int n = 0;
    for (int m = 2; m <= joints && n < POINTS_MAX; m += m < 12 ? 1 : 2, n++) {
        x[n] = m;
        measure(e, m, &error[n], &cost[n]);
        error[n] = fmax(1e3 * error[n], 1e-6);
    }
    svg_line(errors, x, error, n, e->label, (svg_style){0});
    svg_line(costs, x, cost, n, e->label, (svg_style){0});
}

int main(int argc, char **argv)
{
    model chain, man;
    if (argc != 2 || model_make("pendulum", &chain) != HR_OK ||
        model_make("wooden-man-free", &man) != HR_OK)
        return 1;
    int hand = man.links[model_find_link(&man, "left_hand")].body;
    experiment runs[] = {
        {.label = "chain: swing", .model = &chain, .watched = 30, .first_angle = 1, .seconds = 1.6},
        {.label = "chain: short push on ball 29",
         .model = &chain,
         .watched = 29,
         .push = {0, 2, 0},
         .push_until = 0.01,
         .seconds = 0.5},
        {.label = "wooden man: hand pulled",
         .model = &man,
         .watched = hand,
         .goal = {0.4, 0.2, 0.3},
         .seconds = 0.6}};
    svg_figure *f = svg_create("Adaptive dynamics: what an active joint costs and brings", 1);
    svg_axis joints = {.label = "active joints (of 30 and 28)"};
    svg_panel *errors =
        svg_add_panel(f, "error of the watched body against all joints active", joints,
                      (svg_axis){.label = "rms error (mm)", .is_log = true});
    svg_panel *costs = svg_add_panel(f, "time of a step, with a choice every fifth step", joints,
                                     (svg_axis){.label = "time (us)"});
    for (int i = 0; i < 3; i++)
        draw(&runs[i], i < 2 ? 30 : 28, errors, costs);
    char path[1024];
    snprintf(path, sizeof path, "%s/dynamics.svg", argv[1]);
    hr_error error = {""};
    hr_status status = svg_write(f, path, &error);
    if (status != HR_OK)
        fprintf(stderr, "%s\n", error.text);
    svg_destroy(f);
    model_free(&chain);
    model_free(&man);
    return status == HR_OK ? 0 : 1;
}
