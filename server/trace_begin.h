/* What a recording begins and ends with, besides the messages. */
#ifndef SERVER_TRACE_BEGIN_H
#define SERVER_TRACE_BEGIN_H

#include "server/histogram.h"
#include "server/mcap_writer.h"
#include "server/trace.h"

/* Names of the attachments and metadata records. */
#define TRACE_CONFIG "config.conf" /* attachment */
#define TRACE_SCENE  "scene"       /* attachment */
#define TRACE_FILE   "file:"       /* attachments: this and the name */
#define TRACE_RUN    "run"         /* metadata: version, clock, scheduling */
#define TRACE_HASHES "hashes"      /* metadata: attachment, SHA-256 */
#define TRACE_HAND   "hand."       /* metadata: this and the index */
#define TRACE_COUNTS "counts"      /* metadata at the end: records per kind, drops */
#define TRACE_TIMING "timing."     /* metadata at the end: this and the quantity */

enum { TRACE_ATTACHMENT_MAX = 16 << 20 }; /* bytes; of larger files only the hash is kept */

/* Schemas, channels, attachments, metadata. HR_ERR_NOT_FOUND when a file cannot be read. */
HR_MUST_USE hr_status trace_write_begin(mcap_writer *w, const trace_meta *meta, hr_error *error);

/* The schemas and channels alone, in the order that trace_channel states; names may be NULL. */
void trace_write_channels(mcap_writer *w, int hand_count, const char *const *hand_names);

/* Quantiles and the buckets that are not empty, as "from_ns:count ...". */
void trace_write_timing(mcap_writer *w, const char *name, const histogram *h);

#endif
