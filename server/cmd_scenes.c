/* `haptic scenes`: what there is to touch. */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "server/command.h"
#include "server/info.h"
#include "server/scene_index.h"
#include "server/scene_picture.h"

static const char usage[] =
    "usage: haptic scenes [NAME | FILE.scene | FOLDER] [--thumbnails FOLDER] [--json]\n"
    "\n"
    "Lists the shipped scenes, those of a folder, or one scene: what can be felt there, its\n"
    "bodies, joints, triangles and tool. 'hapticd --scene NAME' starts one.\n"
    "\n"
    "  -o, --thumbnails FOLDER   draw each scene as FOLDER/NAME.svg, and FOLDER/index.html\n"
    "  --json                    print an array of objects\n"
    "  --help                    this text\n";

typedef struct scenes_options {
    const char *what; /* NULL: the shipped ones */
    const char *thumbnails;
    bool wants_json;
} scenes_options;

/* --- which ------------------------------------------------------------------------------------ */

static int is_scene_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && info_has_ending(entry->d_name, ".scene");
}

/* Every scene of the folder whose name is not listed yet: a folder that is looked at first wins. */
static hr_status add_folder(scene_index *index, const char *folder, hr_error *error)
{
    struct dirent **names = NULL;
    int n = scandir(folder, &names, is_scene_file, alphasort);
    if (n < 0)
        return error_set(error, HR_ERR_NOT_FOUND, "%s: expected a folder that can be read: %s",
                         folder, strerror(errno));
    hr_status status = HR_OK;
    for (int i = 0; i < n; i++) {
        char path[CONFIG_PATH_MAX];
        int length = snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        if (status == HR_OK && length < (int)sizeof path)
            status = scene_index_add(index, path);
        free(names[i]);
    }
    free(names);
    return status == HR_OK ? HR_OK : error_set(error, status, "no memory for the list");
}

static bool is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static hr_status add_shipped(scene_index *index, hr_error *error)
{
    char folders[SCENE_FOLDERS_MAX][CONFIG_PATH_MAX];
    int count = scene_folders(folders, SCENE_FOLDERS_MAX);
    hr_status status = HR_OK;
    for (int i = 0; i < count && status == HR_OK; i++)
        if (is_folder(folders[i]))
            status = add_folder(index, folders[i], error);
    if (status == HR_OK && index->count == 0)
        status = error_set(error, HR_ERR_NOT_FOUND,
                           "expected shipped scenes beside the program or in HAPTICD_SCENES, found "
                           "none");
    return status;
}

static hr_status gather(const scenes_options *o, scene_index *index, hr_error *error)
{
    if (!o->what)
        return add_shipped(index, error);
    if (is_folder(o->what))
        return add_folder(index, o->what, error);
    char path[CONFIG_PATH_MAX];
    hr_status status = scene_find(o->what, path, sizeof path, error);
    if (status != HR_OK)
        return status;
    status = scene_index_add(index, path);
    return status == HR_OK ? HR_OK : error_set(error, status, "no memory for the list");
}

/* --- printing --------------------------------------------------------------------------------- */

static json_t *entry_object(const scene_entry *e)
{
    if (!e->is_good)
        return json_pack("{s:s, s:s, s:s}", "name", e->name, "file", e->path, "error",
                         e->error.text);
    json_t *kinds = json_object();
    for (int i = 0; i < SCENE_SHAPES; i++)
        if (e->survey.kinds[i] > 0)
            json_object_set_new(kinds, scene_shape_name((scene_shape)i),
                                json_integer(e->survey.kinds[i]));
    json_t *tool = e->tool_file[0] ? json_pack("{s:s, s:s}", "kind", "body", "file", e->tool_file)
                                   : json_pack("{s:s, s:f}", "kind",
                                               e->survey.tool_radius_m > 0 ? "sphere" : "point",
                                               "radius_m", e->survey.tool_radius_m);
    return json_pack("{s:s, s:s, s:s, s:o, s:i, s:i, s:i, s:i, s:o, s:b}", "name", e->name, "file",
                     e->path, "sentence", e->sentence, "bodies", kinds, "touchable_bodies",
                     e->survey.touchable, "joints", e->survey.joints, "degrees_of_freedom",
                     e->survey.degrees, "triangles", e->survey.triangles, "tool", tool,
                     "has_hand_script", e->has_script);
}

static void print_json(const scene_index *index)
{
    json_t *list = json_array();
    for (int i = 0; i < index->count; i++)
        json_array_append_new(list, entry_object(&index->entries[i]));
    json_dumpf(list, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    putchar('\n');
    json_decref(list);
}

static void print_text(const scene_index *index)
{
    int width = 8;
    for (int i = 0; i < index->count; i++) {
        int length = (int)strlen(index->entries[i].name);
        width = length > width ? length : width;
    }
    for (int i = 0; i < index->count; i++) {
        const scene_entry *e = &index->entries[i];
        char counts[256];
        scene_entry_describe(e, counts, sizeof counts);
        printf("%-*s  %s\n%*s  %s\n", width, e->name, e->is_good ? e->sentence : e->error.text,
               width, "", counts);
    }
}

/* --- pictures --------------------------------------------------------------------------------- */

static hr_status write_thumbnails(scene_index *index, const char *folder, hr_error *error)
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return error_set(error, HR_ERR_IO, "%s: expected a folder that can be made: %s", folder,
                         strerror(errno));
    for (int i = 0; i < index->count; i++) {
        scene_entry *e = &index->entries[i];
        char path[CONFIG_PATH_MAX];
        if (!e->is_good)
            continue;
        if (snprintf(path, sizeof path, "%s/%s.svg", folder, e->name) >= (int)sizeof path)
            return error_set(error, HR_ERR_ARGUMENT, "%s: expected a shorter path", folder);
        hr_status status = scene_entry_draw(e, path, error);
        if (status != HR_OK)
            return status;
    }
    return scene_index_write_html(index, folder, error);
}

static bool read_options(int argc, char **argv, scenes_options *o, int *code)
{
    static const struct option names[] = {{"thumbnails", required_argument, NULL, 'o'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int letter;
    opterr = 0;
    *o = (scenes_options){0};
    while ((letter = getopt_long(argc, argv, "o:", names, NULL)) != -1) {
        if (letter == 'h') {
            fputs(usage, stdout);
            *code = COMMAND_OK;
            return false;
        }
        if (letter == 'o') {
            o->thumbnails = optarg;
        } else if (letter == 'j') {
            o->wants_json = true;
        } else {
            *code = command_usage_error("scenes", "unknown or incomplete option \"%s\"",
                                        argv[optind - 1]);
            return false;
        }
    }
    if (argc - optind > 1) {
        *code = command_usage_error("scenes", "expected at most one scene or folder, found %d",
                                    argc - optind);
        return false;
    }
    o->what = optind < argc ? argv[optind] : NULL;
    return true;
}

int cmd_scenes(int argc, char **argv)
{
    scenes_options o;
    int code;
    if (!read_options(argc, argv, &o, &code))
        return code;
    scene_index index = {0};
    hr_error error = {""};
    hr_status status = gather(&o, &index, &error);
    if (status == HR_OK && o.thumbnails)
        status = write_thumbnails(&index, o.thumbnails, &error);
    bool is_good = true;
    for (int i = 0; i < index.count; i++)
        is_good = is_good && index.entries[i].is_good;
    if (status == HR_OK && o.wants_json)
        print_json(&index);
    else if (status == HR_OK)
        print_text(&index);
    scene_index_clear(&index);
    if (status == HR_ERR_IO) {
        fprintf(stderr, "%s\n", error.text);
        return COMMAND_FAILED;
    }
    if (status != HR_OK)
        return command_input_error(&error);
    return is_good ? COMMAND_OK : COMMAND_BAD_INPUT;
}
