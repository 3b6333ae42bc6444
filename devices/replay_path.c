#include "devices/replay_path.h"

#include <stdlib.h>
#include <string.h>

static const double held_max = 0.030;   /* s */
static const double jump_length = 1e-3; /* m: shorter steps are noise, however fast */
static const double glide_min = 0.2;    /* s */

replay_shape replay_shape_default(void)
{
    return (replay_shape){
        .axis = {0, 1, 2},
        .sign = {1, 1, 1},
        .is_centred = true,
        .fit_radius = 0.038, /* 2 mm inside a Falcon's 40 mm */
        .jump_speed = 0.6,   /* hands in a workspace of 80 mm stay below */
        .glide_speed = 0.1,
    };
}

HR_RT static double component(vec3 v, int axis)
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static vec3 in_base_axes(const replay_shape *s, vec3 p)
{
    return (vec3){s->sign[0] * component(p, s->axis[0]), s->sign[1] * component(p, s->axis[1]),
                  s->sign[2] * component(p, s->axis[2])};
}

/* Copies the points without held ones, time from zero. */
static void copy_points(const replay_track *track, replay_path *path)
{
    for (int i = 0; i < track->count; i++) {
        replay_point p = track->points[i];
        p.time -= track->points[0].time;
        p.spacing = i > 0 ? track->points[i].time - track->points[i - 1].time : 0;
        const replay_point *last = path->count > 0 ? &path->points[path->count - 1] : NULL;
        bool is_held = last && vec3_distance(p.position, last->position) == 0 &&
                       p.buttons == last->buttons && p.time - last->time < held_max &&
                       i + 1 < track->count;
        if (is_held)
            path->held++;
        else
            path->points[path->count++] = p;
    }
    path->length = path->points[path->count - 1].time;
}

static vec3 middle_of(const replay_path *path)
{
    vec3 low = path->points[0].position;
    vec3 high = low;
    for (int i = 1; i < path->count; i++) {
        vec3 p = path->points[i].position;
        low = (vec3){fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z)};
        high = (vec3){fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z)};
    }
    return vec3_lerp(low, high, 0.5);
}

static void place_in_workspace(const replay_shape *s, replay_path *path)
{
    path->centre = s->is_centred ? middle_of(path) : s->origin;
    double farthest = 0;
    for (int i = 0; i < path->count; i++)
        farthest = fmax(farthest, vec3_distance(path->points[i].position, path->centre));
    path->scale = s->scale;
    if (!(s->scale > 0))
        path->scale = farthest > s->fit_radius ? s->fit_radius / farthest : 1;
    for (int i = 0; i < path->count; i++) {
        vec3 *p = &path->points[i].position;
        *p = vec3_scale(path->scale, in_base_axes(s, vec3_sub(*p, path->centre)));
    }
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* 0 when out of memory. */
static double longest_step(const replay_shape *s, const replay_path *path)
{
    if (s->gap_s > 0)
        return s->gap_s;
    int n = path->count - 1;
    if (n < 1)
        return 0.1;
    double *steps = malloc((size_t)n * sizeof *steps);
    if (!steps)
        return 0;
    for (int i = 0; i < n; i++)
        steps[i] = path->points[i + 1].time - path->points[i].time;
    qsort(steps, (size_t)n, sizeof *steps, by_size);
    double median = steps[n / 2];
    free(steps);
    return fmax(0.1, 10 * median);
}

static bool is_break(const replay_shape *s, const replay_point *a, const replay_point *b,
                     double longest)
{
    double dt = b->time - a->time;
    double distance = vec3_distance(a->position, b->position);
    return dt > longest || (distance > jump_length && distance > s->jump_speed * b->spacing);
}

/* Share of a break's offset that is left: 1 - (10 s^3 - 15 s^4 + 6 s^5). */
HR_RT static double remaining(const replay_break *b, double time)
{
    double s = fmin(fmax((time - b->end) / b->glide, 0), 1);
    return 1 - s * s * s * (10 + s * (6 * s - 15));
}

static void find_breaks(const replay_shape *s, replay_path *path, double longest)
{
    for (int i = 0; i + 1 < path->count; i++) {
        const replay_point *a = &path->points[i];
        const replay_point *b = &path->points[i + 1];
        if (!is_break(s, a, b, longest))
            continue;
        vec3 hold = a->position;
        if (path->break_count > 0) { /* the last glide may not be over */
            const replay_break *last = &path->breaks[path->break_count - 1];
            hold = vec3_add_scaled(hold, remaining(last, a->time), last->offset);
        }
        vec3 offset = vec3_sub(hold, b->position);
        /* a minimum-jerk move is 1.875 times faster in its middle than on average */
        double glide = fmax(glide_min, 1.875 * vec3_length(offset) / s->glide_speed);
        path->breaks[path->break_count++] =
            (replay_break){i, a->time, b->time, glide, hold, offset};
    }
}

/* Fritsch and Butland, SIAM J. Sci. Stat. Comput. 5(2), 1984. */
static double limited_slope(double left, double right)
{
    return left * right > 0 ? 2 * left * right / (left + right) : 0;
}

static vec3 secant(const replay_point *a, const replay_point *b)
{
    return vec3_scale(1 / (b->time - a->time), vec3_sub(b->position, a->position));
}

static void find_slopes(replay_path *path)
{
    int next_break = 0;
    bool starts_piece = true;
    for (int i = 0; i < path->count; i++) {
        bool ends_piece = i + 1 == path->count;
        if (next_break < path->break_count && path->breaks[next_break].after == i) {
            ends_piece = true;
            next_break++;
        }
        vec3 slope = {0, 0, 0};
        if (!starts_piece && !ends_piece) {
            vec3 l = secant(&path->points[i - 1], &path->points[i]);
            vec3 r = secant(&path->points[i], &path->points[i + 1]);
            slope =
                (vec3){limited_slope(l.x, r.x), limited_slope(l.y, r.y), limited_slope(l.z, r.z)};
        }
        path->slopes[i] = slope;
        starts_piece = ends_piece;
    }
}

hr_status replay_path_build(const replay_track *track, const replay_shape *shape, replay_path *out)
{
    replay_path path = {.is_looped = shape->is_looped};
    size_t n = (size_t)track->count;
    path.points = calloc(n, sizeof *path.points);
    path.slopes = calloc(n, sizeof *path.slopes);
    path.breaks = calloc(n, sizeof *path.breaks);
    *out = (replay_path){0};
    if (!path.points || !path.slopes || !path.breaks) {
        replay_path_free(&path);
        return HR_ERR_MEMORY;
    }
    copy_points(track, &path);
    place_in_workspace(shape, &path);
    double longest = longest_step(shape, &path);
    if (!(longest > 0)) {
        replay_path_free(&path);
        return HR_ERR_MEMORY;
    }
    find_breaks(shape, &path, longest);
    find_slopes(&path);
    if (shape->is_looped) {
        replay_place last;
        replay_path_at(&path, path.length, &last);
        double back = vec3_distance(last.position, path.points[0].position);
        path.rewind = fmax(glide_min, 1.875 * back / shape->glide_speed);
    }
    *out = path;
    return HR_OK;
}

void replay_path_free(replay_path *path)
{
    free(path->points);
    free(path->slopes);
    free(path->breaks);
    *path = (replay_path){0};
}

/* Last point at or before a time; time >= 0. */
HR_RT static int point_before(const replay_path *path, double time)
{
    int low = 0;
    int high = path->count; /* points[low].time <= time < points[high].time */
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (path->points[middle].time <= time)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Last break that has begun; NULL before the first. */
HR_RT static const replay_break *break_before(const replay_path *path, double time)
{
    int low = -1;
    int high = path->break_count;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (path->breaks[middle].start <= time)
            low = middle;
        else
            high = middle;
    }
    return low >= 0 ? &path->breaks[low] : NULL;
}

/* Cubic Hermite between points i and i + 1. */
HR_RT static void interpolate(const replay_path *path, int i, double time, replay_place *out)
{
    const replay_point *a = &path->points[i];
    const replay_point *b = &path->points[i + 1];
    double h = b->time - a->time;
    double s = (time - a->time) / h;
    double s2 = s * s;
    double s3 = s2 * s;
    vec3 step = vec3_sub(b->position, a->position);
    vec3 m0 = path->slopes[i];
    vec3 m1 = path->slopes[i + 1];
    vec3 p = vec3_add_scaled(a->position, 3 * s2 - 2 * s3, step);
    p = vec3_add_scaled(p, h * (s3 - 2 * s2 + s), m0);
    out->position = vec3_add_scaled(p, h * (s3 - s2), m1);
    vec3 v = vec3_scale((6 * s - 6 * s2) / h, step);
    v = vec3_add_scaled(v, 3 * s2 - 4 * s + 1, m0);
    out->velocity = vec3_add_scaled(v, 3 * s2 - 2 * s, m1);
}

/* From the end back to the start. */
HR_RT static void rewind_path(const replay_path *path, double since_end, replay_place *out)
{
    double s = fmin(since_end / path->rewind, 1);
    vec3 from = out->position;
    vec3 to = path->points[0].position;
    out->position = vec3_lerp(from, to, s * s * s * (10 + s * (6 * s - 15)));
    out->velocity = vec3_scale(30 * s * s * (1 - s) * (1 - s) / path->rewind, vec3_sub(to, from));
    out->is_broken = true;
}

HR_RT static void track_at(const replay_path *path, double time, replay_place *out)
{
    int i = point_before(path, time);
    *out = (replay_place){.position = path->points[i].position, .buttons = path->points[i].buttons};
    const replay_break *b = break_before(path, time);
    if (b && time < b->end) {
        out->position = b->hold;
        out->is_broken = true;
        return;
    }
    if (i + 1 < path->count)
        interpolate(path, i, time, out);
    if (b && time < b->end + b->glide) {
        double s = (time - b->end) / b->glide;
        out->position = vec3_add_scaled(out->position, remaining(b, time), b->offset);
        out->velocity =
            vec3_add_scaled(out->velocity, -30 * s * s * (1 - s) * (1 - s) / b->glide, b->offset);
        out->is_broken = true;
    }
}

HR_RT void replay_path_at(const replay_path *path, double time, replay_place *out)
{
    double t = time > 0 ? time : 0;
    double whole = path->length + path->rewind;
    if (path->is_looped && path->rewind > 0)
        t -= whole * floor(t / whole);
    track_at(path, fmin(t, path->length), out);
    if (t > path->length && path->is_looped)
        rewind_path(path, t - path->length, out);
}
