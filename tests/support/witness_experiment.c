#include "tests/support/witness_experiment.h"

#include <stddef.h>
#include <stdio.h>

#include "tests/support/witness_reference.h"

static const double pi = 3.14159265358979323846;

typedef struct definition {
    char name;
    const char *a, *b;
    double duration;
} definition;

static const definition definitions[] = {{'A', "va_patch.json", NULL, 1.0},
                                         {'B', "planar_a.json", NULL, 10.0},
                                         {'C', "planar_a.json", "planar_b.json", 10.0},
                                         {'D', "lemon_a.json", NULL, 8.0},
                                         {'E', "lemon_a.json", "lemon_b.json", 6.0}};

static hr_status load(const char *file, parametric_body *out, hr_error *error)
{
    char path[256];
    snprintf(path, sizeof path, "tests/data/bodies/%s", file);
    return parametric_body_load(path, out, error);
}

hr_status experiment_load(char name, const char *second, experiment *out, hr_error *error)
{
    const definition *d = &definitions[name - 'A'];
    experiment x = {.name = name, .duration = d->duration, .has_b = d->b != NULL};
    hr_status status = load(d->a, &x.a, error);
    if (status == HR_OK && x.has_b)
        status = load(second ? second : d->b, &x.b, error);
    if (status != HR_OK) {
        experiment_free(&x);
        return status;
    }
    *out = x;
    return HR_OK;
}

void experiment_free(experiment *x)
{
    parametric_body_free(&x->a);
    parametric_body_free(&x->b);
}

/* x = r cos a, y = r sin a with rates dr, da. */
static void turn(witness_motion *m, double r, double dr, double a, double da)
{
    m->origin.x = r * cos(a);
    m->origin.y = r * sin(a);
    m->rate.linear.x = dr * cos(a) - r * da * sin(a);
    m->rate.linear.y = dr * sin(a) + r * da * cos(a);
}

witness_motion experiment_motion(char name, double t)
{
    witness_motion m = {.rotation = mat3_identity()};
    double duration = definitions[name - 'A'].duration;
    double turns = 2 * pi / duration;
    if (name == 'A') {
        m.origin = (vec3){0.55 * cos(pi * t), 0.45 * sin(pi * t), 1.35 + 0.15 * sin(2 * pi * t)};
        m.rate.linear =
            (vec3){-0.55 * pi * sin(pi * t), 0.45 * pi * cos(pi * t), 0.30 * pi * cos(2 * pi * t)};
    } else if (name == 'B') {
        turn(&m, 0.05 + 1.9 * t / duration, 1.9 / duration, 3.3 * turns * t + 0.4, 3.3 * turns);
    } else if (name == 'C') {
        turn(&m, 3.0 - 0.9 * t / duration, -0.9 / duration, 1.5 * turns * t, 1.5 * turns);
        m.rate.angular = (vec3){0, 0, 2.2 * turns};
        m.rotation = quat_to_mat3(quat_from_rotation_vector(vec3_scale(t, m.rate.angular)));
    } else if (name == 'D') {
        turn(&m, 0.9, 0.0, 4.3 * turns * t, 4.3 * turns);
        m.origin.z = -2.8 + 5.6 * t / duration;
        m.rate.linear.z = 5.6 / duration;
    } else {
        double rate = 1.2 * turns;
        double a = rate * t + 0.3;
        turn(&m, 2.6, 0.0, a, rate);
        m.origin.z = 0.8 * sin(2 * a);
        m.rate.linear.z = 1.6 * rate * cos(2 * a);
        m.rate.angular = (vec3){0.9, -1.3, 1.7};
        m.rotation = quat_to_mat3(quat_from_rotation_vector(vec3_scale(t, m.rate.angular)));
    }
    return m;
}

void experiment_start(const experiment *x, witness_settings settings, witness_pair *out)
{
    witness_motion now = experiment_motion(x->name, 0.0);
    witness_body a = witness_body_parametric(&x->a);
    witness_body b =
        x->has_b ? witness_body_parametric(&x->b) : witness_body_point((vec3){0, 0, 0});
    witness_pair_init(out, a, b, settings, &now);
    if (x->name == 'A')
        witness_place_set(&a, WITNESS_FACE, 0, 0.02, 0.97, &out->on_a);
    if (x->name == 'B')
        witness_place_set(&a, WITNESS_EDGE, 0, 0.9, 0, &out->on_a);
    if (x->name == 'C') {
        witness_place_set(&a, WITNESS_EDGE, 2, 0.5, 0, &out->on_a);
        witness_place_set(&b, WITNESS_EDGE, 1, 0.2, 0, &out->on_b);
    }
    if (x->name == 'D')
        witness_place_set(&a, WITNESS_FACE, 1, 0.5, 0.9, &out->on_a);
    if (x->name == 'E') {
        witness_place_set(&a, WITNESS_FACE, 1, 0.5, 0.7, &out->on_a);
        witness_place_set(&b, WITNESS_FACE, 2, 0.5, 0.5, &out->on_b);
    }
}

void experiment_step(const experiment *x, witness_pair *p, double t)
{
    double h = p->settings.step;
    witness_motion begin = experiment_motion(x->name, t);
    witness_motion middle = experiment_motion(x->name, t + 0.5 * h);
    witness_motion end = experiment_motion(x->name, t + h);
    witness_pair_step(p, &begin, &middle, &end);
}

double experiment_gap(const experiment *x, const witness_pair *p, double t)
{
    witness_motion m = experiment_motion(x->name, t);
    return reference_gap(&x->a, x->has_b ? &x->b : NULL, m.rotation, m.origin, p->last.on_a,
                         p->last.on_b);
}

witness_settings experiment_settings(witness_scheme scheme, double gain)
{
    witness_settings s = witness_settings_default();
    s.scheme = scheme;
    s.gain = scheme == WITNESS_PC ? 0.0 : gain;
    s.corrects_switches = scheme == WITNESS_PC;
    return s;
}
