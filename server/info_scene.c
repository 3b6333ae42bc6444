/* What a scene contains. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/scene.h"
#include "server/command.h"
#include "server/info.h"

bool info_scene_accepts(const char *path, const char *head, size_t size)
{
    (void)head;
    (void)size;
    return info_has_ending(path, ".scene");
}

static const char *motion_name(scene_motion motion)
{
    static const char *const names[] = {"fixed", "keyframes", "oscillate", "free"};
    return names[motion];
}

static json_t *point(vec3 v)
{
    return json_pack("[f, f, f]", v.x, v.y, v.z);
}

static json_t *body_object(const scene_body *b)
{
    const scene_material *m = &b->material;
    return json_pack("{s:s, s:s, s:s, s:s, s:f, s:o, s:{s:f, s:f, s:f, s:f}}", "name", b->name,
                     "shape", scene_shape_name(b->shape), "motion", motion_name(b->motion), "file",
                     b->file, "mass_kg", b->mass_kg, "position_m", point(b->world_from_body.origin),
                     "material", "stiffness_n_per_m", m->stiffness_n_per_m, "damping_n_s_per_m",
                     m->damping_n_s_per_m, "static_friction", m->static_friction,
                     "kinetic_friction", m->kinetic_friction);
}

static void print_json(const scene *s)
{
    json_t *bodies = json_array();
    for (int i = 0; i < s->body_count; i++)
        json_array_append_new(bodies, body_object(&s->bodies[i]));
    json_t *o = json_pack("{s:s, s:s, s:s, s:o, s:f, s:o}", "kind", "scene", "name", s->name,
                          "sentence", s->sentence, "gravity_m_per_s2", point(s->gravity),
                          "tool_radius_m", s->tool_radius_m, "bodies", bodies);
    json_dumpf(o, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    putchar('\n');
    json_decref(o);
}

static void print_text(const char *path, const scene *s)
{
    printf("%s: scene \"%s\", %d bodies\n%s\n", path, s->name, s->body_count, s->sentence);
    for (int i = 0; i < s->body_count; i++) {
        const scene_body *b = &s->bodies[i];
        printf("  %-16s %-12s %-10s %6.0f N/m %5.1f N s/m  friction %.2f %.2f", b->name,
               scene_shape_name(b->shape), motion_name(b->motion), b->material.stiffness_n_per_m,
               b->material.damping_n_s_per_m, b->material.static_friction,
               b->material.kinetic_friction);
        printf("%s%s\n", b->file[0] ? "  " : "", b->file);
    }
}

int info_scene_print(const char *path, bool wants_json)
{
    scene *s = calloc(1, sizeof *s);
    hr_error error = {"no memory"};
    hr_status status = s ? scene_load(path, s, &error) : HR_ERR_MEMORY;
    if (status == HR_OK && wants_json)
        print_json(s);
    else if (status == HR_OK)
        print_text(path, s);
    free(s);
    return status == HR_OK ? COMMAND_OK : command_input_error(&error);
}
