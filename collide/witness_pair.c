#include "collide/witness_pair.h"

#include <stddef.h>

/* Shares of the smaller size: the contact form is entered below the first and left above the
 * second. */
static const double contact_enter = 1e-2;
static const double contact_leave = 2e-2;
static const double converged_cosine = 1e-6;
/* Of a Bezier piece: the foot is exact to 1e-12 of its size. */
static const double taylor_share = 2e-4;

enum { TRANSITION_ROUNDS = 6, SWITCH_CORRECTORS = 2, FALLBACK_TICKS_MAX = 20 };

/* The state at which a law is written down. */
typedef struct stage {
    witness_system system;
    witness_box box;
} stage;

HR_RT static double smaller_size(const witness_pair *p)
{
    if (p->a.size > 0.0 && p->b.size > 0.0)
        return p->a.size < p->b.size ? p->a.size : p->b.size;
    return p->a.size > p->b.size ? p->a.size : p->b.size;
}

HR_RT static inline vec3 seen_from_a(const witness_place *on_b, const witness_motion *m)
{
    return vec3_add(mat3_apply(m->rotation, on_b->at.p), m->origin);
}

/* B's outward normal in A's axes. */
HR_RT static vec3 normal_of_b(const witness_place *on_b, const witness_motion *m, double outward)
{
    return mat3_apply(m->rotation, witness_normal(&on_b->at, outward));
}

/* Which form fits: near contact of two features of which one has a plane, the contact form. */
HR_RT static witness_form choose_form(const witness_pair *p, const witness_place *on_a,
                                      const witness_place *on_b, const witness_motion *m,
                                      vec3 apart, double *outward)
{
    if (on_a->feature == WITNESS_VERTEX || on_b->feature == WITNESS_VERTEX)
        return WITNESS_GRADIENT;
    double size = smaller_size(p);
    double enter = contact_enter * size;
    if (!p->is_in_contact && vec3_length_squared(apart) > enter * enter)
        return WITNESS_GRADIENT;
    double out_a = witness_place_outward(&p->a, on_a);
    double out_b = witness_place_outward(&p->b, on_b);
    if (out_a == 0.0 && out_b == 0.0)
        return WITNESS_GRADIENT;
    *outward = out_a != 0.0 ? out_a : out_b;
    vec3 n =
        out_a != 0.0 ? witness_normal(&on_a->at, out_a) : vec3_negate(normal_of_b(on_b, m, out_b));
    if (p->is_in_contact && vec3_dot(n, apart) > contact_leave * size)
        return WITNESS_GRADIENT;
    return out_a != 0.0 ? WITNESS_CONTACT_A : WITNESS_CONTACT_B;
}

HR_RT static void write_law(witness_pair *p, const witness_place *on_a, const witness_place *on_b,
                            const witness_motion *m, stage *out)
{
    int na = (int)on_a->feature;
    int nb = (int)on_b->feature;
    double outward = 0.0;
    witness_law(&on_a->at, na, &on_b->at, nb, m, &out->system);
    witness_form form =
        choose_form(p, on_a, on_b, m, vec3_negate(out->system.difference), &outward);
    p->is_in_contact = form != WITNESS_GRADIENT;
    if (form != WITNESS_GRADIENT)
        witness_law_contact(&on_a->at, &on_b->at, form, outward, m, &out->system);
    witness_place_box(&p->a, on_a, 0, &out->box);
    witness_place_box(&p->b, on_b, na, &out->box);
    out->box.size = smaller_size(p);
}

/* Moves both witnesses by a combined increment. */
HR_RT static void move(const witness_pair *p, witness_place *on_a, witness_place *on_b,
                       const double *dx)
{
    int na = (int)on_a->feature;
    if (na > 0)
        witness_place_move(&p->a, on_a, dx);
    if (on_b->feature != WITNESS_VERTEX)
        witness_place_move(&p->b, on_b, dx + na);
}

/* While inside, the witness goes no faster than the settings say: a sheet that ends at a convex
 * vertex would throw it far in one tick. */
HR_RT static void limit_speed(const witness_pair *p, const witness_system *s, double *dx)
{
    double most = p->settings.inside_speed * p->settings.step;
    if (!(most > 0.0) || p->last.distance >= 0.0)
        return;
    double way = 0.0;
    for (int i = 0; i < s->n; i++)
        way = witness_larger(way, fabs(dx[i]) * s->scale[i]);
    if (way > most)
        for (int i = 0; i < s->n; i++)
            dx[i] *= most / way;
}

HR_RT static uint32_t correct(witness_pair *p, const witness_motion *m, double alpha)
{
    stage s;
    double dx[WITNESS_UNKNOWNS];
    if (p->on_a.feature == WITNESS_VERTEX && p->on_b.feature == WITNESS_VERTEX)
        return 0;
    write_law(p, &p->on_a, &p->on_b, m, &s);
    uint32_t flags = witness_solve(&s.system, alpha, 0.0, 1.0, &s.box, dx);
    limit_speed(p, &s.system, dx);
    int na = (int)p->on_a.feature;
    if (na > 0)
        witness_place_correct(&p->a, &p->on_a, dx, taylor_share);
    if (p->on_b.feature != WITNESS_VERTEX)
        witness_place_correct(&p->b, &p->on_b, dx + na, taylor_share);
    return flags;
}

/* The feed-forward alone; skipped where H cannot tell where the root goes. */
HR_RT static void predict(witness_pair *p, const witness_motion *m)
{
    stage s;
    double dx[WITNESS_UNKNOWNS];
    write_law(p, &p->on_a, &p->on_b, m, &s);
    uint32_t flags = witness_solve(&s.system, 0.0, p->settings.step, 1.0, &s.box, dx);
    if (flags & (WITNESS_MAJORISED | WITNESS_NON_UNIQUE | WITNESS_STUCK))
        return;
    limit_speed(p, &s.system, dx);
    move(p, &p->on_a, &p->on_b, dx);
}

/* The law's rate at a place shifted from the present one by `shift`. */
HR_RT static uint32_t rate_at(witness_pair *p, const double *shift, const witness_motion *m,
                              double *rate)
{
    stage s;
    witness_place on_a = p->on_a;
    witness_place on_b = p->on_b;
    if (shift)
        move(p, &on_a, &on_b, shift);
    write_law(p, &on_a, &on_b, m, &s);
    return witness_solve(&s.system, p->settings.gain, p->settings.uses_velocity ? 1.0 : 0.0,
                         p->settings.step, &s.box, rate);
}

/* shift = factor * rate on the unknowns */
HR_RT static void scaled(const double *rate, double factor, double *shift)
{
    for (int i = 0; i < WITNESS_UNKNOWNS; i++)
        shift[i] = factor * rate[i];
}

HR_RT static uint32_t integrate(witness_pair *p, const witness_motion *begin,
                                const witness_motion *middle, const witness_motion *end)
{
    double h = p->settings.step;
    double k[4][WITNESS_UNKNOWNS] = {{0}};
    double shift[WITNESS_UNKNOWNS] = {0};
    uint32_t flags = rate_at(p, NULL, begin, k[0]);
    if (p->settings.scheme == WITNESS_HEUN) {
        scaled(k[0], h, shift);
        flags |= rate_at(p, shift, end, k[1]);
        for (int i = 0; i < WITNESS_UNKNOWNS; i++)
            shift[i] = 0.5 * h * (k[0][i] + k[1][i]);
    } else if (p->settings.scheme == WITNESS_RK4) {
        scaled(k[0], 0.5 * h, shift);
        flags |= rate_at(p, shift, middle, k[1]);
        scaled(k[1], 0.5 * h, shift);
        flags |= rate_at(p, shift, middle, k[2]);
        scaled(k[2], h, shift);
        flags |= rate_at(p, shift, end, k[3]);
        for (int i = 0; i < WITNESS_UNKNOWNS; i++)
            shift[i] = h / 6.0 * (k[0][i] + 2.0 * (k[1][i] + k[2][i]) + k[3][i]);
    } else {
        scaled(k[0], h, shift);
    }
    move(p, &p->on_a, &p->on_b, shift);
    return flags;
}

/* Both automata in turn until neither moves. */
HR_RT static int settle(witness_pair *p, const witness_motion *m, uint32_t *flags)
{
    int fired = 0;
    for (int round = 0; round < TRANSITION_ROUNDS; round++) {
        vec3 h = seen_from_a(&p->on_b, m);
        bool a = witness_transit(&p->a, &p->on_a, h);
        vec3 f = mat3_apply_transposed(m->rotation, vec3_sub(p->on_a.at.p, m->origin));
        bool b = witness_transit(&p->b, &p->on_b, f);
        if (!a && !b)
            return fired;
        fired += a + b;
    }
    *flags |= WITNESS_CYCLING;
    return fired;
}

/* Outside or inside, where neither witness is on a face: by the mean normal of A's feature. A
 * witness of a convex body rests on an edge or vertex only while the other point is outside. */
HR_RT static double sign_without_face(const witness_pair *p, vec3 apart)
{
    if (p->b.kind == WITNESS_POINT && p->a.kind == WITNESS_BODY && p->a.body->is_convex &&
        !p->a.body->is_planar)
        return 1.0;
    vec3 n = witness_place_normal(&p->a, &p->on_a);
    return vec3_dot(n, apart) < 0.0 ? -1.0 : 1.0;
}

/* Signed distance and normal from the present witnesses. */
HR_RT static void measure_gap(const witness_pair *p, const witness_motion *m, witness_result *r)
{
    vec3 apart = vec3_sub(r->on_b, r->on_a);
    double d = vec3_length(apart);
    double out_a = witness_place_outward(&p->a, &p->on_a);
    double out_b = out_a == 0.0 ? witness_place_outward(&p->b, &p->on_b) : 0.0;
    if (out_a == 0.0 && out_b == 0.0) {
        double sign = sign_without_face(p, apart);
        r->distance = sign * d;
        r->normal = vec3_normalize_or(vec3_scale(sign, apart), (vec3){0, 0, 0});
        return;
    }
    vec3 n = out_a != 0.0 ? witness_normal(&p->on_a.at, out_a)
                          : vec3_negate(normal_of_b(&p->on_b, m, out_b));
    double along = vec3_dot(n, apart);
    /* near the surface the tangential part of the difference is error, not distance */
    bool is_near = fabs(along) < contact_enter * smaller_size(p) || p->is_in_contact;
    r->distance = is_near ? along : copysign(d, along);
    r->normal = is_near ? n : vec3_scale(1.0 / r->distance, apart);
}

/* Square of the largest cosine, times |D|^2, between the difference and the tangents of one side
 * that can move. */
HR_RT static double side_slope(const witness_body *b, const witness_place *p, vec3 difference)
{
    witness_box box;
    double worst = 0.0;
    witness_place_box(b, p, 0, &box);
    for (int i = 0; i < (int)p->feature; i++) {
        double g = vec3_dot(p->at.d1[i], difference);
        double square = vec3_length_squared(p->at.d1[i]);
        double least = 1e-6 * b->size / box.range[i];
        bool is_held = (g > 0.0 && p->x[i] <= box.low[i]) || (g < 0.0 && p->x[i] >= box.high[i]) ||
                       !(square > least * least);
        if (!is_held)
            worst = witness_larger(worst, g * g / square);
    }
    return worst;
}

HR_RT static void measure(witness_pair *p, const witness_motion *m, uint32_t flags, int switches)
{
    witness_result *r = &p->last;
    r->on_a = p->on_a.at.p;
    r->on_b = seen_from_a(&p->on_b, m);
    measure_gap(p, m, r);
    r->gap_rate = vec3_dot(r->normal, witness_velocity_at(m, r->on_b));
    vec3 difference = vec3_sub(r->on_a, r->on_b);
    double d = vec3_length(difference);
    double slope = side_slope(&p->a, &p->on_a, difference);
    if (p->on_b.feature != WITNESS_VERTEX) {
        vec3 seen_from_b = mat3_apply_transposed(m->rotation, vec3_negate(difference));
        slope = witness_larger(slope, side_slope(&p->b, &p->on_b, seen_from_b));
    }
    r->cosine = d > 0.0 ? sqrt(slope) / d : 0.0;
    /* on the surface the cosine is a quotient of rounding errors: compare lengths there */
    if (r->cosine * d < converged_cosine * witness_larger(d, 1e-3 * smaller_size(p)))
        flags |= WITNESS_CONVERGED;
    r->flags =
        flags | (p->is_in_contact ? WITNESS_IN_CONTACT : 0u) | (switches ? WITNESS_SWITCHED : 0u);
    r->switches = switches;
    p->switches += (uint64_t)switches;
}

/* From the solver's words to the result's; counts, and starts again from the grid when fallbacks do
 * not end. */
HR_RT static uint32_t judge(witness_pair *p, const witness_motion *m, uint32_t solve_flags)
{
    uint32_t flags = 0;
    if (solve_flags & WITNESS_NON_UNIQUE)
        flags |= WITNESS_NOT_UNIQUE;
    bool is_fallback = (solve_flags & (WITNESS_MAJORISED | WITNESS_STUCK)) != 0;
    p->fallback_ticks = is_fallback ? p->fallback_ticks + 1 : 0;
    if (!is_fallback)
        return flags;
    p->fallbacks++;
    flags |= WITNESS_DEGRADED;
    if (p->fallback_ticks < FALLBACK_TICKS_MAX || p->stays_on_feature)
        return flags;
    p->fallback_ticks = 0;
    p->reseeds++;
    vec3 h = seen_from_a(&p->on_b, m);
    witness_place_seed(&p->a, h, &p->on_a);
    vec3 f = mat3_apply_transposed(m->rotation, vec3_sub(p->on_a.at.p, m->origin));
    witness_place_seed(&p->b, f, &p->on_b);
    return flags | WITNESS_RESEEDED;
}

HR_RT static bool motion_is_finite(const witness_motion *m)
{
    const mat3 *r = &m->rotation;
    double sum = r->m[0][0] + r->m[0][1] + r->m[0][2] + r->m[1][0] + r->m[1][1] + r->m[1][2] +
                 r->m[2][0] + r->m[2][1] + r->m[2][2];
    vec3 rest = vec3_add(m->origin, vec3_add(m->rate.linear, m->rate.angular));
    /* a sum of finite numbers of any sensible size is finite; one bad term spoils it */
    return isfinite(sum + rest.x + rest.y + rest.z);
}

/* Transitions, and after one the corrector again: a reset leaves the witness at the border while
 * the opposing point has already moved up to one tick beyond it. */
HR_RT static int finish(witness_pair *p, const witness_motion *end, uint32_t *solve_flags,
                        uint32_t *flags)
{
    if (p->stays_on_feature)
        return 0;
    int switches = settle(p, end, flags);
    bool is_inside_limited = p->settings.inside_speed > 0.0 && p->last.distance < 0.0;
    if (!p->settings.corrects_switches || is_inside_limited)
        return switches;
    int fired = switches;
    for (int i = 0; i < SWITCH_CORRECTORS && fired; i++) {
        *solve_flags |= correct(p, end, 1.0);
        fired = settle(p, end, flags);
        switches += fired;
    }
    return switches;
}

HR_RT void witness_pair_init(witness_pair *p, witness_body a, witness_body b,
                             witness_settings settings, const witness_motion *now)
{
    *p = (witness_pair){.a = a, .b = b, .settings = settings};
    witness_place_seed(&p->a, now->origin, &p->on_a);
    vec3 f = mat3_apply_transposed(now->rotation, vec3_sub(p->on_a.at.p, now->origin));
    witness_place_seed(&p->b, f, &p->on_b);
    vec3 h = vec3_add(mat3_apply(now->rotation, p->on_b.at.p), now->origin);
    witness_place_seed(&p->a, h, &p->on_a);
    measure(p, now, 0, 0);
}

HR_RT void witness_pair_step(witness_pair *p, const witness_motion *begin,
                             const witness_motion *middle, const witness_motion *end)
{
    uint32_t solve_flags = 0;
    uint32_t flags = 0;
    if (!motion_is_finite(begin) || !motion_is_finite(end) ||
        (p->settings.scheme == WITNESS_RK4 && !motion_is_finite(middle))) {
        p->last.flags |= WITNESS_HELD;
        p->last.switches = 0;
        return;
    }
    if (p->settings.scheme != WITNESS_PC) {
        solve_flags = integrate(p, begin, middle, end);
    } else {
        double alpha =
            p->settings.gain > 0.0 ? 1.0 - exp(-p->settings.gain * p->settings.step) : 1.0;
        if (p->settings.uses_velocity)
            predict(p, begin);
        solve_flags = correct(p, end, alpha);
    }
    int switches = finish(p, end, &solve_flags, &flags);
    flags |= judge(p, end, solve_flags);
    measure(p, end, flags, switches);
}

HR_RT void witness_pair_correct(witness_pair *p, const witness_motion *now)
{
    uint32_t flags = 0;
    if (!motion_is_finite(now)) {
        p->last.flags |= WITNESS_HELD;
        p->last.switches = 0;
        return;
    }
    uint32_t solve_flags = correct(p, now, 1.0);
    int switches = finish(p, now, &solve_flags, &flags);
    flags |= judge(p, now, solve_flags);
    measure(p, now, flags, switches);
}

HR_RT double witness_pair_excess(const witness_pair *p, const witness_motion *now)
{
    stage s;
    int na = (int)p->on_a.feature;
    witness_law(&p->on_a.at, na, &p->on_b.at, (int)p->on_b.feature, now, &s.system);
    witness_place_box(&p->a, &p->on_a, 0, &s.box);
    witness_place_box(&p->b, &p->on_b, na, &s.box);
    s.box.size = smaller_size(p);
    return witness_excess(&s.system, &s.box);
}
