/* `haptic info`: what a file contains. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "server/cmd_trace.h"
#include "server/info.h"

static const char usage[] = "usage: haptic info FILE [--json]\n"
                            "\n"
                            "Says what a recording, surface, mesh, URDF model or scene contains.\n"
                            "\n"
                            "  --json   print one object\n"
                            "  --help   this text\n";

bool info_has_ending(const char *path, const char *ending)
{
    size_t length = strlen(path), wanted = strlen(ending);
    return length >= wanted && strcasecmp(path + length - wanted, ending) == 0;
}

/* The kinds that there are, for the message that the file is none of them. */
static void list_kinds(char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (const info_probe *p = info_table; p->kind && used + 1 < size; p++) {
        int n = snprintf(out + used, size - used, "%s%s", p == info_table ? "" : ", ", p->kind);
        used += n > 0 ? (size_t)n : 0;
    }
}

int cmd_info(int argc, char **argv)
{
    cmd_trace_options o;
    int code;
    if (!cmd_trace_read(argc, argv, usage, "json", &o, &code))
        return code;
    hr_error error;
    char head[INFO_HEAD + 1] = {0};
    FILE *f = fopen(o.file, "rbe");
    size_t size = f ? fread(head, 1, INFO_HEAD, f) : 0;
    bool is_read = f && !ferror(f);
    if (!is_read)
        error_set(&error, HR_ERR_NOT_FOUND, "%s: expected a file that can be read: %s", o.file,
                  strerror(errno));
    if (f)
        fclose(f);
    if (!is_read)
        return command_input_error(&error);
    for (const info_probe *p = info_table; p->kind; p++)
        if (p->accepts(o.file, head, size))
            return p->print(o.file, o.wants_json);
    char kinds[256];
    list_kinds(kinds, sizeof kinds);
    error_set(&error, HR_ERR_FORMAT, "%s: expected one of: %s; found something else", o.file,
              kinds);
    return command_input_error(&error);
}
