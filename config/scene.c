#include "config/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/fields.h"

/* Words in the order of scene_shape. */
static const char *const shape_words[] = {"plane", "sphere", "ellipsoid",   "capsule", "box",
                                          "body",  "mesh",   "articulated", "cable",   NULL};

/* A body as the file writes it: places as vectors, before they become poses. */
typedef struct body_text {
    scene_body body;
    int shape;
    vec3 position, rotation;
    bool is_free;
} body_text;

typedef struct key_text {
    double time_s;
    vec3 position, rotation;
} key_text;

static const field root_fields[] = {
    {"name", FIELD_TEXT, offsetof(scene, name), 0, 0, SCENE_NAME_MAX, NULL},
    {"sentence", FIELD_TEXT, offsetof(scene, sentence), 0, 0, 160, NULL},
    {"gravity_m_per_s2", FIELD_VECTOR, offsetof(scene, gravity), -100, 100, 0, NULL},
    {"tool_radius_m", FIELD_NUMBER, offsetof(scene, tool_radius_m), 0, 0.05, 0, NULL},
    {"tool_file", FIELD_TEXT, offsetof(scene, tool_file), 0, 0, CONFIG_PATH_MAX, NULL},
    {"tool_scale", FIELD_NUMBER, offsetof(scene, tool_scale), 1e-6, 1e6, 0, NULL},
};
static const field hand_fields[] = {
    {"script", FIELD_TEXT, offsetof(scene, hand_script), 0, 0, SCENE_TEXT_MAX, NULL},
};
static const field body_fields[] = {
    {"shape", FIELD_WORD, offsetof(body_text, shape), 0, 0, 0, shape_words},
    {"file", FIELD_TEXT, offsetof(body_text, body.file), 0, 0, CONFIG_PATH_MAX, NULL},
    {"scale", FIELD_NUMBER, offsetof(body_text, body.scale), 1e-6, 1e6, 0, NULL},
    {"radius_m", FIELD_NUMBER, offsetof(body_text, body.radius_m), 1e-5, 10, 0, NULL},
    {"half_length_m", FIELD_NUMBER, offsetof(body_text, body.half_length_m), 0, 10, 0, NULL},
    {"half_size_m", FIELD_VECTOR, offsetof(body_text, body.half_size_m), 1e-5, 10, 0, NULL},
    {"position_m", FIELD_VECTOR, offsetof(body_text, position), -100, 100, 0, NULL},
    {"rotation_rad", FIELD_VECTOR, offsetof(body_text, rotation), -10, 10, 0, NULL},
    {"free", FIELD_BOOL, offsetof(body_text, is_free), 0, 0, 0, NULL},
    {"mass_kg", FIELD_NUMBER, offsetof(body_text, body.mass_kg), 1e-6, 1e4, 0, NULL},
    {"active_joints", FIELD_INTEGER, offsetof(body_text, body.active_joints), 0, 10000, 0, NULL},
};
static const field material_fields[] = {
    {"stiffness_n_per_m", FIELD_NUMBER, offsetof(scene_material, stiffness_n_per_m), 0, 20000, 0,
     NULL},
    {"damping_n_s_per_m", FIELD_NUMBER, offsetof(scene_material, damping_n_s_per_m), 0, 100, 0,
     NULL},
    {"static_friction", FIELD_NUMBER, offsetof(scene_material, static_friction), 0, 5, 0, NULL},
    {"kinetic_friction", FIELD_NUMBER, offsetof(scene_material, kinetic_friction), 0, 5, 0, NULL},
};
static const field oscillate_fields[] = {
    {"amplitude_m", FIELD_VECTOR, offsetof(scene_body, amplitude_m), -10, 10, 0, NULL},
    {"turn_rad", FIELD_VECTOR, offsetof(scene_body, turn_rad), -10, 10, 0, NULL},
    {"frequency_hz", FIELD_NUMBER, offsetof(scene_body, frequency_hz), 0, 50, 0, NULL},
};
static const field key_fields[] = {
    {"time_s", FIELD_NUMBER, offsetof(key_text, time_s), 0, 1e5, 0, NULL},
    {"position_m", FIELD_VECTOR, offsetof(key_text, position), -100, 100, 0, NULL},
    {"rotation_rad", FIELD_VECTOR, offsetof(key_text, rotation), -10, 10, 0, NULL},
};

static const field_table root_table = {"root", root_fields, HR_COUNT(root_fields)};
static const field_table hand_table = {"hand", hand_fields, HR_COUNT(hand_fields)};
static const field_table body_table = {"body", body_fields, HR_COUNT(body_fields)};
static const field_table material_table = {"material", material_fields, HR_COUNT(material_fields)};
static const field_table oscillate_table = {"oscillate", oscillate_fields,
                                            HR_COUNT(oscillate_fields)};
static const field_table key_table = {"key", key_fields, HR_COUNT(key_fields)};
static const field_table *const tables[] = {
    &root_table, &hand_table, &body_table, &material_table, &oscillate_table, &key_table, NULL};

const char *scene_shape_name(scene_shape shape)
{
    return shape_words[shape];
}

/* "name:line: body "x": ..." */
static hr_status refuse(const scene *s, const scene_body *body, hr_error *error, const char *what)
{
    return error_set(error, HR_ERR_FORMAT, "%s:%d: body \"%s\": %s", s->file, body->line,
                     body->name, what);
}

static hr_status read_keys(const scene *s, cfg_t *section, scene_body *body, hr_error *error)
{
    unsigned count = cfg_size(section, "key");
    if (count == 1)
        return refuse(s, body, error, "expected at least two keys, found one");
    if (count > SCENE_KEYS_MAX)
        return refuse(s, body, error, "expected at most 16 keys, found more");
    for (unsigned i = 0; i < count; i++) {
        key_text key = {0};
        fields_read(&key_table, cfg_getnsec(section, "key", i), &key);
        if (i > 0 && key.time_s <= body->keys[i - 1].time_s)
            return refuse(s, body, error,
                          "expected keys with rising time_s, found one that is not "
                          "later than the key before");
        body->keys[i] =
            (scene_key){key.time_s, {quat_from_rotation_vector(key.rotation), key.position}};
    }
    if (count > 0 && body->keys[0].time_s != 0)
        return refuse(s, body, error, "expected the first key at time_s = 0");
    body->key_count = (int)count;
    return HR_OK;
}

/* Each shape needs its own measures. */
static const char *missing_measure(const scene_body *b)
{
    switch (b->shape) {
    case SCENE_SPHERE:
    case SCENE_CAPSULE:
        return b->radius_m > 0 ? NULL : "expected radius_m for this shape, found none";
    case SCENE_ELLIPSOID:
    case SCENE_BOX:
        return b->half_size_m.x > 0 ? NULL : "expected half_size_m for this shape, found none";
    case SCENE_BODY:
    case SCENE_MESH:
    case SCENE_ARTICULATED:
    case SCENE_CABLE:
        return b->file[0] ? NULL : "expected file for this shape, found none";
    default:
        return NULL;
    }
}

static hr_status check_body(const scene *s, const scene_body *b, cfg_t *section, hr_error *error)
{
    if (!fields_states(section, "shape"))
        return refuse(s, b, error, "expected shape = ..., found none");
    const char *missing = missing_measure(b);
    if (missing)
        return refuse(s, b, error, missing);
    if (b->material.kinetic_friction > b->material.static_friction)
        return refuse(s, b, error, "expected kinetic_friction at most static_friction");
    int motions =
        (b->key_count > 0) + (cfg_size(section, "oscillate") > 0) + (b->motion == SCENE_FREE);
    if (motions > 1)
        return refuse(s, b, error, "expected one of keys, oscillate and free, found several");
    if (b->shape == SCENE_PLANE && b->motion == SCENE_FREE)
        return refuse(s, b, error, "expected a plane to be fixed or scripted, found free");
    if (b->motion == SCENE_FREE && b->shape != SCENE_ARTICULATED && b->mass_kg <= 0)
        return refuse(s, b, error, "expected mass_kg for a free body, found none");
    return HR_OK;
}

bool scene_body_has_file(const scene_body *body)
{
    bool is_made =
        (body->shape == SCENE_ARTICULATED || body->shape == SCENE_MESH) && !strchr(body->file, '.');
    return body->file[0] && body->shape != SCENE_CABLE && !is_made;
}

/* Files are looked up beside the scene file. False when the path gets too long. */
static bool resolve_path(const scene *s, char file[CONFIG_PATH_MAX])
{
    const char *slash = strrchr(s->file, '/');
    if (!file[0] || file[0] == '/' || !slash)
        return true;
    char joined[2 * CONFIG_PATH_MAX];
    int length = snprintf(joined, sizeof(joined), "%.*s/%s", (int)(slash - s->file), s->file, file);
    if (length >= CONFIG_PATH_MAX)
        return false;
    memcpy(file, joined, (size_t)length + 1);
    return true;
}

static hr_status resolve_file(const scene *s, scene_body *b, hr_error *error)
{
    if (!scene_body_has_file(b) || resolve_path(s, b->file))
        return HR_OK;
    return refuse(s, b, error, "expected a shorter path");
}

static hr_status read_body(cfg_t *section, scene *s, int line, hr_error *error)
{
    scene_body *body = &s->bodies[s->body_count];
    body_text written = {0};
    const char *title = cfg_title(section);
    written.body.scale = 1;
    written.body.line = line;
    written.body.material = (scene_material){1500, 0, 0, 0};
    snprintf(written.body.name, sizeof(written.body.name), "%s", title ? title : "");
    fields_read(&body_table, section, &written);
    *body = written.body;
    body->shape = (scene_shape)written.shape;
    body->world_from_body = (pose){quat_from_rotation_vector(written.rotation), written.position};
    if (!title || !*title || strlen(title) >= SCENE_NAME_MAX)
        return refuse(s, body, error, "expected a name of 1 to 47 characters");

    if (cfg_size(section, "material") > 0)
        fields_read(&material_table, cfg_getsec(section, "material"), &body->material);
    hr_status status = read_keys(s, section, body, error);
    body->motion = written.is_free ? SCENE_FREE : SCENE_FIXED;
    if (body->key_count > 0)
        body->motion = SCENE_KEYFRAMES;
    if (status == HR_OK)
        status = check_body(s, body, section, error);
    if (status == HR_OK && cfg_size(section, "oscillate") > 0) {
        body->motion = SCENE_OSCILLATE;
        fields_read(&oscillate_table, cfg_getsec(section, "oscillate"), body);
    }
    if (status == HR_OK)
        status = resolve_file(s, body, error);
    s->body_count += status == HR_OK;
    return status;
}

static hr_status read_scene(cfg_t *cfg, const char *text, scene *s, hr_error *error)
{
    const char *cursor = text;
    fields_read(&root_table, cfg, s);
    if (!resolve_path(s, s->tool_file))
        return error_set(error, HR_ERR_FORMAT, "%s:1: tool_file: expected a shorter path", s->file);
    if (cfg_size(cfg, "hand") > 0)
        fields_read(&hand_table, cfg_getsec(cfg, "hand"), s);
    s->hand_script_line = fields_find_line(text, &cursor, "script", '=');
    cursor = text;
    for (unsigned i = 0; i < cfg_size(cfg, "body"); i++) {
        int line = fields_find_line(text, &cursor, "body", '{');
        if (s->body_count == SCENE_BODIES_MAX)
            return error_set(error, HR_ERR_CAPACITY, "%s:%d: expected at most %d bodies", s->file,
                             line, SCENE_BODIES_MAX);
        hr_status status = read_body(cfg_getnsec(cfg, "body", i), s, line, error);
        if (status != HR_OK)
            return status;
    }
    if (s->body_count == 0)
        return error_set(error, HR_ERR_FORMAT, "%s:1: expected at least one body, found none",
                         s->file);
    return HR_OK;
}

static cfg_t *parse(const char *text, const char *name, hr_error *error)
{
    cfg_opt_t root[FIELDS_PER_SECTION_MAX], hand[FIELDS_PER_SECTION_MAX],
        body[FIELDS_PER_SECTION_MAX], material[FIELDS_PER_SECTION_MAX],
        oscillate[FIELDS_PER_SECTION_MAX], key[FIELDS_PER_SECTION_MAX];
    cfg_opt_t inside_body[] = {
        CFG_SEC("material", fields_options(&material_table, NULL, material), CFGF_NODEFAULT),
        CFG_SEC("oscillate", fields_options(&oscillate_table, NULL, oscillate), CFGF_NODEFAULT),
        CFG_SEC("key", fields_options(&key_table, NULL, key), CFGF_MULTI), CFG_END()};
    cfg_opt_t sections[] = {
        CFG_SEC("hand", fields_options(&hand_table, NULL, hand), CFGF_NODEFAULT),
        CFG_SEC("body", fields_options(&body_table, inside_body, body),
                CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES),
        CFG_END()};
    return fields_parse(text, name, fields_options(&root_table, sections, root), tables, error);
}

hr_status scene_parse(const char *text, const char *name, scene *out, hr_error *error)
{
    cfg_t *cfg = parse(text, name, error);
    if (!cfg)
        return HR_ERR_FORMAT;
    hr_status status = HR_ERR_MEMORY;
    scene *draft = calloc(1, sizeof(*draft));
    if (draft) {
        snprintf(draft->file, sizeof(draft->file), "%s", name);
        draft->tool_radius_m = -1;
        draft->tool_scale = 1;
        status = read_scene(cfg, text, draft, error);
    }
    if (status == HR_OK)
        *out = *draft;
    free(draft);
    cfg_free(cfg);
    return status;
}

hr_status scene_load(const char *path, scene *out, hr_error *error)
{
    char *text = fields_read_file(path, error);
    if (!text)
        return HR_ERR_NOT_FOUND;
    hr_status status = scene_parse(text, path, out, error);
    free(text);
    return status;
}

int scene_folders(char folders[][CONFIG_PATH_MAX], int room)
{
    char program[CONFIG_PATH_MAX - 64];
    const char *wanted = getenv("HAPTICD_SCENES");
    int n = 0;
    if (wanted && *wanted && n < room)
        snprintf(folders[n++], CONFIG_PATH_MAX, "%s", wanted);
    ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    program[length > 0 ? length : 0] = 0;
    /* build/hapticd, build/tests/test_x and build/asan/tests/test_x of the source tree, or
     * bin/hapticd of an installed one */
    for (char *slash = strrchr(program, '/'); slash && n < room; slash = strrchr(program, '/')) {
        *slash = 0;
        snprintf(folders[n++], CONFIG_PATH_MAX, "%s/config/scenes", program);
        if (n < room)
            snprintf(folders[n++], CONFIG_PATH_MAX, "%s/share/hapticd/scenes", program);
    }
    return n;
}

hr_status scene_find(const char *name, char *path, int size, hr_error *error)
{
    char folders[SCENE_FOLDERS_MAX][CONFIG_PATH_MAX];
    bool is_path = strchr(name, '/') || access(name, R_OK) == 0;
    if (is_path && snprintf(path, (size_t)size, "%s", name) < size)
        return HR_OK;
    int count = scene_folders(folders, SCENE_FOLDERS_MAX);
    for (int i = 0; i < count && !is_path; i++)
        if (snprintf(path, (size_t)size, "%s/%s.scene", folders[i], name) < size &&
            access(path, R_OK) == 0)
            return HR_OK;
    return error_set(error, HR_ERR_NOT_FOUND,
                     "%s: expected the name of a shipped scene or a path, found neither ('haptic "
                     "scenes' lists the shipped ones)",
                     name);
}
