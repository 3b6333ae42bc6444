/* A list of scenes, each with what a person wants to know of it, or why it cannot be used. */
#ifndef SERVER_SCENE_INDEX_H
#define SERVER_SCENE_INDEX_H

#include "server/scene_survey.h"

typedef struct scene_entry {
    char name[SCENE_NAME_MAX]; /* by which it is started: the file's without its ending */
    char path[CONFIG_PATH_MAX];
    bool is_good;
    hr_error error; /* where it is not: "file:line: ..." */
    char sentence[160];
    char tool_file[CONFIG_PATH_MAX];
    bool has_script;
    scene_survey survey;
} scene_entry;

typedef struct scene_index {
    int count, room;
    scene_entry *entries;
} scene_index;

/* Loads the scene with all that it names. A scene that is bad is listed with its error; one whose
 * name is listed already is left out. HR_ERR_MEMORY only. */
HR_MUST_USE hr_status scene_index_add(scene_index *index, const char *path);
void scene_index_clear(scene_index *index);

/* "1 plane, 2 spheres; point tool". */
void scene_entry_describe(const scene_entry *e, char *out, size_t size);

/* A picture of the scene as it starts. */
HR_MUST_USE hr_status scene_entry_draw(const scene_entry *e, const char *path, hr_error *error);

/* FOLDER/index.html, which shows the pictures beside it. */
HR_MUST_USE hr_status scene_index_write_html(const scene_index *index, const char *folder,
                                             hr_error *error);

#endif
