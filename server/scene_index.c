#include "server/scene_index.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/scene_picture.h"
#include "server/svg_items.h"

/* The scene and its world, as the server would build them from the default settings. */
static hr_status build(const char *path, scene *s, config *settings, world **w, hr_error *error)
{
    config_default(settings);
    hr_status status = scene_load(path, s, error);
    return status == HR_OK ? world_create(s, settings, w, error) : status;
}

static void name_entry(scene_entry *e, const char *path)
{
    const char *slash = strrchr(path, '/');
    snprintf(e->path, sizeof e->path, "%s", path);
    snprintf(e->name, sizeof e->name, "%s", slash ? slash + 1 : path);
    char *ending = strrchr(e->name, '.');
    if (ending && ending != e->name)
        *ending = '\0';
}

static hr_status look_at(scene_entry *e)
{
    scene *s = calloc(1, sizeof *s);
    config *settings = calloc(1, sizeof *settings);
    world *w = NULL;
    hr_status status = s && settings ? HR_OK : HR_ERR_MEMORY;
    if (status == HR_OK) {
        hr_status built = build(e->path, s, settings, &w, &e->error);
        if (built == HR_OK)
            built = scene_survey_make(s, settings, w, &e->survey, &e->error);
        e->is_good = built == HR_OK;
    }
    if (s && e->is_good) {
        memcpy(e->sentence, s->sentence, sizeof e->sentence);
        memcpy(e->tool_file, s->tool_file, sizeof e->tool_file);
        e->has_script = s->hand_script[0] != '\0';
    }
    world_destroy(w);
    free(settings);
    free(s);
    return status;
}

hr_status scene_index_add(scene_index *index, const char *path)
{
    scene_entry made = {.is_good = false};
    name_entry(&made, path);
    for (int i = 0; i < index->count; i++)
        if (strcmp(index->entries[i].name, made.name) == 0)
            return HR_OK;
    if (index->count == index->room) {
        int room = index->room ? 2 * index->room : 32;
        scene_entry *more = realloc(index->entries, (size_t)room * sizeof *more);
        if (!more)
            return HR_ERR_MEMORY;
        index->entries = more;
        index->room = room;
    }
    hr_status status = look_at(&made);
    if (status == HR_OK)
        index->entries[index->count++] = made;
    return status;
}

void scene_index_clear(scene_index *index)
{
    free(index->entries);
    *index = (scene_index){0};
}

/* --- in words --------------------------------------------------------------------------------- */

/* Appends to a text that is cut off, never overrun. */
static void say(char *out, size_t size, const char *format, ...) HR_PRINTF(3, 4);
static void say(char *out, size_t size, const char *format, ...)
{
    size_t used = strlen(out);
    va_list values;
    va_start(values, format);
    if (used + 1 < size)
        vsnprintf(out + used, size - used, format, values);
    va_end(values);
}

/* "1 sphere", "2 boxes", "3 parametric bodies". */
static void say_count(char *out, size_t size, int count, const char *one, const char *many)
{
    if (count > 0)
        say(out, size, "%s%d %s", out[0] ? ", " : "", count, count == 1 ? one : many);
}

void scene_entry_describe(const scene_entry *e, char *out, size_t size)
{
    static const char *const words[SCENE_SHAPES][2] = {
        [SCENE_PLANE] = {"plane", "planes"},
        [SCENE_SPHERE] = {"sphere", "spheres"},
        [SCENE_ELLIPSOID] = {"ellipsoid", "ellipsoids"},
        [SCENE_CAPSULE] = {"capsule", "capsules"},
        [SCENE_BOX] = {"box", "boxes"},
        [SCENE_BODY] = {"parametric body", "parametric bodies"},
        [SCENE_MESH] = {"mesh", "meshes"},
        [SCENE_ARTICULATED] = {"mechanism", "mechanisms"},
        [SCENE_CABLE] = {"cable", "cables"},
    };
    const scene_survey *v = &e->survey;
    out[0] = '\0';
    if (!e->is_good) {
        say(out, size, "cannot be used");
        return;
    }
    for (int i = 0; i < SCENE_SHAPES; i++)
        say_count(out, size, v->kinds[i], words[i][0], words[i][1]);
    say_count(out, size, v->joints, "joint", "joints");
    if (v->triangles > 0)
        say_count(out, size, v->triangles, "triangle", "triangles");
    const char *slash = strrchr(e->tool_file, '/');
    if (e->tool_file[0])
        say(out, size, "; the tool is %s", slash ? slash + 1 : e->tool_file);
    else if (v->tool_radius_m > 0)
        say(out, size, "; tool of %g mm radius", 1e3 * v->tool_radius_m);
    else
        say(out, size, "; point tool");
    if (!e->has_script)
        say(out, size, "; no hand script");
}

/* --- in pictures ------------------------------------------------------------------------------ */

hr_status scene_entry_draw(const scene_entry *e, const char *path, hr_error *error)
{
    scene *s = calloc(1, sizeof *s);
    config *settings = calloc(1, sizeof *settings);
    world *w = NULL;
    hr_status status = s && settings ? build(e->path, s, settings, &w, error)
                                     : error_set(error, HR_ERR_MEMORY, "%s: no memory", e->path);
    if (status == HR_OK)
        status = scene_picture_write(w, e->name, path, error);
    world_destroy(w);
    free(settings);
    free(s);
    return status;
}

static void put_entry(FILE *out, const scene_entry *e)
{
    char counts[256];
    scene_entry_describe(e, counts, sizeof counts);
    fputs("<figure>", out);
    if (e->is_good)
        fprintf(out, "<img src=\"%s.svg\" alt=\"\" width=\"320\" height=\"240\">", e->name);
    fputs("<figcaption><b>", out);
    svg_put_text(out, e->name);
    fputs("</b><p>", out);
    svg_put_text(out, e->is_good ? e->sentence : e->error.text);
    fputs("</p><small>", out);
    svg_put_text(out, counts);
    fputs("</small></figcaption></figure>\n", out);
}

hr_status scene_index_write_html(const scene_index *index, const char *folder, hr_error *error)
{
    char path[CONFIG_PATH_MAX];
    if (snprintf(path, sizeof path, "%s/index.html", folder) >= (int)sizeof path)
        return error_set(error, HR_ERR_ARGUMENT, "%s: expected a shorter path", folder);
    FILE *out = fopen(path, "we");
    if (!out)
        return error_set(error, HR_ERR_IO, "%s: expected a file that can be written: %s", path,
                         strerror(errno));
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Scenes</title>\n"
          "<style>body{font:15px/1.4 sans-serif;margin:2em auto;max-width:1120px;color:#222}"
          "main{display:grid;grid-template-columns:repeat(auto-fill,minmax(330px,1fr));gap:20px}"
          "figure{margin:0;border:1px solid #ddd;border-radius:6px;padding:10px}"
          "p{margin:.3em 0}small{color:#666}img{max-width:100%}</style>\n"
          "<h1>Scenes</h1><p>Start one with <code>hapticd --scene NAME</code>.</p><main>\n",
          out);
    for (int i = 0; i < index->count; i++)
        put_entry(out, &index->entries[i]);
    fputs("</main></html>\n", out);
    bool is_bad = ferror(out) != 0;
    if (fclose(out) != 0 || is_bad)
        return error_set(error, HR_ERR_IO, "%s: cannot write: %s", path, strerror(errno));
    return HR_OK;
}
