/* Text of the simulated hand's script to actions. The grammar is in sim_hand.h. */
#include <stdlib.h>
#include <string.h>

#include "devices/sim_hand.h"

typedef struct reader {
    const char *text;
    size_t size, at;
    size_t line, line_start; /* line counts from 1 */
    const char *name;
    hr_error *error;
} reader;

/* A word or number; length 0 at the end of a statement. */
typedef struct word {
    const char *text;
    size_t length;
    size_t line, column;
} word;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool ends_statement(const reader *r)
{
    return r->at >= r->size || r->text[r->at] == '\n' || r->text[r->at] == ';' ||
           r->text[r->at] == '#';
}

static word next_word(reader *r)
{
    while (r->at < r->size && is_blank(r->text[r->at]))
        r->at++;
    word w = {r->text + r->at, 0, r->line, r->at - r->line_start + 1};
    while (!ends_statement(r) && !is_blank(r->text[r->at])) {
        r->at++;
        w.length++;
    }
    return w;
}

/* Past the end of this statement; false when the text is over. */
static bool next_statement(reader *r)
{
    if (r->at < r->size && r->text[r->at] == '#')
        while (r->at < r->size && r->text[r->at] != '\n')
            r->at++;
    if (r->at >= r->size)
        return false;
    if (r->text[r->at] == '\n') {
        r->line++;
        r->line_start = r->at + 1;
    }
    r->at++;
    return true;
}

static hr_status refuse(const reader *r, word w, const char *expected)
{
    int length = w.length > 40 ? 40 : (int)w.length;
    return error_set(r->error, HR_ERR_FORMAT,
                     "%s: script line %zu, column %zu: expected %s, found %s%.*s%s", r->name,
                     w.line, w.column, expected, length ? "\"" : "the end of the statement", length,
                     length ? w.text : "", length ? "\"" : "");
}

static bool is_word(word w, const char *text)
{
    return w.length == strlen(text) && memcmp(w.text, text, w.length) == 0;
}

static hr_status read_number(reader *r, double low, double high, const char *expected, double *out)
{
    word w = next_word(r);
    char copy[64];
    if (w.length == 0 || w.length >= sizeof copy)
        return refuse(r, w, expected);
    memcpy(copy, w.text, w.length);
    copy[w.length] = '\0';
    char *end = NULL;
    double value = strtod(copy, &end);
    if (end == copy || *end || !(value >= low && value <= high))
        return refuse(r, w, expected);
    *out = value;
    return HR_OK;
}

/* `quoted` is the word in quotes, as the message shows it. */
static hr_status read_word(reader *r, const char *quoted)
{
    word w = next_word(r);
    bool is_it = w.length + 2 == strlen(quoted) && memcmp(w.text, quoted + 1, w.length) == 0;
    return is_it ? HR_OK : refuse(r, w, quoted);
}

static hr_status read_vector(reader *r, double limit, const char *expected, vec3 *out)
{
    hr_status status;
    if ((status = read_number(r, -limit, limit, expected, &out->x)) ||
        (status = read_number(r, -limit, limit, expected, &out->y)))
        return status;
    return read_number(r, -limit, limit, expected, &out->z);
}

static hr_status read_place(reader *r, vec3 *out)
{
    return read_vector(r, 1, "a length from -1 to 1 m", out);
}

static hr_status read_force(reader *r, vec3 *out)
{
    return read_vector(r, 100, "a force from -100 to 100 N", out);
}

static hr_status read_duration(reader *r, const char *preposition, double *out)
{
    hr_status status = preposition ? read_word(r, preposition) : HR_OK;
    return status ? status : read_number(r, 0.001, 1e6, "a time from 0.001 to 1e6 s", out);
}

static hr_status read_count(reader *r, const char *name, double *out)
{
    hr_status status = read_word(r, name);
    return status ? status : read_number(r, 0.01, 10000, "a number from 0.01 to 10000", out);
}

static hr_status read_circle(reader *r, sim_action *a)
{
    hr_status status;
    vec3 axis = {0, 0, 0};
    if ((status = read_place(r, &a->to)) || (status = read_word(r, "\"about\"")))
        return status;
    word w = next_word(r);
    r->at -= w.length;
    if ((status = read_vector(r, 1e6, "a component of a direction", &axis)))
        return status;
    if (!(vec3_length(axis) > 1e-9))
        return refuse(r, w, "a direction longer than zero");
    a->axis = vec3_scale(1 / vec3_length(axis), axis);
    if ((status = read_count(r, "\"turns\"", &a->times)))
        return status;
    return read_duration(r, "\"over\"", &a->duration);
}

static hr_status read_button(reader *r, sim_action *a)
{
    double index = 0;
    hr_status status = read_number(r, 0, 3, "a button from 0 to 3", &index);
    if (status)
        return status;
    a->button = (uint32_t)index;
    word w = next_word(r);
    a->is_pressed = is_word(w, "press");
    return a->is_pressed || is_word(w, "release") ? HR_OK
                                                  : refuse(r, w, "\"press\" or \"release\"");
}

static hr_status read_turn(reader *r, sim_action *a)
{
    vec3 turn = {0, 0, 0};
    hr_status status = read_vector(r, 7, "a component of a rotation from -7 to 7 rad", &turn);
    if (status)
        return status;
    a->turned_to = quat_from_rotation_vector(turn);
    return read_duration(r, "\"over\"", &a->duration);
}

/* What follows the first word of a statement. */
static hr_status read_action(reader *r, sim_action *a)
{
    hr_status status;
    switch (a->kind) {
    case SIM_MOVE:
    case SIM_SLIDE:
        status = read_place(r, &a->to);
        return status ? status : read_duration(r, "\"over\"", &a->duration);
    case SIM_CIRCLE:
        return read_circle(r, a);
    case SIM_TAP:
        if ((status = read_place(r, &a->to)) || (status = read_count(r, "\"times\"", &a->times)))
            return status;
        return read_duration(r, "\"over\"", &a->duration);
    case SIM_PRESS:
        status = read_force(r, &a->force);
        return status ? status : read_duration(r, "\"for\"", &a->duration);
    case SIM_HOLD:
        return read_duration(r, NULL, &a->duration);
    case SIM_LET_GO:
        return read_duration(r, "\"go\"", &a->duration);
    case SIM_BUTTON:
        return read_button(r, a);
    case SIM_TURN:
        return read_turn(r, a);
    }
    return HR_ERR_ARGUMENT;
}

static bool may_press(sim_action_kind kind)
{
    return kind == SIM_MOVE || kind == SIM_SLIDE || kind == SIM_CIRCLE || kind == SIM_TAP ||
           kind == SIM_HOLD;
}

/* The optional "pressing X Y Z", then nothing. */
static hr_status read_tail(reader *r, sim_action *a)
{
    word w = next_word(r);
    if (a && may_press(a->kind) && is_word(w, "pressing")) {
        hr_status status = read_force(r, &a->force);
        if (status)
            return status;
        w = next_word(r);
    }
    return w.length == 0 ? HR_OK : refuse(r, w, "the end of the statement");
}

static hr_status read_repeat(reader *r, sim_script *s, word first)
{
    s->passes = (double)INFINITY;
    double length = 0;
    for (int i = 0; i < s->count; i++)
        length += s->first[i].duration;
    if (!(length > 0))
        return refuse(r, first, "a statement that takes time before it");
    word w = next_word(r);
    if (w.length == 0)
        return HR_OK;
    r->at -= w.length;
    hr_status status = read_number(r, 1, 1e6, "a number of passes from 1 to 1e6", &s->passes);
    s->passes = floor(s->passes);
    return status;
}

static int kind_of(word w)
{
    static const char *const names[] = {"move", "slide", "circle", "tap", "press",
                                        "hold", "let",   "button", "turn"};
    for (int i = 0; i < HR_COUNT(names); i++)
        if (is_word(w, names[i]))
            return i;
    return -1;
}

static hr_status read_statement(reader *r, sim_script *s, bool *is_last)
{
    word w = next_word(r);
    if (w.length == 0)
        return HR_OK;
    if (*is_last)
        return refuse(r, w, "nothing after \"repeat\"");
    if (is_word(w, "repeat")) {
        *is_last = true;
        hr_status status = read_repeat(r, s, w);
        return status ? status : read_tail(r, NULL);
    }
    int kind = kind_of(w);
    if (kind < 0)
        return refuse(r, w,
                      "move, slide, circle, tap, press, hold, let go, button, turn or repeat");
    if (s->count == SIM_ACTIONS_MAX)
        return refuse(r, w, "at most 256 statements");
    sim_action *a = &s->first[s->count];
    *a = (sim_action){.kind = (sim_action_kind)kind};
    hr_status status = read_action(r, a);
    if (status == HR_OK)
        status = read_tail(r, a);
    s->count += status == HR_OK;
    s->turns = s->turns || kind == SIM_TURN;
    return status;
}

/* What goes on from one statement to the next. */
typedef struct progress {
    vec3 place;
    quat rotation;
    uint32_t buttons;
} progress;

/* Fills in times, starting places, orientations and buttons, and brings *now to the end. */
static void unroll(sim_action *actions, int count, progress *now, double *length)
{
    double start = 0;
    vec3 from = now->place;
    for (int i = 0; i < count; i++) {
        sim_action *a = &actions[i];
        a->start = start;
        a->from = from;
        if (a->kind == SIM_BUTTON)
            now->buttons =
                a->is_pressed ? now->buttons | 1u << a->button : now->buttons & ~(1u << a->button);
        a->buttons = now->buttons;
        a->turned_from = now->rotation;
        if (a->kind == SIM_TURN)
            now->rotation = a->turned_to;
        a->turned_to = now->rotation;
        start += a->duration;
        if (a->kind == SIM_MOVE || a->kind == SIM_SLIDE)
            from = a->to;
        if (a->kind == SIM_CIRCLE) {
            quat q = quat_from_rotation_vector(
                vec3_scale(2 * 3.14159265358979323846 * fmod(a->times, 1), a->axis));
            from = vec3_add(a->to, quat_rotate(q, vec3_sub(from, a->to)));
        }
        if (a->kind == SIM_TAP) /* a whole number of taps ends where it began */
            from = vec3_add_scaled(
                from, (1 - cos(2 * 3.14159265358979323846 * fmod(a->times, 1))) / 2, a->to);
    }
    *length = start;
    now->place = from;
}

hr_status sim_script_parse(const char *text, size_t size, const char *name, sim_script *out,
                           hr_error *error)
{
    sim_script *s = calloc(1, sizeof *s);
    if (!s)
        return error_set(error, HR_ERR_MEMORY, "%s: out of memory", name);
    reader r = {.text = text, .size = size, .line = 1, .name = name, .error = error};
    s->passes = 1;
    bool is_last = false;
    hr_status status;
    do
        status = read_statement(&r, s, &is_last);
    while (status == HR_OK && next_statement(&r));
    if (status == HR_OK && s->count == 0)
        status = error_set(error, HR_ERR_FORMAT,
                           "%s: script line %zu, column 1: expected at least "
                           "one statement, found none",
                           name, r.line);
    if (status == HR_OK) {
        progress now = {.rotation = quat_identity()};
        memcpy(s->again, s->first, sizeof s->first);
        unroll(s->first, s->count, &now, &s->length);
        vec3 end = now.place;
        unroll(s->again, s->count, &now, &s->length);
        if (s->passes > 1 && vec3_distance(now.place, end) > 1e-9)
            status = error_set(error, HR_ERR_FORMAT,
                               "%s: script line %zu, column 1: expected a script that ends where "
                               "its last pass did, found one that drifts; add a move",
                               name, r.line);
        else
            *out = *s;
    }
    free(s);
    return status;
}
