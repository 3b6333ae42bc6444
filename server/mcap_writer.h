/* Writes an MCAP file: messages gathered into chunks without compression, each chunk with its CRC,
 * its message indices and copies of all schemas and channels, so that any chunk can be read alone.
 * One thread at a time. After the first failure (disk full, no memory) every call does nothing;
 * mcap_writer_failed and mcap_writer_close say so. What is on disk then still ends with a whole
 * record. */
#ifndef SERVER_MCAP_WRITER_H
#define SERVER_MCAP_WRITER_H

#include "geometry/error.h"
#include "server/mcap_format.h"

enum { MCAP_CHANNELS_MAX = 32 };

typedef struct mcap_writer mcap_writer;

/* Replaces an existing file. profile: "" or a well-known one; library: who writes. */
HR_MUST_USE hr_status mcap_writer_open(const char *path, const char *profile, const char *library,
                                       mcap_writer **out, hr_error *error);

/* All schemas and channels before the first message. Return their ids, from 1 on. */
uint16_t mcap_add_schema(mcap_writer *w, const char *name, const char *encoding, const char *text);
uint16_t mcap_add_channel(mcap_writer *w, uint16_t schema, const char *topic, const char *encoding,
                          const char *const *pairs, int pair_count);

/* Both go straight into the file, between two chunks. */
void mcap_add_attachment(mcap_writer *w, uint64_t log_time, const char *name,
                         const char *media_type, const void *data, size_t size);
void mcap_add_metadata(mcap_writer *w, const char *name, const char *const *pairs, int count);

/* A message of the open chunk: its content is put into the returned bytes before
 * mcap_end_message. Times in ns. */
mcap_bytes *mcap_begin_message(mcap_writer *w, uint16_t channel, uint32_t sequence,
                               uint64_t log_time, uint64_t publish_time);
void mcap_end_message(mcap_writer *w);

/* Bytes gathered in the open chunk. */
size_t mcap_chunk_size(const mcap_writer *w);

/* Writes the open chunk, if it holds a message, with its indices; waits for the disk if asked. */
void mcap_end_chunk(mcap_writer *w, bool wait_for_disk);

uint64_t mcap_writer_bytes(const mcap_writer *w); /* in the file */
bool mcap_writer_failed(const mcap_writer *w);

/* Writes the open chunk, DataEnd, summary and footer, waits for the disk and closes. Accepts NULL.
 * The writer is gone in any case. */
hr_status mcap_writer_close(mcap_writer *w, hr_error *error);

#endif
