/* Builds the hands of a recording again from its attachments. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/replay.h"
#include "server/trace_hash.h"

static hr_status load_settings(const trace_reader *r, replay_stage *s, hr_error *error)
{
    const char *text = trace_attached(r, TRACE_CONFIG, NULL);
    if (!text)
        return error_set(error, HR_ERR_FORMAT, "expected the recording to hold its configuration");
    s->hand_count = trace_hand_count(r);
    hr_status status = config_parse(text, TRACE_CONFIG, &s->settings, error);
    if (status == HR_OK && s->hand_count == 0)
        status = error_set(error, HR_ERR_FORMAT, "expected the recording to say how many hands");
    for (int i = 0; i < s->hand_count && status == HR_OK; i++) {
        status = trace_device(r, i, &s->devices[i]);
        if (status != HR_OK)
            error_set(error, status, "expected the recording to describe the device of hand %d", i);
    }
    return status;
}

/* The attached file into the folder for such files, with its own ending; *path then names it. */
static hr_status unpack(replay_stage *s, int number, const char *data, size_t size, char *path,
                        hr_error *error)
{
    if (!s->folder[0]) {
        snprintf(s->folder, sizeof s->folder, "/tmp/haptic-replay-XXXXXX");
        if (!mkdtemp(s->folder)) {
            s->folder[0] = '\0';
            return error_set(error, HR_ERR_IO, "cannot make a folder in /tmp: %s", strerror(errno));
        }
    }
    const char *base = strrchr(path, '/');
    char name[CONFIG_PATH_MAX];
    snprintf(name, sizeof name, "%s/%d-%.200s", s->folder, number, base ? base + 1 : path);
    FILE *f = fopen(name, "wbe");
    bool is_written = f && fwrite(data, 1, size, f) == size;
    if (f && fclose(f) != 0)
        is_written = false;
    if (!is_written)
        return error_set(error, HR_ERR_IO, "%s: could not be written", name);
    snprintf(path, CONFIG_PATH_MAX, "%s", name);
    return HR_OK;
}

/* A file that is still there and unchanged is used where it is, so that what it refers to is found;
 * otherwise the attached copy is. */
static hr_status find_file(const trace_reader *r, replay_stage *s, int number, hr_error *error)
{
    char *path = s->scene.bodies[number].file;
    char name[CONFIG_PATH_MAX + 8];
    snprintf(name, sizeof name, "%s%s", TRACE_FILE, path);
    const char *hash = trace_value(r, TRACE_HASHES, name);
    if (hash && strcmp(trace_hash_file(path).text, hash) == 0)
        return HR_OK;
    size_t size = 0;
    const char *data = trace_attached(r, name, &size);
    if (data)
        return unpack(s, number, data, size, path, error);
    return hash ? error_set(error, HR_ERR_NOT_FOUND,
                            "%s: expected the file that was recorded with, found another", path)
                : HR_OK;
}

static hr_status load_scene(const trace_reader *r, const char *name, replay_stage *s,
                            hr_error *error)
{
    if (name) {
        char path[CONFIG_PATH_MAX];
        hr_status status = scene_find(name, path, sizeof path, error);
        if (status == HR_OK)
            status = scene_load(path, &s->scene, error);
        if (status == HR_OK && s->scene.tool_radius_m >= 0)
            s->settings.coupling.tool_radius_m = s->scene.tool_radius_m;
        return status;
    }
    const char *text = trace_attached(r, TRACE_SCENE, NULL);
    const char *path = trace_value(r, TRACE_RUN, "scene_path");
    if (!text)
        return error_set(error, HR_ERR_FORMAT, "expected the recording to hold its scene");
    hr_status status = scene_parse(text, path ? path : "scene", &s->scene, error);
    for (int i = 0; status == HR_OK && i < s->scene.body_count; i++)
        if (scene_body_has_file(&s->scene.bodies[i]))
            status = find_file(r, s, i, error);
    return status;
}

static hr_status make_hands(replay_stage *s, hr_error *error)
{
    hr_status status = world_create(&s->scene, &s->settings, &s->world, error);
    if (status != HR_OK)
        return status;
    int count = 0;
    const shape *shapes = world_shapes(s->world, &count);
    for (int i = 0; i < s->hand_count; i++) {
        s->hands[i] = hand_create(&s->settings, i, &s->devices[i], shapes, count);
        if (!s->hands[i])
            return error_set(error, HR_ERR_MEMORY, "no memory for a hand");
    }
    return HR_OK;
}

replay_stage *replay_build(const trace_reader *r, const char *scene_name, hr_error *error)
{
    replay_stage *s = calloc(1, sizeof *s);
    if (!s) {
        error_set(error, HR_ERR_MEMORY, "no memory for a replay");
        return NULL;
    }
    hr_status status = load_settings(r, s, error);
    if (status == HR_OK)
        status = load_scene(r, scene_name, s, error);
    if (status == HR_OK)
        status = make_hands(s, error);
    if (status == HR_OK)
        return s;
    replay_clear(s);
    return NULL;
}

/* Only what find_file put there. */
static void remove_folder(const replay_stage *s)
{
    size_t length = strlen(s->folder);
    for (int i = 0; i < s->scene.body_count; i++)
        if (strncmp(s->scene.bodies[i].file, s->folder, length) == 0)
            unlink(s->scene.bodies[i].file);
    rmdir(s->folder);
}

void replay_clear(replay_stage *s)
{
    if (!s)
        return;
    for (int i = 0; i < HANDS_MAX; i++)
        hand_destroy(s->hands[i]);
    world_destroy(s->world);
    if (s->folder[0])
        remove_folder(s);
    free(s);
}
