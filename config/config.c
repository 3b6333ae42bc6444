#include "config/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/fields.h"

#define NUMBER(type, key, member, low, high)                                                       \
    {                                                                                              \
        key, FIELD_NUMBER, offsetof(type, member), low, high, 0, NULL                              \
    }
#define INTEGER(type, key, member, low, high)                                                      \
    {                                                                                              \
        key, FIELD_INTEGER, offsetof(type, member), low, high, 0, NULL                             \
    }
#define TEXT(type, key, member)                                                                    \
    {                                                                                              \
        key, FIELD_TEXT, offsetof(type, member), 0, 0, sizeof(((type *)0)->member), NULL           \
    }
#define YES_NO(type, key, member)                                                                  \
    {                                                                                              \
        key, FIELD_BOOL, offsetof(type, member), 0, 0, 0, NULL                                     \
    }
#define VECTOR(type, key, member, low, high)                                                       \
    {                                                                                              \
        key, FIELD_VECTOR, offsetof(type, member), low, high, 0, NULL                              \
    }

static const field servo_fields[] = {
    INTEGER(config_servo, "rate_hz", rate_hz, 500, 4000),
    INTEGER(config_servo, "priority", priority, 1, 99),
    INTEGER(config_servo, "cpu", cpu, -1, 1023),
    YES_NO(config_servo, "allow_degraded", allow_degraded),
    NUMBER(config_servo, "overrun_reduce_periods", overrun_reduce, 1, 100),
    NUMBER(config_servo, "overrun_fault_s", overrun_fault_s, 0.002, 1),
};
static const field world_fields[] = {
    INTEGER(config_world, "rate_hz", rate_hz, 10, 1000),
    NUMBER(config_world, "stale_fade_s", stale_fade_s, 0.005, 2),
    NUMBER(config_world, "stale_zero_s", stale_zero_s, 0.01, 5),
    NUMBER(config_world, "near_distance_m", near_distance_m, 0.001, 1),
};
static const field coupling_fields[] = {
    NUMBER(config_coupling, "stiffness_n_per_m", stiffness_n_per_m, 1, 20000),
    NUMBER(config_coupling, "damping_n_s_per_m", damping_n_s_per_m, 0, 100),
    NUMBER(config_coupling, "tool_radius_m", tool_radius_m, 0, 0.05),
    NUMBER(config_coupling, "witness_gain_per_s", witness_gain_per_s, 0, 8000),
    VECTOR(config_coupling, "scene_from_base_m", scene_from_base_m, -10, 10),
    NUMBER(config_coupling, "scale", scale, 0.01, 100),
    YES_NO(config_coupling, "moves_bodies", moves_bodies),
};
static const field hand_fields[] = {
    INTEGER(config_hand, "grab_button", grab_button, -1, 31),
};
static const field safety_fields[] = {
    NUMBER(config_safety, "max_force_n", max_force_n, 0, 50),
    NUMBER(config_safety, "max_slew_n_per_s", max_slew_n_per_s, 1, 1e6),
    NUMBER(config_safety, "max_speed_m_per_s", max_speed_m_per_s, 0.05, 10),
    NUMBER(config_safety, "workspace_margin_m", workspace_margin_m, 0, 0.1),
    NUMBER(config_safety, "startup_ramp_s", startup_ramp_s, 0.001, 10),
    NUMBER(config_safety, "startup_clear_s", startup_clear_s, 0, 10),
    NUMBER(config_safety, "passivity_damping_max_n_s_per_m", passivity_damping_max_n_s_per_m, 0,
           100),
    NUMBER(config_safety, "device_stale_fade_s", device_stale_fade_s, 0.001, 1),
    NUMBER(config_safety, "device_stale_zero_s", device_stale_zero_s, 0.002, 1),
    NUMBER(config_safety, "client_hold_s", client_hold_s, 0.001, 10),
    NUMBER(config_safety, "client_fade_s", client_fade_s, 0.001, 10),
    NUMBER(config_safety, "jump_speed_m_per_s", jump_speed_m_per_s, 0.5, 100),
    INTEGER(config_safety, "estop_button", estop_button, -1, 31),
};
static const field trace_fields[] = {
    TEXT(config_trace, "record", record),
    NUMBER(config_trace, "chunk_s", chunk_s, 0.01, 10),
};
static const field control_fields[] = {
    TEXT(config_control, "socket", socket),
    YES_NO(config_control, "enabled", enabled),
};
static const field device_fields[] = {
    TEXT(config_device, "driver", driver),
    TEXT(config_device, "address", address),
    VECTOR(config_device, "scene_offset_m", scene_offset_m, -10, 10),
};
static const field root_fields[] = {
    TEXT(config, "scene", scene),
};

static const field_table servo_table = {"servo", servo_fields, HR_COUNT(servo_fields)};
static const field_table world_table = {"world", world_fields, HR_COUNT(world_fields)};
static const field_table coupling_table = {"coupling", coupling_fields, HR_COUNT(coupling_fields)};
static const field_table hand_table = {"hand", hand_fields, HR_COUNT(hand_fields)};
static const field_table safety_table = {"safety", safety_fields, HR_COUNT(safety_fields)};
static const field_table trace_table = {"trace", trace_fields, HR_COUNT(trace_fields)};
static const field_table control_table = {"control", control_fields, HR_COUNT(control_fields)};
static const field_table device_table = {"device", device_fields, HR_COUNT(device_fields)};
static const field_table root_table = {"root", root_fields, HR_COUNT(root_fields)};

static const field_table *const tables[] = {
    &servo_table, &world_table,   &coupling_table, &hand_table, &safety_table,
    &trace_table, &control_table, &device_table,   &root_table, NULL};

/* The sections that stand once, and where they are kept. */
static const struct part {
    const field_table *table;
    size_t offset;
} parts[] = {
    {&servo_table, offsetof(config, servo)},       {&world_table, offsetof(config, world)},
    {&coupling_table, offsetof(config, coupling)}, {&hand_table, offsetof(config, hand)},
    {&safety_table, offsetof(config, safety)},     {&trace_table, offsetof(config, trace)},
    {&control_table, offsetof(config, control)},
};

void config_default(config *out)
{
    memset(out, 0, sizeof(*out));
    out->servo = (config_servo){1000, 80, -1, false, 3, 0.010};
    out->world = (config_world){500, 0.050, 0.200, 0.020};
    out->coupling = (config_coupling){3000, 2.0, 0, 0, {0, 0, 0}, 1, true};
    out->safety = (config_safety){.max_force_n = 8,         /* below the Falcon's 9 N peak */
                                  .max_slew_n_per_s = 4000, /* 4 N per tick at 1 kHz */
                                  .max_speed_m_per_s = 1.5,
                                  .workspace_margin_m = 0.005,
                                  .startup_ramp_s = 0.25,
                                  .startup_clear_s = 0.10,
                                  .passivity_damping_max_n_s_per_m = 12,
                                  .device_stale_fade_s = 0.005,
                                  .device_stale_zero_s = 0.020,
                                  .client_hold_s = 0.050,
                                  .client_fade_s = 0.020,
                                  .jump_speed_m_per_s = 4,
                                  .estop_button = -1};
    out->hand.grab_button = 0;
    out->device_count = 1;
    snprintf(out->devices[0].name, sizeof(out->devices[0].name), "right");
    snprintf(out->devices[0].driver, sizeof(out->devices[0].driver), "sim");
    out->trace.chunk_s = 0.25;
    out->control.enabled = true;
    snprintf(out->scene, sizeof(out->scene), "sphere");
}

/* Free-form pairs for the driver, each with the line it stands on. */
static hr_status read_settings(cfg_t *section, const char *text, const char **cursor,
                               const char *name, config_device *device, hr_error *error)
{
    for (unsigned i = 0; i < cfg_num(section); i++) {
        cfg_opt_t *opt = cfg_getnopt(section, i);
        const char *value = cfg_opt_getnstr(opt, 0);
        int line = fields_find_line(text, cursor, opt->name, '=');
        if (device->setting_count == CONFIG_SETTINGS_MAX)
            return error_set(error, HR_ERR_CAPACITY, "%s:%d: expected at most %d settings", name,
                             line, CONFIG_SETTINGS_MAX);
        config_setting *setting = &device->settings[device->setting_count++];
        if (strlen(opt->name) >= sizeof(setting->key) || !value ||
            strlen(value) >= sizeof(setting->value))
            return error_set(error, HR_ERR_FORMAT,
                             "%s:%d: expected a key below %zu and a value below %zu characters",
                             name, line, sizeof(setting->key), sizeof(setting->value));
        snprintf(setting->key, sizeof(setting->key), "%s", opt->name);
        snprintf(setting->value, sizeof(setting->value), "%s", value);
        snprintf(setting->place, sizeof(setting->place), "%s:%d", name, line);
    }
    return HR_OK;
}

static hr_status read_devices(cfg_t *cfg, const char *text, const char *name, config *draft,
                              hr_error *error)
{
    unsigned count = cfg_size(cfg, "device");
    const char *cursor = text;
    if (count == 0)
        return HR_OK;
    memset(draft->devices, 0, sizeof(draft->devices));
    draft->device_count = 0;
    for (unsigned i = 0; i < count; i++) {
        cfg_t *section = cfg_getnsec(cfg, "device", i);
        int line = fields_find_line(text, &cursor, "device", '{');
        if (i == CONFIG_DEVICES_MAX)
            return error_set(error, HR_ERR_CAPACITY, "%s:%d: expected at most %d devices", name,
                             line, CONFIG_DEVICES_MAX);
        config_device *device = &draft->devices[draft->device_count++];
        const char *title = cfg_title(section);
        if (!title || !*title || strlen(title) >= sizeof(device->name))
            return error_set(error, HR_ERR_FORMAT,
                             "%s:%d: device: expected a name of 1 to %zu characters", name, line,
                             sizeof(device->name) - 1);
        snprintf(device->name, sizeof(device->name), "%s", title);
        fields_read(&device_table, section, device);
        if (!device->driver[0])
            return error_set(error, HR_ERR_FORMAT,
                             "%s:%d: device \"%s\": expected driver = \"...\", found none", name,
                             line, title);
        hr_status status = HR_OK;
        if (cfg_size(section, "settings") > 0)
            status =
                read_settings(cfg_getsec(section, "settings"), text, &cursor, name, device, error);
        if (status != HR_OK)
            return status;
    }
    return HR_OK;
}

/* `low` must stay below `high`; says where the section stands. */
static hr_status check_order(const char *text, const char *name, const char *section,
                             const char *low_key, double low, const char *high_key, double high,
                             hr_error *error)
{
    if (low < high)
        return HR_OK;
    const char *cursor = text;
    int line = fields_find_line(text, &cursor, section, '{');
    return error_set(error, HR_ERR_FORMAT, "%s:%d: %s: expected %s below %s, found %g and %g", name,
                     line, section, low_key, high_key, low, high);
}

static hr_status check_whole(const config *c, const char *text, const char *name, hr_error *error)
{
    hr_status status = check_order(text, name, "world", "stale_fade_s", c->world.stale_fade_s,
                                   "stale_zero_s", c->world.stale_zero_s, error);
    if (status == HR_OK)
        status =
            check_order(text, name, "safety", "device_stale_fade_s", c->safety.device_stale_fade_s,
                        "device_stale_zero_s", c->safety.device_stale_zero_s, error);
    if (status == HR_OK && c->world.rate_hz > c->servo.rate_hz)
        status = check_order(text, name, "world", "rate_hz", c->world.rate_hz, "servo.rate_hz",
                             c->servo.rate_hz, error);
    if (status == HR_OK && c->hand.grab_button >= 0 &&
        c->hand.grab_button == c->safety.estop_button) {
        const char *cursor = text;
        int line = fields_find_line(text, &cursor, "grab_button", '=');
        status = error_set(error, HR_ERR_FORMAT,
                           "%s:%d: hand.grab_button: expected another button than "
                           "safety.estop_button, found %d for both",
                           name, line, c->hand.grab_button);
    }
    return status;
}

static cfg_t *parse(const char *text, const char *name, hr_error *error)
{
    cfg_opt_t part_options[HR_COUNT(parts)][FIELDS_PER_SECTION_MAX];
    cfg_opt_t device_options[FIELDS_PER_SECTION_MAX], root_options[FIELDS_PER_SECTION_MAX];
    cfg_opt_t none[] = {CFG_END()};
    cfg_opt_t inside_device[] = {CFG_SEC("settings", none, CFGF_KEYSTRVAL), CFG_END()};
    cfg_opt_t sections[HR_COUNT(parts) + 2];
    for (int i = 0; i < HR_COUNT(parts); i++)
        sections[i] =
            (cfg_opt_t)CFG_SEC(parts[i].table->section,
                               fields_options(parts[i].table, NULL, part_options[i]), CFGF_NONE);
    sections[HR_COUNT(parts)] =
        (cfg_opt_t)CFG_SEC("device", fields_options(&device_table, inside_device, device_options),
                           CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES);
    sections[HR_COUNT(parts) + 1] = (cfg_opt_t)CFG_END();
    return fields_parse(text, name, fields_options(&root_table, sections, root_options), tables,
                        error);
}

hr_status config_parse(const char *text, const char *name, config *out, hr_error *error)
{
    cfg_t *cfg = parse(text, name, error);
    if (!cfg)
        return HR_ERR_FORMAT;
    hr_status status = HR_ERR_MEMORY;
    config *draft = malloc(sizeof(*draft));
    if (draft) {
        config_default(draft);
        snprintf(draft->file, sizeof(draft->file), "%s", name);
        fields_read(&root_table, cfg, draft);
        for (int i = 0; i < HR_COUNT(parts); i++)
            fields_read(parts[i].table, cfg_getsec(cfg, parts[i].table->section),
                        (char *)draft + parts[i].offset);
        status = read_devices(cfg, text, name, draft, error);
    }
    if (status == HR_OK)
        status = check_whole(draft, text, name, error);
    if (status == HR_OK)
        *out = *draft;
    free(draft);
    cfg_free(cfg);
    return status;
}

hr_status config_load(const char *path, config *out, hr_error *error)
{
    char *text = fields_read_file(path, error);
    if (!text)
        return HR_ERR_NOT_FOUND;
    hr_status status = config_parse(text, path, out, error);
    free(text);
    return status;
}

static int print_device(const config_device *device, char *out, int size)
{
    int used = fields_print(&device_table, device->name, device, out, size);
    if (device->setting_count == 0)
        return used;
    used -= 2; /* before the closing brace */
    used += snprintf(out + (used < size ? used : 0), (size_t)(used < size ? size - used : 0),
                     "    settings {\n");
    for (int i = 0; i < device->setting_count; i++) {
        const config_setting *s = &device->settings[i];
        char value[2 * CONFIG_PATH_MAX + 4];
        fields_print_quoted(s->value, value, sizeof(value));
        used += snprintf(out + (used < size ? used : 0), (size_t)(used < size ? size - used : 0),
                         "        %s = %s\n", s->key, value);
    }
    used += snprintf(out + (used < size ? used : 0), (size_t)(used < size ? size - used : 0),
                     "    }\n}\n");
    return used;
}

int config_print(const config *c, char *out, int size)
{
    int used = fields_print(&root_table, NULL, c, out, size);
    for (int i = 0; i < HR_COUNT(parts); i++)
        used += fields_print(parts[i].table, NULL, (const char *)c + parts[i].offset,
                             out + (used < size ? used : 0), used < size ? size - used : 0);
    for (int i = 0; i < c->device_count; i++)
        used += print_device(&c->devices[i], out + (used < size ? used : 0),
                             used < size ? size - used : 0);
    return used;
}
