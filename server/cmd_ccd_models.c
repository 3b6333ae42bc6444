/* `haptic ccd --model ...`: first contact of whole articulated bodies between two states. */
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collide/ccd_step.h"
#include "devices/text_file.h"
#include "geometry/urdf.h"
#include "server/cmd_ccd.h"
#include "server/command.h"

enum { PAIR_ROOM = 1 << 16, ITEM_ROOM = 1 << 20 };

typedef struct stage {
    const ccd_models_job *job;
    model models[CCD_MODELS_MAX];
    ccd_body *bodies[CCD_MODELS_MAX];
    ccd_scene *scene;
    int coordinate_count; /* of all models */
    double *from, *to;    /* in model order, models one after the other */
} stage;

static void print_warning(void *context, const char *text)
{
    (void)context;
    fprintf(stderr, "%s\n", text);
}

static int HR_PRINTF(1, 2) fail(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fputs("haptic ccd: ", stderr);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    return COMMAND_FAILED;
}

/* --- states ----------------------------------------------------------------------------------- */

/* Numbers separated by commas or white space; '#' begins a comment. Returns how many, or -1. */
static int read_numbers(char *text, const char *name, double *out, int room, hr_error *error)
{
    int count = 0, line = 1;
    for (char *p = text; *p;) {
        if (*p == '#')
            p += strcspn(p, "\n");
        if (*p == '\n')
            line++;
        if (strchr(", \t\r\n", *p)) {
            p += *p != 0;
            continue;
        }
        char *end = NULL;
        double value = strtod(p, &end);
        if (end == p || !isfinite(value) || !strchr(", \t\r\n#", *end)) {
            error_set(error, HR_ERR_FORMAT, "%s:%d: expected a finite number, found \"%.*s\"", name,
                      line, (int)strcspn(p, ", \t\r\n"), p);
            return -1;
        }
        if (count == room) {
            error_set(error, HR_ERR_CAPACITY, "%s:%d: expected %d numbers, found more", name, line,
                      room);
            return -1;
        }
        out[count++] = value;
        p = end;
    }
    return count;
}

/* The numbers themselves; what is none is taken for the name of a file that is not there. */
static int read_argument(const char *option, const char *state, double *out, int room,
                         hr_error *error)
{
    char *text = strdup(state);
    int count = text ? read_numbers(text, option, out, room, error) : -1;
    if (count < 0 && strspn(state, "+-.0123456789, \t\r\n") == 0 && *state)
        error_set(error, HR_ERR_NOT_FOUND,
                  "%s: expected a finite number or a file, found \"%s\" (no such file)", option,
                  state);
    free(text);
    return count;
}

static int read_file(const char *path, double *out, int room, hr_error *error)
{
    char *text = NULL;
    size_t size = 0;
    if (text_file_read(path, &text, &size, error) != HR_OK)
        return -1;
    int count = -1;
    if (strlen(text) < size)
        error_set(error, HR_ERR_FORMAT, "%s: expected text, found a NUL byte", path);
    else
        count = read_numbers(text, path, out, room, error);
    free(text);
    return count;
}

/* A file, or the numbers themselves. */
static bool read_state(const stage *s, const char *option, const char *state, double *out,
                       hr_error *error)
{
    struct stat found;
    bool is_file = stat(state, &found) == 0;
    const char *name = is_file ? state : option;
    int count = is_file ? read_file(state, out, s->coordinate_count, error)
                        : read_argument(option, state, out, s->coordinate_count, error);
    if (count >= 0 && count < s->coordinate_count)
        error_set(error, HR_ERR_FORMAT,
                  "%s: expected %d numbers (the coordinates of all movable joints), found %d", name,
                  s->coordinate_count, count);
    return count == s->coordinate_count;
}

typedef struct ordered {
    int order, link;
} ordered;

static int by_order(const void *a, const void *b)
{
    return ((const ordered *)a)->order - ((const ordered *)b)->order;
}

/* From the order of the joints in the file to the order of the model. */
static void to_model_order(const model *m, const double *in, double *out)
{
    ordered *joints = calloc((size_t)m->link_count, sizeof *joints);
    int taken = 0;
    if (!joints)
        return;
    for (int i = 0; i < m->link_count; i++)
        joints[i] = (ordered){i ? m->joints[i].file_order : -1, i};
    qsort(joints, (size_t)m->link_count, sizeof *joints, by_order);
    for (int i = 0; i < m->link_count; i++) {
        const model_joint *j = &m->joints[joints[i].link];
        int n = joints[i].link ? joint_q_count(j->type) : 0;
        for (int k = 0; k < n; k++)
            out[j->q + k] = in[taken++];
    }
    free(joints);
}

/* --- set-up ----------------------------------------------------------------------------------- */

static int load_models(stage *s)
{
    urdf_options options = {.meshes = URDF_REQUIRE_MESHES, .warn = print_warning};
    for (int i = 0; i < s->job->model_count; i++) {
        hr_error error = {{0}};
        if (urdf_load(s->job->models[i], options, &s->models[i], &error) != HR_OK)
            return command_input_error(&error);
        s->coordinate_count += s->models[i].q_count;
        if (s->models[i].mesh_count == 0)
            fprintf(stderr, "%s: no link has a shape; it cannot touch anything\n",
                    s->job->models[i]);
    }
    return COMMAND_OK;
}

static int load_states(stage *s)
{
    hr_error error = {{0}};
    size_t n = (size_t)s->coordinate_count + 1;
    s->from = calloc(n, sizeof *s->from);
    s->to = calloc(n, sizeof *s->to);
    if (!s->from || !s->to)
        return fail("out of memory");
    if (!read_state(s, "--from", s->job->from, s->from, &error) ||
        !read_state(s, "--to", s->job->to, s->to, &error))
        return command_input_error(&error);
    return COMMAND_OK;
}

/* A rotation is a quaternion, which has a direction only if it is not zero. */
static const char *joint_without_rotation(const model *m, const double *q)
{
    for (int i = 1; i < m->link_count; i++) {
        const model_joint *j = &m->joints[i];
        if (j->type != JOINT_SPHERICAL && j->type != JOINT_FLOATING)
            continue;
        const double *r = q + j->q + (j->type == JOINT_FLOATING ? 3 : 0);
        double size = r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3];
        if (!(size > 1e-12 && size < 1e12))
            return j->name;
    }
    return NULL;
}

static int set_coordinates(stage *s, int i, int first, bool is_end)
{
    const model *m = &s->models[i];
    double *q = calloc((size_t)m->q_count + 1, sizeof *q);
    if (!q)
        return fail("out of memory");
    to_model_order(m, (is_end ? s->to : s->from) + first, q);
    const char *joint = joint_without_rotation(m, q);
    hr_status status = joint    ? HR_ERR_ARGUMENT
                       : is_end ? ccd_body_move(s->bodies[i], q)
                                : ccd_body_place(s->bodies[i], q);
    free(q);
    if (status == HR_OK)
        return COMMAND_OK;
    const char *option = is_end ? "--to" : "--from";
    hr_error error = {{0}};
    if (joint)
        error_set(&error, status,
                  "%s: expected a quaternion w,x,y,z of length 1 for joint \"%s\" of %s", option,
                  joint, s->job->models[i]);
    else
        error_set(&error, status, "%s: expected coordinates within range for %s", option,
                  s->job->models[i]);
    return command_input_error(&error);
}

static int place_bodies(stage *s)
{
    int first = 0, code = COMMAND_OK;
    s->scene = ccd_scene_create(PAIR_ROOM, ITEM_ROOM);
    if (!s->scene)
        return fail("out of memory");
    for (int i = 0; i < s->job->model_count && code == COMMAND_OK; i++) {
        const model *m = &s->models[i];
        s->bodies[i] = ccd_body_create(m, ASSEMBLY_BALANCED, s->job->bases[i]);
        if (!s->bodies[i])
            return fail("%s: out of memory, or a coordinate that is not finite", s->job->models[i]);
        if (ccd_scene_add(s->scene, s->bodies[i]) != i)
            return fail("%s: too many links", s->job->models[i]);
        code = set_coordinates(s, i, first, false);
        if (code == COMMAND_OK)
            code = set_coordinates(s, i, first, true);
        first += m->q_count;
    }
    return code;
}

/* --- output ----------------------------------------------------------------------------------- */

static const char *link_name(const stage *s, int body, int link)
{
    const model *m = &s->models[body];
    if (!m->bodies || !m->links)
        return "";
    return m->links[m->bodies[link].link].name;
}

static json_t *point_json(vec3 p)
{
    return json_pack("[fff]", p.x, p.y, p.z);
}

static void print_json(const stage *s, const ccd_result *r)
{
    json_t *contacts = json_array();
    for (int i = 0; i < r->contact_count; i++) {
        const ccd_contact *c = &r->contacts[i];
        json_array_append_new(contacts,
                              json_pack("{s:[i,i], s:[s,s], s:s, s:[i,i], s:[o,o], s:o, s:f, s:b}",
                                        "models", c->body[0], c->body[1], "links",
                                        link_name(s, c->body[0], c->link[0]),
                                        link_name(s, c->body[1], c->link[1]), "feature",
                                        c->feature == TRIANGLE_EDGES      ? "edge-edge"
                                        : c->feature == TRIANGLE_A_VERTEX ? "vertex-face"
                                                                          : "face-vertex",
                                        "triangles", c->triangle[0], c->triangle[1], "points",
                                        point_json(c->point[0]), point_json(c->point[1]), "normal",
                                        point_json(c->normal), "distance", c->distance,
                                        "separating", c->is_separating));
    }
    json_t *out = json_pack(
        "{s:s, s:f, s:i, s:o, s:{s:I,s:I,s:I,s:I,s:I,s:I}}", "status", ccd_status_name(r->status),
        "toc", r->toc, "pairs", r->pair_count, "contacts", contacts, "counters", "node_updates",
        (json_int_t)r->counters.node_updates, "world_updates",
        (json_int_t)r->counters.world_updates, "box_tests", (json_int_t)r->counters.box_tests,
        "time_splits", (json_int_t)r->counters.time_splits, "feature_tests",
        (json_int_t)r->counters.feature_tests, "feature_nodes",
        (json_int_t)r->counters.feature_nodes);
    json_dumpf(out, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    printf("\n");
    json_decref(out);
}

static void print_lines(const stage *s, const ccd_result *r)
{
    printf("%s,%.17g\n", ccd_status_name(r->status), r->toc);
    for (int i = 0; i < r->contact_count; i++) {
        const ccd_contact *c = &r->contacts[i];
        printf("%s,%s,%.17g,%.17g,%.17g,%.17g\n", link_name(s, c->body[0], c->link[0]),
               link_name(s, c->body[1], c->link[1]), c->point[0].x, c->point[0].y, c->point[0].z,
               c->distance);
    }
}

static void release(stage *s)
{
    for (int i = 0; i < s->job->model_count; i++) {
        ccd_body_destroy(s->bodies[i]);
        model_free(&s->models[i]);
    }
    ccd_scene_destroy(s->scene);
    free(s->from);
    free(s->to);
}

int cmd_ccd_models(const ccd_models_job *job)
{
    stage s = {.job = job};
    ccd_limits limits = ccd_limits_default();
    ccd_result *result = calloc(1, sizeof *result);
    limits.tolerance = job->tolerance;
    limits.separation = job->separation;
    int code = result ? load_models(&s) : COMMAND_FAILED;
    if (code == COMMAND_OK)
        code = load_states(&s);
    if (code == COMMAND_OK)
        code = place_bodies(&s);
    if (code == COMMAND_OK && ccd_step(s.scene, &limits, result) != HR_OK)
        code = COMMAND_FAILED;
    if (code == COMMAND_OK && job->wants_json)
        print_json(&s, result);
    else if (code == COMMAND_OK)
        print_lines(&s, result);
    release(&s);
    free(result);
    return code;
}
