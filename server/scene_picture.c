#include "server/scene_picture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/actor.h"
#include "server/skin.h"
#include "server/svg_items.h"

struct scene_skins {
    int count;
    double size; /* m */
    skin *skins;
    space_color *colors;
    bool *is_ground;
};

/* Matte colours that keep apart when printed in grey: wood, slate, sage, clay, sand, plum. */
static const space_color palette[] = {{0.83, 0.63, 0.40}, {0.49, 0.63, 0.76}, {0.58, 0.71, 0.53},
                                      {0.80, 0.49, 0.40}, {0.88, 0.79, 0.55}, {0.66, 0.55, 0.74}};
static const space_color ground = {0.945, 0.95, 0.96};
static const space_color tint = {0.98, 0.55, 0.20};

typedef struct box {
    vec3 low, high;
} box;

static void include(box *b, vec3 p)
{
    b->low = (vec3){fmin(b->low.x, p.x), fmin(b->low.y, p.y), fmin(b->low.z, p.z)};
    b->high = (vec3){fmax(b->high.x, p.x), fmax(b->high.y, p.y), fmax(b->high.z, p.z)};
}

/* Around the bounding spheres of everything that ends; 80 mm, a workspace, where nothing does. */
static box find_box(const world *w)
{
    box b = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
    for (int i = 0; i < world_body_count(w); i++) {
        actor_body body;
        world_body(w, i, &body);
        if (!isfinite(body.radius))
            continue;
        vec3 at = body.world_from_body.origin;
        vec3 reach = {body.radius, body.radius, body.radius};
        include(&b, vec3_sub(at, reach));
        include(&b, vec3_add(at, reach));
    }
    if (!(b.low.x <= b.high.x))
        b = (box){{-0.025, -0.025, -0.01}, {0.025, 0.025, 0.01}};
    return b;
}

/* One colour for each body of the scene; the links of a mechanism differ a little. */
static space_color color_of(const world *w, int index)
{
    int owner = 0, link = 0;
    for (int i = 1; i <= index; i++) {
        bool is_same = strcmp(world_body_name(w, i), world_body_name(w, i - 1)) == 0;
        owner += !is_same;
        link = is_same ? link + 1 : 0;
    }
    space_color c = palette[owner % HR_COUNT(palette)];
    double shade = link % 2 ? 0.90 : 1;
    return (space_color){c.r * shade, c.g * shade, c.b * shade};
}

static hr_status make_skin(scene_skins *s, const world *w, int i, int detail, const box *b)
{
    int count;
    const shape *shapes = world_shapes(w, &count);
    actor_body body;
    world_body(w, i, &body);
    s->is_ground[i] = shapes[i].kind == SHAPE_PLANE;
    s->colors[i] = s->is_ground[i] ? ground : color_of(w, i);
    /* a small body between large ones is still round */
    double size = s->size / detail;
    if (isfinite(body.radius))
        size = fmin(size, 0.3 * body.radius);
    vec3 middle = vec3_scale(0.5, vec3_add(b->low, b->high));
    return skin_make(&shapes[i], size, pose_apply_inverse(body.world_from_body, middle),
                     0.62 * s->size, &s->skins[i]);
}

scene_skins *scene_skins_make(const world *w, int detail)
{
    scene_skins *s = calloc(1, sizeof *s);
    size_t n = (size_t)world_body_count(w);
    if (!s)
        return NULL;
    box b = find_box(w);
    s->count = world_body_count(w);
    s->size = vec3_distance(b.low, b.high);
    s->skins = calloc(n + 1, sizeof *s->skins);
    s->colors = calloc(n + 1, sizeof *s->colors);
    s->is_ground = calloc(n + 1, sizeof *s->is_ground);
    hr_status status = s->skins && s->colors && s->is_ground ? HR_OK : HR_ERR_MEMORY;
    for (int i = 0; i < s->count && status == HR_OK; i++)
        status = make_skin(s, w, i, detail, &b);
    if (status == HR_OK)
        return s;
    scene_skins_destroy(s);
    return NULL;
}

void scene_skins_destroy(scene_skins *s)
{
    if (!s)
        return;
    for (int i = 0; i < s->count && s->skins; i++)
        skin_free(&s->skins[i]);
    free(s->skins);
    free(s->colors);
    free(s->is_ground);
    free(s);
}

double scene_skins_size(const scene_skins *s)
{
    return s->size;
}

static space_color mixed(space_color a, space_color b, double part)
{
    return (space_color){a.r + part * (b.r - a.r), a.g + part * (b.g - a.g),
                         a.b + part * (b.b - a.b)};
}

void scene_skins_add(const scene_skins *s, const pose *poses, uint32_t touched, space *out)
{
    for (int i = 0; i < s->count; i++) {
        bool is_touched = touched == (uint32_t)i + 1 && !s->is_ground[i];
        space_color color = is_touched ? mixed(s->colors[i], tint, 0.4) : s->colors[i];
        for (int k = 0; k < s->skins[i].count; k++) {
            const skin_piece *p = &s->skins[i].pieces[k];
            vec3 corners[4] = {{0}};
            for (int c = 0; c < p->count; c++)
                corners[c] = pose_apply(poses[i], p->corners[c]);
            space_add_piece(out, corners, p->count, pose_rotate(poses[i], p->normal),
                            (space_paint){color, i, s->is_ground[i]});
        }
    }
}

static void put_picture(const space *s, const char *title, FILE *out)
{
    space_view view = space_view_from(28, 20);
    space_window w = {.width = 320, .height = 240};
    space_fit(&s, 1, &view, 18, &w);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" width=\"%g\" "
            "height=\"%g\">\n<title>",
            w.width, w.height, w.width, w.height);
    svg_put_text(out, title);
    fputs("</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n", out);
    space_write(s, &view, &w, out);
    fputs("</svg>\n", out);
}

hr_status scene_picture_write(const world *w, const char *title, const char *path, hr_error *error)
{
    scene_skins *skins = scene_skins_make(w, 64);
    space *s = space_create();
    pose *poses = calloc((size_t)world_body_count(w) + 1, sizeof *poses);
    FILE *out = NULL;
    hr_status status = skins && s && poses ? HR_OK : HR_ERR_MEMORY;
    for (int i = 0; i < world_body_count(w) && status == HR_OK; i++) {
        actor_body body;
        world_body(w, i, &body);
        poses[i] = body.world_from_body;
    }
    if (status == HR_OK)
        scene_skins_add(skins, poses, 0, s);
    if (space_has_failed(s))
        status = error_set(error, HR_ERR_MEMORY, "%s: no memory for the picture", path);
    if (status == HR_OK) {
        out = fopen(path, "we");
        if (out)
            put_picture(s, title, out);
        if (!out || ferror(out))
            status = error_set(error, HR_ERR_IO, "%s: expected a file that can be written: %s",
                               path, strerror(errno));
    }
    if (out && fclose(out) != 0 && status == HR_OK)
        status = error_set(error, HR_ERR_IO, "%s: cannot write: %s", path, strerror(errno));
    free(poses);
    space_destroy(s);
    scene_skins_destroy(skins);
    return status;
}
