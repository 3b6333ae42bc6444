/* `haptic info` of a URDF model: its links, joints and masses, and the assembly tree. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collide/assembly_tree.h"
#include "geometry/urdf.h"
#include "server/command.h"
#include "server/info.h"

bool info_urdf_accepts(const char *path, const char *head, size_t size)
{
    (void)size;
    return info_has_ending(path, ".urdf") || strstr(head, "<robot") != NULL;
}

typedef struct summary {
    model model;
    int movable, handles, height;
    long triangles, visual, collision; /* of the mesh files, each once; of all shapes */
    double mass;
} summary;

static void print_warning(void *context, const char *text)
{
    (void)context;
    fprintf(stderr, "warning: %s\n", text);
}

static long count_triangles(const model *m, const model_shape *shapes, int count, int link)
{
    long sum = 0;
    for (int i = 0; i < count; i++)
        if (link < 0 || shapes[i].link == link)
            sum += m->meshes[shapes[i].mesh].triangle_count;
    return sum;
}

/* Every mesh file once, however many links show it. */
static long file_triangles(const model *m)
{
    bool *is_file = calloc((size_t)m->mesh_count + 1, sizeof *is_file);
    long sum = 0;
    for (int i = 0; is_file && i < m->visual_count + m->collision_count; i++) {
        const model_shape *s =
            i < m->visual_count ? &m->visuals[i] : &m->collisions[i - m->visual_count];
        if (m->mesh_is_solid[s->mesh] || is_file[s->mesh])
            continue;
        is_file[s->mesh] = true;
        sum += m->meshes[s->mesh].triangle_count;
    }
    free(is_file);
    return sum;
}

static long link_triangles(const model *m, int link)
{
    return m->collision_count > 0 ? count_triangles(m, m->collisions, m->collision_count, link)
                                  : count_triangles(m, m->visuals, m->visual_count, link);
}

static hr_status read_summary(const char *path, summary *s, hr_error *error)
{
    urdf_options how = {.meshes = URDF_LOAD_MESHES, .warn = print_warning};
    hr_status status = urdf_load(path, how, &s->model, error);
    if (status != HR_OK)
        return status;
    assembly_tree tree;
    status = assembly_tree_build(&s->model, (assembly_options){0}, &tree);
    if (status != HR_OK) {
        model_free(&s->model);
        return error_set(error, status, "%s: out of memory", path);
    }
    s->height = tree.height;
    for (int n = 0; n < tree.node_count; n++) {
        int handles = (tree.nodes[n].handle[0] >= 0) + (tree.nodes[n].handle[1] >= 0);
        s->handles = handles > s->handles ? handles : s->handles;
    }
    assembly_tree_free(&tree);
    for (int i = 0; i < s->model.link_count; i++) {
        s->mass += s->model.links[i].mass;
        s->movable += joint_v_count(s->model.joints[i].type) > 0;
    }
    s->triangles = file_triangles(&s->model);
    s->visual = count_triangles(&s->model, s->model.visuals, s->model.visual_count, -1);
    s->collision = count_triangles(&s->model, s->model.collisions, s->model.collision_count, -1);
    return HR_OK;
}

static int depth_of(const model *m, int link)
{
    int depth = 0;
    for (; m->links[link].parent >= 0 && depth < 24; link = m->links[link].parent)
        depth++;
    return depth;
}

static void print_text(const char *path, const summary *s)
{
    const model *m = &s->model;
    printf("%s: URDF model \"%s\"\n", path, m->name);
    printf("  links       %d (%d bodies that move)\n", m->link_count, m->body_count - 1);
    printf("  joints      %d movable, %d coordinates, %d degrees of freedom\n", s->movable,
           m->q_count, m->v_count);
    printf("  mass        %.6g kg\n", s->mass);
    printf("  tree height %d, at most %d handles\n", s->height, s->handles);
    printf("  triangles   %ld in mesh files; shapes: visual %ld, collision %ld\n\n", s->triangles,
           s->visual, s->collision);
    for (int i = 0; i < m->link_count; i++) {
        const model_joint *joint = &m->joints[i];
        printf("  %*s%s", 2 * depth_of(m, i), "", m->links[i].name);
        if (i > 0)
            printf("  [%s %s]", joint_type_name(joint->type), joint->name);
        printf("  %.6g kg", m->links[i].mass);
        long triangles = link_triangles(m, i);
        if (triangles > 0)
            printf("  %ld triangles", triangles);
        if (i > 0 && joint->mimic >= 0)
            printf("  mimics %s", m->joints[joint->mimic].name);
        putchar('\n');
    }
}

static json_t *link_object(const model *m, int i)
{
    const model_joint *joint = &m->joints[i];
    json_t *link = json_pack("{s:s, s:f, s:I}", "name", m->links[i].name, "mass_kg",
                             m->links[i].mass, "triangles", (json_int_t)link_triangles(m, i));
    if (link && i > 0)
        json_object_update_new(link, json_pack("{s:s, s:s, s:s}", "parent",
                                               m->links[m->links[i].parent].name, "joint",
                                               joint->name, "type", joint_type_name(joint->type)));
    return link;
}

static int print_json(const summary *s)
{
    const model *m = &s->model;
    json_t *links = json_array();
    for (int i = 0; i < m->link_count; i++)
        json_array_append_new(links, link_object(m, i));
    json_t *all = json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:f, s:i, s:I, s:I, s:I, s:o}", "kind",
                            "urdf", "name", m->name, "links", m->link_count, "bodies",
                            m->body_count, "movable_joints", s->movable, "degrees_of_freedom",
                            m->v_count, "mass_kg", s->mass, "tree_height", s->height, "triangles",
                            (json_int_t)s->triangles, "visual_triangles", (json_int_t)s->visual,
                            "collision_triangles", (json_int_t)s->collision, "tree", links);
    if (!all) {
        fprintf(stderr, "haptic info: expected names in UTF-8\n");
        return COMMAND_FAILED;
    }
    json_dumpf(all, stdout, JSON_INDENT(1));
    putchar('\n');
    json_decref(all);
    return COMMAND_OK;
}

int info_urdf_print(const char *path, bool wants_json)
{
    summary s = {0};
    hr_error error = {""};
    if (read_summary(path, &s, &error) != HR_OK)
        return command_input_error(&error);
    int code = COMMAND_OK;
    if (wants_json)
        code = print_json(&s);
    else
        print_text(path, &s);
    model_free(&s.model);
    return code;
}
