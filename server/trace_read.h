/* Reads a recording from front to back: its messages decoded, its metadata and attachments kept,
 * whatever is damaged named and stepped over. */
#ifndef SERVER_TRACE_READ_H
#define SERVER_TRACE_READ_H

#include "server/mcap_reader.h"
#include "server/trace_begin.h"
#include "server/trace_schema.h"

typedef struct trace_reader trace_reader;

/* Opens the file and reads up to the first chunk: metadata and attachments are there then. A file
 * that is no MCAP at all is refused. */
HR_MUST_USE hr_status trace_reader_open(const char *path, trace_reader **out, hr_error *error);
HR_MUST_USE hr_status trace_reader_open_memory(const void *data, size_t size, const char *name,
                                               trace_reader **out, hr_error *error);

/* The same without reading anything yet, for those who go through it with trace_next. */
HR_MUST_USE hr_status trace_reader_open_bare(const char *path, trace_reader **out, hr_error *error);
void trace_reader_close(trace_reader *r); /* accepts NULL */

/* The next message, valid until the next call; NULL at the end. Damage is noted on the way. */
const trace_message *trace_next_message(trace_reader *r);

/* For those who want to see everything: what mcap_next gives, with the decoded message in *m where
 * item.opcode is MCAP_MESSAGE (NULL otherwise). A message that cannot be decoded is damage. */
mcap_item trace_next(trace_reader *r, const trace_message **m);

/* Damage met so far: place, size and text of each; at most TRACE_PROBLEMS_MAX are kept. */
enum { TRACE_PROBLEMS_MAX = 64 };
typedef struct trace_problem {
    uint64_t offset, size; /* bytes */
    char text[192];
} trace_problem;
const trace_problem *trace_problems(const trace_reader *r, int *kept, uint64_t *all);

/* True when the header or a schema says that hapticd wrote the file. */
bool trace_is_ours(const trace_reader *r);

/* True once a message definition was met that has our name and another text: the messages on its
 * channels are not decoded, which counts as damage once. */
bool trace_is_other_version(const trace_reader *r);

/* True once everything was read, nothing was damaged and the footer is there. */
bool trace_is_complete(const trace_reader *r);
uint64_t trace_file_size(const trace_reader *r);
mcap_reader *trace_mcap(trace_reader *r); /* for raw bytes */

/* A value of a metadata record read so far; NULL where there is none. */
const char *trace_value(const trace_reader *r, const char *metadata, const char *key);
double trace_number(const trace_reader *r, const char *metadata, const char *key, double missing);
int trace_hand_count(const trace_reader *r);
const char *trace_hand_name(const trace_reader *r, int hand); /* never NULL */

/* As recorded for a hand; HR_ERR_NOT_FOUND where the recording does not say, HR_ERR_FORMAT where it
 * lacks a field. */
HR_MUST_USE hr_status trace_device(const trace_reader *r, int hand, device_description *out);

/* An attachment read so far, NUL-terminated, owned by the reader; NULL where there is none. */
const char *trace_attached(const trace_reader *r, const char *name, size_t *size);

/* All attachments and metadata records, for listing and copying. */
typedef struct trace_blob {
    char *name;
    char *media_type;
    char *data;
    size_t size;
    uint64_t log_time;
} trace_blob;
const trace_blob *trace_blobs(const trace_reader *r, int *count);

typedef struct trace_note {
    char *name;
    char **pairs; /* key, value, key, value */
    size_t count; /* of pairs */
} trace_note;
const trace_note *trace_notes(const trace_reader *r, int *count);

#endif
