/* A basis-exchange method: the nearest point over all planes is the nearest point over at most
 * three of them. Add the plane violated most, find the nearest point for those (at most four)
 * planes by trying every subset that holds the new one, keep the subset that carries it. The
 * distance from `wanted` rises with every exchange, so no set comes back; and by Helly's theorem
 * four planes without a common point prove that there is none at all. */
#include "solver/god_object.h"

/* Exchanges seen: 7 at most in 10^6 random sets of 16 planes; the distance rises in each. */
#define EXCHANGES_MAX 64

/* Gram determinant of unit normals below which they are taken for dependent (2e-5 rad). */
#define DEPENDENT 4e-10

typedef struct basis {
    int plane[3];
    int count;
    vec3 point;
} basis;

typedef struct attempt {
    const half_space *planes;
    vec3 wanted;
    double tolerance; /* m */
    int candidate[4]; /* old basis, then the new plane */
    int candidates;
    double best_squared; /* m^2, distance from wanted */
    basis best;
} attempt;

HR_RT static double excess(const half_space *plane, vec3 point)
{
    return -vec3_dot(plane->normal, point) - plane->clearance;
}

HR_RT static void offer(attempt *a, const int *chosen, int count, vec3 point)
{
    vec3 away = vec3_sub(point, a->wanted);
    double squared = vec3_dot(away, away);
    if (!(squared < a->best_squared))
        return;
    for (int i = 0; i < a->candidates; i++)
        if (excess(&a->planes[a->candidate[i]], point) > a->tolerance)
            return;
    a->best_squared = squared;
    a->best.count = count;
    a->best.point = point;
    for (int i = 0; i < count; i++)
        a->best.plane[i] = chosen[i];
}

/* Projections of `wanted` on one plane, a line of two and a corner of three. */
HR_RT static void offer_one(attempt *a, int p)
{
    const half_space *plane = &a->planes[p];
    double depth = excess(plane, a->wanted);
    offer(a, &p, 1, vec3_add_scaled(a->wanted, depth, plane->normal));
}

/* Solved twice: the second round takes away the rounding of the first, which grows with the
 * multipliers of nearly opposite planes. */
HR_RT static void offer_two(attempt *a, int p, int q)
{
    const half_space *first = &a->planes[p], *second = &a->planes[q];
    double cosine = vec3_dot(first->normal, second->normal);
    vec3 along = vec3_cross(first->normal, second->normal);
    double determinant = vec3_dot(along, along);
    if (determinant < DEPENDENT)
        return;
    vec3 point = a->wanted;
    for (int round = 0; round < 2; round++) {
        double e1 = excess(first, point), e2 = excess(second, point);
        point = vec3_add_scaled(point, (e1 - cosine * e2) / determinant, first->normal);
        point = vec3_add_scaled(point, (e2 - cosine * e1) / determinant, second->normal);
    }
    offer(a, (const int[]){p, q}, 2, point);
}

HR_RT static void offer_three(attempt *a, int p, int q, int r)
{
    const half_space *first = &a->planes[p], *second = &a->planes[q], *third = &a->planes[r];
    vec3 qr = vec3_cross(second->normal, third->normal);
    double volume = vec3_dot(first->normal, qr);
    if (volume * volume < DEPENDENT)
        return;
    vec3 rp = vec3_cross(third->normal, first->normal);
    vec3 pq = vec3_cross(first->normal, second->normal);
    vec3 point = a->wanted;
    for (int round = 0; round < 2; round++) {
        double e1 = excess(first, point), e2 = excess(second, point), e3 = excess(third, point);
        point = vec3_add_scaled(point, e1 / volume, qr);
        point = vec3_add_scaled(point, e2 / volume, rp);
        point = vec3_add_scaled(point, e3 / volume, pq);
    }
    offer(a, (const int[]){p, q, r}, 3, point);
}

/* The nearest point for the old basis and the new plane, which is the last candidate. */
HR_RT static bool exchange(attempt *a)
{
    int old = a->candidates - 1, p = a->candidate[old];
    a->best_squared = (double)INFINITY;
    offer_one(a, p);
    for (int i = 0; i < old; i++)
        offer_two(a, p, a->candidate[i]);
    for (int i = 0; i < old; i++)
        for (int j = i + 1; j < old; j++)
            offer_three(a, p, a->candidate[i], a->candidate[j]);
    return isfinite(a->best_squared);
}

HR_RT static hr_status check_input(vec3 wanted, const half_space *planes, int count)
{
    if (count < 0 || (count > 0 && !planes))
        return HR_ERR_ARGUMENT;
    if (count > GOD_OBJECT_PLANES_MAX)
        return HR_ERR_CAPACITY;
    if (!vec3_is_finite(wanted))
        return HR_ERR_NOT_FINITE;
    for (int i = 0; i < count; i++) {
        if (!vec3_is_finite(planes[i].normal) || !isfinite(planes[i].clearance))
            return HR_ERR_NOT_FINITE;
        if (fabs(vec3_length_squared(planes[i].normal) - 1.0) > 1e-6)
            return HR_ERR_ARGUMENT;
    }
    return HR_OK;
}

HR_RT static int most_violated(const attempt *a, int count, vec3 point)
{
    int worst = -1;
    double most = a->tolerance;
    for (int i = 0; i < count; i++) {
        double depth = excess(&a->planes[i], point);
        if (depth > most) {
            most = depth;
            worst = i;
        }
    }
    return worst;
}

HR_RT static int report(const basis *b, vec3 *moved, int active[3])
{
    *moved = b->point;
    for (int i = 0; i < b->count; i++) {
        int at = i;
        for (; at > 0 && active[at - 1] > b->plane[i]; at--)
            active[at] = active[at - 1];
        active[at] = b->plane[i];
    }
    return b->count;
}

HR_RT int god_object_move(vec3 wanted, const half_space *planes, int count, vec3 *moved,
                          int active[3])
{
    *moved = (vec3){0, 0, 0};
    hr_status status = check_input(wanted, planes, count);
    if (status != HR_OK)
        return status;

    if (count == 1) {
        double depth = excess(&planes[0], wanted);
        *moved = depth > 0 ? vec3_add_scaled(wanted, depth, planes[0].normal) : wanted;
        active[0] = 0;
        return depth > 0;
    }

    /* Some thousand roundings of the lengths in sight. */
    double size = vec3_length(wanted);
    for (int i = 0; i < count; i++)
        size += fabs(planes[i].clearance);
    double strict = 1e-12 * (1e-3 + size);
    attempt a = {.planes = planes, .wanted = wanted, .tolerance = strict};
    basis now = {.point = wanted};

    for (int round = 0; round < EXCHANGES_MAX; round++) {
        int p = most_violated(&a, count, now.point);
        if (p < 0)
            return report(&now, moved, active);
        for (int i = 0; i < now.count; i++)
            a.candidate[i] = now.plane[i];
        a.candidate[now.count] = p;
        a.candidates = now.count + 1;
        /* Corners of nearly parallel planes lose digits: forgive more before giving up, and from
         * then on, or two planes that differ by rounding would be exchanged for ever. */
        bool found = exchange(&a);
        while (!found && a.tolerance < 1e3 * strict) {
            a.tolerance *= 100.0;
            found = exchange(&a);
        }
        if (!found)
            return HR_ERR_INFEASIBLE;
        now = a.best;
    }
    return HR_ERR_MAX_ITER;
}
