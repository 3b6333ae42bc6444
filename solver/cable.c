#include "solver/cable.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/cable_internal.h"

cable_settings cable_settings_default(void)
{
    return (cable_settings){.particles = 41,
                            .radius = 0.01,
                            .mass = 1.0,
                            .stiffness = 2e5,
                            .max_strain = 0.02,
                            .gravity = {0, -9.81, 0},
                            .redetect = 1e-5,
                            .passes = 4,
                            .skin = 50e-6,
                            .has_cuts = true,
                            .has_edges = true,
                            .obstacles = 4,
                            .budget = {.iterations = -1}};
}

static bool is_sane(const cable_settings *s)
{
    return s->particles >= 2 && s->particles <= 10000 && s->radius >= 0 && s->mass > 0 &&
           s->stiffness >= 0 && s->damping >= 0 && s->drag >= 0 && s->obstacles >= 0 &&
           s->passes >= 1 && s->skin >= 0;
}

static bool allocate(cable *c)
{
    size_t n = (size_t)c->count, unknowns = 3 * n;
    c->x = calloc(n, sizeof *c->x);
    c->v = calloc(n, sizeof *c->v);
    c->next = calloc(n, sizeof *c->next);
    c->push = calloc(n, sizeof *c->push);
    c->held_velocity = calloc(n, sizeof *c->held_velocity);
    c->is_held = calloc(n, sizeof *c->is_held);
    c->rest = calloc(n, sizeof *c->rest);
    c->band = calloc(unknowns * (CABLE_BAND + 1), sizeof *c->band);
    c->b = calloc(unknowns, sizeof *c->b);
    c->stop = calloc(unknowns, sizeof *c->stop);
    c->obstacles = calloc((size_t)c->settings.obstacles + 1, sizeof *c->obstacles);
    int features = 2 * c->count * (c->settings.obstacles + 1), passes = c->settings.passes + 1;
    int strain = 2 * c->count * passes;
    c->qp = qp_create((qp_limits){.variables = (int)unknowns,
                                  .rows = features * 2 + strain,
                                  .entries = 6L * (features * 2 + strain),
                                  .soft_rows = strain,
                                  .envelope = (long)unknowns * (CABLE_BAND + 1)});
    return c->x && c->v && c->next && c->push && c->held_velocity && c->is_held && c->rest &&
           c->band && c->b && c->stop && c->obstacles && c->qp;
}

cable *cable_create(const cable_settings *settings, const vec3 *start)
{
    cable *c = is_sane(settings) ? calloc(1, sizeof *c) : NULL;
    if (!c)
        return NULL;
    c->settings = *settings;
    c->count = settings->particles;
    c->particle_mass = settings->mass / settings->particles;
    if (c->settings.margin <= 0)
        c->settings.margin = 2 * settings->radius;
    if (!allocate(c)) {
        cable_destroy(c);
        return NULL;
    }
    memcpy(c->x, start, (size_t)c->count * sizeof *c->x);
    memcpy(c->next, start, (size_t)c->count * sizeof *c->x);
    for (int i = 0; i + 1 < c->count; i++)
        c->rest[i] = vec3_distance(start[i], start[i + 1]);
    return c;
}

void cable_destroy(cable *c)
{
    if (!c)
        return;
    void *memory[] = {c->x,    c->v,    c->next, c->push, c->held_velocity, c->is_held,
                      c->rest, c->band, c->b,    c->stop, c->obstacles};
    for (int i = 0; i < HR_COUNT(memory); i++)
        free(memory[i]);
    qp_destroy(c->qp);
    free(c);
}

void cable_reset(cable *c, const vec3 *start)
{
    memcpy(c->x, start, (size_t)c->count * sizeof *c->x);
    memset(c->v, 0, (size_t)c->count * sizeof *c->v);
    memset(c->push, 0, (size_t)c->count * sizeof *c->push);
    qp_forget(c->qp);
}

int cable_count(const cable *c)
{
    return c->count;
}

const vec3 *cable_positions(const cable *c)
{
    return c->x;
}

const vec3 *cable_velocities(const cable *c)
{
    return c->v;
}

void cable_hold(cable *c, int i, bool is_held, vec3 velocity)
{
    c->is_held[i] = is_held;
    c->held_velocity[i] = velocity;
}

void cable_push(cable *c, int i, vec3 force)
{
    if (vec3_is_finite(force))
        c->push[i] = vec3_add(c->push[i], force);
}

int cable_add_obstacle(cable *c, const cable_obstacle *obstacle)
{
    if (c->obstacle_count >= c->settings.obstacles)
        return HR_ERR_CAPACITY;
    c->obstacles[c->obstacle_count] = *obstacle;
    return c->obstacle_count++;
}

void cable_move_obstacle(cable *c, int index, pose world_from_obstacle, twist velocity)
{
    c->obstacles[index].world_from_obstacle = world_from_obstacle;
    c->obstacles[index].velocity = velocity;
}

/* Row r, column r - 5 .. r. */
static void add_block(cable *c, int row, int column, double factor, mat3 block)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (3 * column + j <= 3 * row + i)
                c->band[(3 * row + i) * (CABLE_BAND + 1) + (3 * column + j) - (3 * row + i) +
                        CABLE_BAND] += factor * block.m[i][j];
}

static void add_vector(double *to, int i, vec3 v)
{
    to[3L * i] += v.x;
    to[3L * i + 1] += v.y;
    to[3L * i + 2] += v.z;
}

/* One spring: forces and their derivatives. The transverse stiffness is negative under compression
 * and would cost K its definiteness: clamped at zero. */
static void add_spring(cable *c, int i, double dt)
{
    vec3 d = vec3_sub(c->x[i + 1], c->x[i]), rate = vec3_sub(c->v[i + 1], c->v[i]);
    double length = vec3_length(d), k = c->settings.stiffness, damping = c->settings.damping;
    vec3 n = vec3_normalize_or(d, (vec3){1, 0, 0});
    double transverse = length > c->rest[i] ? 1.0 - c->rest[i] / length : 0.0;
    mat3 nn = mat3_outer(n, n);
    mat3 stiff = mat3_add(mat3_scale(k * (1.0 - transverse), nn),
                          mat3_scale(k * transverse, mat3_identity()));
    mat3 block = mat3_add(mat3_scale(dt * dt, stiff), mat3_scale(dt * damping, nn));
    vec3 force = vec3_scale(k * (length - c->rest[i]) + damping * vec3_dot(rate, n), n);
    vec3 impulse = vec3_scale(dt, vec3_add_scaled(force, dt, mat3_apply(stiff, rate)));
    add_block(c, i, i, 1.0, block);
    add_block(c, i + 1, i + 1, 1.0, block);
    add_block(c, i + 1, i, -1.0, block);
    add_vector(c->b, i, impulse);
    add_vector(c->b, i + 1, vec3_negate(impulse));
}

/* A held particle's change of velocity is known: its columns go to the right side. */
static void eliminate(cable *c, int i)
{
    double known[3] = {c->held_velocity[i].x - c->v[i].x, c->held_velocity[i].y - c->v[i].y,
                       c->held_velocity[i].z - c->v[i].z};
    for (int k = 0; k < 3; k++) {
        int p = 3 * i + k;
        for (int r = p - CABLE_BAND; r <= p + CABLE_BAND; r++) {
            if (r < 0 || r >= 3 * c->count || r == p)
                continue;
            int row = r > p ? r : p, column = r > p ? p : r;
            double *entry = &c->band[row * (CABLE_BAND + 1) + column - row + CABLE_BAND];
            c->b[r] -= *entry * known[k];
            *entry = 0.0;
        }
    }
    for (int k = 0; k < 3; k++) {
        int p = 3 * i + k;
        c->band[p * (CABLE_BAND + 1) + CABLE_BAND] = c->particle_mass;
        c->b[p] = c->particle_mass * known[k];
    }
}

static void assemble(cable *c, double dt)
{
    size_t unknowns = 3 * (size_t)c->count;
    memset(c->band, 0, unknowns * (CABLE_BAND + 1) * sizeof *c->band);
    memset(c->b, 0, unknowns * sizeof *c->b);
    double m = c->particle_mass, drag = c->settings.drag;
    for (int i = 0; i < c->count; i++) {
        add_block(c, i, i, m + dt * drag, mat3_identity());
        vec3 force = vec3_add(vec3_scale(m, c->settings.gravity), c->push[i]);
        add_vector(c->b, i, vec3_scale(dt, vec3_add_scaled(force, -drag, c->v[i])));
        c->push[i] = (vec3){0, 0, 0};
    }
    for (int i = 0; i + 1 < c->count; i++)
        add_spring(c, i, dt);
    for (int i = 0; i < c->count; i++)
        if (c->is_held[i])
            eliminate(c, i);
}

/* Places after the step for the present solution of the programme. */
static void predict(cable *c, double dt)
{
    const double *dv = qp_x(c->qp);
    for (int i = 0; i < c->count; i++) {
        vec3 change = {dv[3L * i], dv[3L * i + 1], dv[3L * i + 2]};
        c->next[i] = vec3_add_scaled(c->x[i], dt, vec3_add(c->v[i], change));
    }
}

/* Passes of solving and looking again. True when nothing is left to add. */
static bool solve(cable *c, double dt, cable_step_info *info)
{
    int left = c->settings.budget.iterations;
    if (left < 0)
        left = 4 * (3 * c->count + 8);
    for (int pass = 0; pass < c->settings.passes; pass++) {
        qp_info result;
        qp_status status = qp_solve(
            c->qp, (qp_budget){.iterations = left, .time_ns = c->settings.budget.time_ns}, &result);
        left -= result.iterations < left ? result.iterations : left;
        info->iterations += result.iterations;
        if (result.iterations > info->most_iterations)
            info->most_iterations = result.iterations;
        info->passes = pass + 1;
        info->active = result.active;
        info->violation = result.violation;
        info->rows = qp_row_count(c->qp);
        predict(c, dt);
        if (status != QP_OPTIMAL)
            return false;
        int added = 0;
        if (cable_rows_redetect(c, dt, pass, &added) != HR_OK)
            return false;
        if (added == 0)
            return true;
    }
    /* the last pass's own finds were not solved for: good if what is left is within the skin */
    return cable_penetration(c, c->next, dt, c->settings.radius) <= c->settings.skin;
}

/* Everything stops, but for what is held or pushed by a moving obstacle; then as much of the
 * unfinished solution as the true skin allows. */
static void fall_back(cable *c, double dt, cable_step_info *info)
{
    info->has_fallen_back = true;
    for (int i = 0; i < c->count; i++) {
        vec3 stop = vec3_negate(c->v[i]);
        if (c->is_held[i])
            stop = vec3_sub(c->held_velocity[i], c->v[i]);
        c->stop[3L * i] = stop.x;
        c->stop[3L * i + 1] = stop.y;
        c->stop[3L * i + 2] = stop.z;
    }
    info->blend = qp_make_safe(c->qp, c->stop, c->settings.skin / dt);
    predict(c, dt);
    /* pairs that no row names yet: half way back to the stop until they are clear as well */
    double clear = c->settings.radius;
    for (int i = 0; i < 30 && cable_penetration(c, c->next, dt, clear) > 0; i++) {
        for (int k = 0; k < c->count; k++) {
            vec3 rest = {c->stop[3L * k], c->stop[3L * k + 1], c->stop[3L * k + 2]};
            vec3 still = vec3_add_scaled(c->x[k], dt, vec3_add(c->v[k], rest));
            c->next[k] = i == 29 ? still : vec3_lerp(still, c->next[k], 0.5);
        }
    }
}

void cable_step(cable *c, double dt, cable_step_info *info)
{
    *info = (cable_step_info){.blend = 1.0};
    assemble(c, dt);
    bool is_solved = qp_set_banded(c->qp, 3 * c->count, CABLE_BAND, c->band) == HR_OK &&
                     qp_set_b(c->qp, c->b) == HR_OK;
    if (is_solved) {
        qp_rows_begin(c->qp);
        is_solved = cable_rows_detect(c, dt) == HR_OK && solve(c, dt, info);
    }
    if (!is_solved)
        fall_back(c, dt, info);
    for (int i = 0; i < c->count; i++) {
        c->v[i] = vec3_scale(1.0 / dt, vec3_sub(c->next[i], c->x[i]));
        c->x[i] = c->next[i];
    }
    for (int o = 0; o < c->obstacle_count; o++)
        c->obstacles[o].world_from_obstacle = pose_advance(
            c->obstacles[o].world_from_obstacle, c->obstacles[o].velocity, (twist){0}, dt);
    info->max_penetration =
        qp_row_count(c->qp) > 0 ? cable_penetration(c, c->x, 0.0, c->settings.radius) : 0.0;
    info->max_strain = cable_strain(c, c->x);
    c->has_stepped = true;
}

double cable_energy(const cable *c)
{
    double energy = 0;
    for (int i = 0; i < c->count; i++)
        energy += c->particle_mass *
                  (0.5 * vec3_length_squared(c->v[i]) - vec3_dot(c->settings.gravity, c->x[i]));
    for (int i = 0; i + 1 < c->count; i++) {
        double stretch = vec3_distance(c->x[i], c->x[i + 1]) - c->rest[i];
        energy += 0.5 * c->settings.stiffness * stretch * stretch;
    }
    return energy;
}

mat3 cable_inverse_mass(cable *c, int i, double t)
{
    mat3 out = {0};
    int ends[2] = {i, i + 1 < c->count ? i + 1 : i};
    double weights[2] = {1.0 - t, t};
    for (int k = 0; k < 3 && c->has_stepped; k++) {
        memset(c->stop, 0, 3 * (size_t)c->count * sizeof *c->stop);
        for (int e = 0; e < 2; e++)
            c->stop[3L * ends[e] + k] += c->is_held[ends[e]] ? 0.0 : weights[e];
        qp_apply_inverse(c->qp, c->stop);
        for (int e = 0; e < 2; e++)
            for (int j = 0; j < 3; j++)
                out.m[j][k] += weights[e] * c->stop[3L * ends[e] + j];
    }
    return out;
}
