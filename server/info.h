/* `haptic info FILE`: one probe per kind of file. A new kind adds a file with its two functions and
 * a line in server/info_table.c. */
#ifndef SERVER_INFO_H
#define SERVER_INFO_H

#include <stdbool.h>
#include <stddef.h>

enum { INFO_HEAD = 512 };

typedef struct info_probe {
    const char *kind; /* for messages: "recording" */

    /* Whether the file is of this kind, by its first bytes (INFO_HEAD at most, NUL after them) and
     * its name. The first probe that says yes prints. */
    bool (*accepts)(const char *path, const char *head, size_t size);

    /* Prints on standard output; an error as the other commands do. Returns the exit code. */
    int (*print)(const char *path, bool wants_json);
} info_probe;

/* Ended by a NULL kind. */
extern const info_probe info_table[];

/* True when the path ends in ".obj" and the like, in any case. */
bool info_has_ending(const char *path, const char *ending);

/* The probes, each in its own file. */
bool info_trace_accepts(const char *path, const char *head, size_t size);
int info_trace_print(const char *path, bool wants_json);
bool info_body_accepts(const char *path, const char *head, size_t size);
int info_body_print(const char *path, bool wants_json);
bool info_mesh_accepts(const char *path, const char *head, size_t size);
int info_mesh_print(const char *path, bool wants_json);
bool info_scene_accepts(const char *path, const char *head, size_t size);
int info_scene_print(const char *path, bool wants_json);
bool info_urdf_accepts(const char *path, const char *head, size_t size);
int info_urdf_print(const char *path, bool wants_json);

#endif
