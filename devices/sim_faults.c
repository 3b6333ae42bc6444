#include "devices/sim_faults.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

HR_RT uint32_t sim_faults_at(const sim_faults *faults, double time)
{
    uint32_t kinds = 0;
    for (int i = 0; i < faults->count; i++)
        if (time >= faults->items[i].start && time < faults->items[i].end)
            kinds |= faults->items[i].kind;
    return kinds;
}

static const struct {
    const char *name;
    uint32_t kind;
    double duration; /* s, where the text names none */
} kinds[] = {
    {"nan", SIM_FAULT_NAN, 0.001},       {"jump", SIM_FAULT_JUMP, 0.001},
    {"frozen", SIM_FAULT_FROZEN, 1e12},  {"unplug", SIM_FAULT_UNPLUG, 1e12},
    {"silent", SIM_FAULT_SILENT, 0.001}, {"late", SIM_FAULT_LATE, 0.001},
};

/* One statement, already cut out and ended by NUL. Returns what was expected, NULL when good;
 * *found is the offending word. */
static const char *read_statement(char *text, sim_fault *out, const char **found)
{
    char *rest = NULL;
    const char *name = strtok_r(text, " \t\r", &rest);
    const char *at = strtok_r(NULL, " \t\r", &rest);
    const char *start = strtok_r(NULL, " \t\r", &rest);
    const char *duration_word = strtok_r(NULL, " \t\r", &rest);
    const char *duration = strtok_r(NULL, " \t\r", &rest);
    const char *extra = strtok_r(NULL, " \t\r", &rest);
    char *end = NULL;
    int k = 0;
    while (k < HR_COUNT(kinds) && strcmp(kinds[k].name, name) != 0)
        k++;
    *found = name;
    if (k == HR_COUNT(kinds))
        return "nan, jump, frozen, unplug, silent or late";
    *found = at;
    if (!at || strcmp(at, "at") != 0)
        return "\"at\"";
    *found = start;
    out->kind = kinds[k].kind;
    out->start = start ? strtod(start, &end) : -1;
    if (!start || *end || !(out->start >= 0 && out->start <= 1e9))
        return "a time from 0 to 1e9 s";
    out->end = out->start + kinds[k].duration;
    if (!duration_word)
        return NULL;
    *found = duration_word;
    if (strcmp(duration_word, "for") != 0)
        return "\"for\"";
    *found = duration;
    out->end = out->start + (duration ? strtod(duration, &end) : -1);
    if (!duration || *end || !(out->end > out->start && out->end <= 2e9))
        return "a time above 0 s";
    *found = extra;
    return extra ? "the end of the statement" : NULL;
}

/* Cuts statement number n out of the text; false when there is none left. */
static bool next_statement(const char **text, const char *end, char *copy, size_t capacity,
                           bool *is_too_long)
{
    if (*text >= end)
        return false;
    size_t length = 0;
    while (*text < end && **text != ';' && **text != '\n') {
        if (length + 1 < capacity)
            copy[length++] = **text ? **text : '?';
        else
            *is_too_long = true;
        ++*text;
    }
    ++*text;
    copy[length] = '\0';
    return true;
}

hr_status sim_faults_parse(const char *text, size_t size, const char *name, sim_faults *out,
                           hr_error *error)
{
    sim_faults faults = {.count = 0};
    char copy[128];
    bool is_too_long = false;
    const char *end = text + size;
    for (int n = 1; next_statement(&text, end, copy, sizeof copy, &is_too_long); n++) {
        if (is_too_long)
            return error_set(error, HR_ERR_FORMAT,
                             "%s: fault %d: expected a short statement, found over 127 characters",
                             name, n);
        if (copy[strspn(copy, " \t\r")] == '\0')
            continue;
        if (faults.count == SIM_FAULTS_MAX)
            return error_set(error, HR_ERR_CAPACITY,
                             "%s: fault %d: expected at most %d faults, found more", name, n,
                             SIM_FAULTS_MAX);
        const char *found = NULL;
        const char *expected = read_statement(copy, &faults.items[faults.count], &found);
        if (expected)
            return error_set(error, HR_ERR_FORMAT, "%s: fault %d: expected %s, found %s%s%s", name,
                             n, expected, found ? "\"" : "nothing", found ? found : "",
                             found ? "\"" : "");
        faults.count++;
    }
    *out = faults;
    return HR_OK;
}
