/* Which bodies may meet during the step: their swept boxes, sorted along the axis on which they are
 * spread most, and only neighbours compared. Bodies that rest keep their boxes from step to step,
 * and the order of the last step is nearly that of this one. */
#include "collide/ccd_search.h"

/* 16u of the magnitudes covers the two additions below. */
static const double rounding = 16 * 0x1p-53;

/* The box of a body over the step, wider by what it must keep clear. One that cannot be told meets
 * everything. */
static motion_box wide_box(ccd_search *s, int body)
{
    ccd_body *b = s->scene->bodies[body];
    int root = ccd_body_tree(b)->root;
    motion_box box = *ccd_body_box(b, root, root, s->counters);
    double more = ccd_body_radius(b) + 0.5 * s->limits->separation;
    if (motion_box_is_empty(&box))
        return box;
    for (int i = 0; i < 3; i++) {
        double *low = &(&box.low.x)[i], *high = &(&box.high.x)[i];
        double slack = more + rounding * (fabs(*low) + fabs(*high) + more);
        *low -= slack;
        *high += slack;
        if (!(*low <= *high)) {
            *low = -(double)INFINITY;
            *high = (double)INFINITY;
        }
    }
    return box;
}

static double low_of(const ccd_scene *scene, int body, int axis)
{
    return (&scene->boxes[body].low.x)[axis];
}

static double high_of(const ccd_scene *scene, int body, int axis)
{
    return (&scene->boxes[body].high.x)[axis];
}

/* The axis along which the centres of the boxes vary most. */
static int widest_axis(const ccd_scene *scene)
{
    double spread[3];
    for (int axis = 0; axis < 3; axis++) {
        double sum = 0, squares = 0;
        int count = 0;
        for (int i = 0; i < scene->body_count; i++) {
            double centre = 0.5 * (low_of(scene, i, axis) + high_of(scene, i, axis));
            if (!isfinite(centre))
                continue;
            sum += centre;
            squares += centre * centre;
            count++;
        }
        spread[axis] = count > 0 ? squares - sum * sum / count : 0;
    }
    int best = spread[1] > spread[0] ? 1 : 0;
    return spread[2] > spread[best] ? 2 : best;
}

static bool comes_before(const ccd_scene *scene, int a, int b, int axis)
{
    double x = low_of(scene, a, axis), y = low_of(scene, b, axis);
    return x < y || (x == y && a < b);
}

/* By insertion: few places change from one step to the next. */
static void sort_bodies(ccd_scene *scene, int axis)
{
    for (int i = 1; i < scene->body_count; i++) {
        int body = scene->order[i], at = i;
        for (; at > 0 && comes_before(scene, body, scene->order[at - 1], axis); at--)
            scene->order[at] = scene->order[at - 1];
        scene->order[at] = body;
    }
}

static bool overlap(const motion_box *a, const motion_box *b)
{
    return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y &&
           b->low.y <= a->high.y && a->low.z <= b->high.z && b->low.z <= a->high.z;
}

void ccd_sweep_bodies(ccd_search *s)
{
    ccd_scene *scene = s->scene;
    for (int i = 0; i < scene->body_count; i++) {
        scene->boxes[i] = wide_box(s, i);
        for (int k = 0; k < CCD_BODY_WORDS; k++)
            scene->meets[i][k] = 0;
    }
    int axis = widest_axis(scene);
    sort_bodies(scene, axis);
    for (int p = 0; p < scene->body_count; p++) {
        int i = scene->order[p];
        if (motion_box_is_empty(&scene->boxes[i]))
            continue;
        for (int q = p + 1; q < scene->body_count; q++) {
            int j = scene->order[q], first = i < j ? i : j, second = i < j ? j : i;
            if (low_of(scene, j, axis) > high_of(scene, i, axis))
                break;
            s->counters->sweep_tests++;
            if (!motion_box_is_empty(&scene->boxes[j]) &&
                overlap(&scene->boxes[i], &scene->boxes[j]))
                scene->meets[first][second / 64] |= UINT64_C(1) << (second % 64);
        }
    }
}

int ccd_scene_next_meeting(const ccd_scene *scene, int body, int after)
{
    int from = after + 1;
    for (int k = from / 64; k < CCD_BODY_WORDS; k++) {
        uint64_t word = scene->meets[body][k];
        if (k == from / 64)
            word &= ~UINT64_C(0) << (from % 64);
        if (word)
            return 64 * k + __builtin_ctzll(word);
    }
    return -1;
}
