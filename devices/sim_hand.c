#include "devices/sim_hand.h"

static const double pi = 3.14159265358979323846;

const char sim_default_script[] = "move 0.035 0 0.005 over 1.0\n"
                                  "hold 0.5\n"
                                  "move 0.012 0 0.005 over 1.0\n"
                                  "hold 0.4\n"
                                  "slide 0.010 0.015 0.010 over 1.2\n"
                                  "slide 0.010 -0.015 0.000 over 2.4\n"
                                  "slide 0.012 0 0.005 over 1.2\n"
                                  "circle 0.012 0 -0.003 about 1 0 0 turns 2 over 3.0\n"
                                  "move 0.035 0 0.005 over 0.8\n"
                                  "tap -0.022 0 0 times 3 over 1.5\n"
                                  "move 0.022 0 0 over 0.6\n"
                                  "press -2 0 0 for 1.0\n"
                                  "button 0 press\n"
                                  "hold 0.2 pressing 0 0.5 0\n"
                                  "button 0 release\n"
                                  "move 0.03 0 0 over 0.6\n"
                                  "let go 0.4\n"
                                  "repeat\n";

HR_RT uint64_t sim_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

HR_RT double sim_random_unit(uint64_t *state)
{
    return (double)(sim_random(state) >> 11) * 0x1p-53;
}

void sim_hand_init(sim_hand *hand, sim_grip grip, const sim_script *script, uint64_t seed)
{
    hand->grip = grip;
    hand->script = *script;
    for (int axis = 0; axis < 3; axis++)
        for (int i = 0; i < SIM_TREMOR_TONES; i++) {
            hand->tremor[axis][i].omega = 2 * pi * (8 + 4 * sim_random_unit(&seed));
            hand->tremor[axis][i].phase = 2 * pi * sim_random_unit(&seed);
            /* equal tones whose squares add up to the wanted mean square */
            hand->tremor[axis][i].amplitude = grip.tremor * sqrt(2.0 / SIM_TREMOR_TONES);
        }
}

sim_grip sim_grip_default(void)
{
    return (sim_grip){.mass = 0.25, .damping = 5, .stiffness = 250, .tremor = 20e-6};
}

hr_status sim_grip_settings(const device_settings *settings, sim_grip *grip, hr_error *error)
{
    hr_status status;
    sim_grip g = *grip;
    if ((status = settings_number(settings, "grip_mass_kg", 0, 5, &g.mass, error)) ||
        (status = settings_number(settings, "grip_damping_n_s_per_m", 0, 200, &g.damping, error)) ||
        (status =
             settings_number(settings, "grip_stiffness_n_per_m", 0, 20000, &g.stiffness, error)) ||
        (status = settings_number(settings, "tremor_m", 0, 0.005, &g.tremor, error)))
        return status;
    *grip = g;
    return HR_OK;
}

/* The action at a time. Actions are in order of start, so the last one that has begun is meant. */
HR_RT static const sim_action *action_at(const sim_script *script, double *time)
{
    const sim_action *actions = script->first;
    double t = *time;
    if (t >= script->length && script->length > 0) {
        double pass = floor(t / script->length);
        bool is_over = pass >= script->passes;
        if (is_over || pass >= 1)
            actions = script->passes > 1 ? script->again : script->first;
        t = is_over ? script->length : t - pass * script->length;
    }
    int low = 0;
    int high = script->count; /* actions[low].start <= t < actions[high].start */
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (actions[middle].start <= t)
            low = middle;
        else
            high = middle;
    }
    *time = t - actions[low].start;
    return &actions[low];
}

/* 1 inside, down to 0 within `ramp` of both ends. */
HR_RT static double plateau(double t, double duration, double ramp)
{
    ramp = fmin(ramp, duration / 2);
    double edge = fmin(t, duration - t);
    if (edge >= ramp)
        return 1;
    return edge > 0 ? edge / ramp : 0;
}

/* Rotation of p about the line through c along unit axis n (Rodrigues). */
HR_RT static vec3 turn(vec3 p, vec3 c, vec3 n, double angle)
{
    vec3 r = vec3_sub(p, c);
    vec3 along = vec3_scale(vec3_dot(n, r), n);
    vec3 across = vec3_sub(r, along);
    vec3 turned =
        vec3_add(vec3_scale(cos(angle), across), vec3_scale(sin(angle), vec3_cross(n, across)));
    return vec3_add(c, vec3_add(along, turned));
}

HR_RT static void follow(const sim_action *a, double t, sim_intent *out)
{
    double s = a->duration > 0 ? fmin(fmax(t / a->duration, 0), 1) : 1;
    double rate = a->duration > 0 && s < 1 ? 1 / a->duration : 0;
    out->target = a->from;
    if (a->kind == SIM_MOVE) {
        /* minimum jerk: 10 s^3 - 15 s^4 + 6 s^5 */
        out->target = vec3_lerp(a->from, a->to, s * s * s * (10 + s * (6 * s - 15)));
        out->target_velocity =
            vec3_scale(30 * s * s * (1 - s) * (1 - s) * rate, vec3_sub(a->to, a->from));
    } else if (a->kind == SIM_SLIDE) {
        out->target = vec3_lerp(a->from, a->to, s);
        out->target_velocity = vec3_scale(rate, vec3_sub(a->to, a->from));
    } else if (a->kind == SIM_CIRCLE) {
        double angle = 2 * pi * a->times * s;
        out->target = turn(a->from, a->to, a->axis, angle);
        out->target_velocity =
            vec3_scale(2 * pi * a->times * rate, vec3_cross(a->axis, vec3_sub(out->target, a->to)));
    } else if (a->kind == SIM_TAP) {
        double angle = 2 * pi * a->times * s;
        out->target = vec3_add_scaled(a->from, (1 - cos(angle)) / 2, a->to);
        out->target_velocity = vec3_scale(pi * a->times * rate * sin(angle), a->to);
    }
}

/* The handle's orientation, by minimum jerk along the shortest way. */
HR_RT static quat turned(const sim_action *a, double t)
{
    if (a->kind != SIM_TURN)
        return a->turned_to;
    double s = a->duration > 0 ? fmin(fmax(t / a->duration, 0), 1) : 1;
    vec3 way = quat_to_rotation_vector(quat_multiply(a->turned_to, quat_conjugate(a->turned_from)));
    quat part = quat_from_rotation_vector(vec3_scale(s * s * s * (10 + s * (6 * s - 15)), way));
    return quat_normalize(quat_multiply(part, a->turned_from));
}

HR_RT void sim_hand_intent(const sim_hand *hand, double time, sim_intent *out)
{
    double t = time > 0 ? time : 0;
    const sim_action *a = action_at(&hand->script, &t);
    *out = (sim_intent){.holding = 1, .buttons = a->buttons, .rotation = turned(a, t)};
    follow(a, t, out);
    if (a->kind == SIM_LET_GO) /* the hand closes again over the last tenth of a second */
        out->holding = 1 - fmin(1, fmax(0, (a->duration - t) / fmin(0.1, a->duration)));
    else
        out->force = vec3_scale(plateau(t, a->duration, 0.05), a->force);
    vec3 shake = {0, 0, 0};
    double *component[3] = {&shake.x, &shake.y, &shake.z};
    for (int axis = 0; axis < 3; axis++)
        for (int i = 0; i < SIM_TREMOR_TONES; i++)
            *component[axis] +=
                hand->tremor[axis][i].amplitude *
                sin(hand->tremor[axis][i].omega * time + hand->tremor[axis][i].phase);
    out->target = vec3_add(out->target, shake);
}

HR_RT vec3 sim_grip_force(const sim_grip *grip, const sim_intent *intent, vec3 position,
                          vec3 velocity)
{
    vec3 force = vec3_scale(intent->holding * grip->stiffness, vec3_sub(intent->target, position));
    force = vec3_add_scaled(force, intent->holding * grip->damping,
                            vec3_sub(intent->target_velocity, velocity));
    return vec3_add_scaled(force, intent->holding, intent->force);
}
