/* The box: outside, the nearest point is the point clamped to it; inside, the face by which the
 * point came in is kept however deep it goes, so that nothing pops through a thin box. */
#include "collide/shape_kinds.h"

typedef struct sides {
    int s[3]; /* -1, 0, 1 per axis */
} sides;

HR_RT static uint32_t feature_of(sides k)
{
    return (uint32_t)((k.s[0] + 1) + 3 * (k.s[1] + 1) + 9 * (k.s[2] + 1));
}

HR_RT static sides sides_of(uint32_t feature)
{
    return (sides){{(int)(feature % 3) - 1, (int)(feature / 3 % 3) - 1, (int)(feature / 9) - 1}};
}

HR_RT static int axes_in(sides k)
{
    return (k.s[0] != 0) + (k.s[1] != 0) + (k.s[2] != 0);
}

/* The face to blame for a point inside: of the faces that meet in the last feature (all six where
 * there is none) the one that is least deep. */
HR_RT static sides face_for(const double *x, const double *h, sides last)
{
    bool is_free = axes_in(last) == 0;
    sides best = {{0, 0, 0}};
    double least = (double)INFINITY;
    for (int axis = 0; axis < 3; axis++) {
        for (int side = -1; side <= 1; side += 2) {
            double depth = h[axis] - side * x[axis];
            if ((!is_free && last.s[axis] != side) || !(depth < least))
                continue;
            least = depth;
            best = (sides){{0, 0, 0}};
            best.s[axis] = side;
        }
    }
    return best;
}

HR_RT static void touch_face(const double *x, const double *h, sides face, shape_contact *out)
{
    double p[3], n[3];
    double gap = 0;
    for (int i = 0; i < 3; i++) {
        p[i] = face.s[i] ? face.s[i] * h[i] : x[i];
        n[i] = face.s[i];
        gap += face.s[i] * (x[i] - p[i]);
    }
    out->point = (vec3){p[0], p[1], p[2]};
    out->normal = (vec3){n[0], n[1], n[2]};
    out->gap = gap;
    out->feature = feature_of(face);
}

/* The point is behind the face that it was last seen at, and within its rim. */
HR_RT static bool is_behind(const double *x, const double *h, sides face)
{
    if (axes_in(face) != 1)
        return false;
    for (int i = 0; i < 3; i++) {
        if (face.s[i] ? face.s[i] * x[i] > h[i] : fabs(x[i]) > h[i])
            return false;
    }
    return true;
}

HR_RT void shape_follow_box(vec3 half_size, shape_tracker *tracker, vec3 point, shape_contact *out)
{
    double x[3] = {point.x, point.y, point.z};
    double h[3] = {half_size.x, half_size.y, half_size.z};
    sides last = {{0, 0, 0}};
    if (tracker->track_count > 0 && tracker->tracks[0].feature < 27)
        last = sides_of(tracker->tracks[0].feature);

    sides now;
    double away[3];
    for (int i = 0; i < 3; i++) {
        now.s[i] = (x[i] > h[i]) - (x[i] < -h[i]);
        away[i] = now.s[i] ? x[i] - now.s[i] * h[i] : 0;
    }
    vec3 d = {away[0], away[1], away[2]};
    double distance = vec3_length(d);
    *out = (shape_contact){0};
    if (is_behind(x, h, last)) {
        touch_face(x, h, last, out);
    } else if (!(distance > 1e-150)) {
        touch_face(x, h, face_for(x, h, last), out);
    } else {
        out->point = vec3_sub(point, d);
        out->normal = vec3_scale(1.0 / distance, d);
        out->gap = distance;
        out->feature = feature_of(now);
    }
    tracker->tracks[0] = (shape_track){out->feature, SHAPE_TRACK_CONVERGED, 0, 0};
    tracker->track_count = 1;
    tracker->flags = SHAPE_TRACK_CONVERGED;
}
