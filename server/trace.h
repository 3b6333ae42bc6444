/* The recording of a run: everything that went into the servo and everything that came out, in an
 * MCAP file that any MCAP reader opens and that `haptic replay` computes again bit for bit.
 *
 *   servo thread -- trace_push_* --> rings --> writer thread -- chunks of chunk_s, synced --> disk
 *
 * In lockstep there is no writer thread: the loop that calls the ticks calls trace_drain after each
 * one, and nothing can be lost. File order is the order of application: the commands of a tick, its
 * frames, then the tick records; that is the order in which a replay feeds them back. */
#ifndef SERVER_TRACE_H
#define SERVER_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "devices/device.h"
#include "geometry/error.h"
#include "server/frame.h"
#include "server/records.h"

/* A file that the scene or the configuration refers to, attached as it is, with its hash. */
typedef struct trace_attachment {
    const char *name; /* as the scene names it */
    const char *path; /* where it is */
} trace_attachment;

/* What a replay needs to build the same hands again, and what a reader wants to know of the run.
 * All text is copied by trace_open. */
typedef struct trace_meta {
    const char *config_text; /* the effective settings, as config_print writes them */
    const char *scene_path;  /* for messages and relative names */
    const char *scene_text;  /* the scene file as it stands */
    const trace_attachment *files;
    int file_count;
    int hand_count;
    const char *hand_names[HANDS_MAX]; /* config_device.name */
    const char *drivers[HANDS_MAX];    /* config_device.driver, with its address */
    device_description devices[HANDS_MAX];
    double rate_hz;         /* of the servo */
    double world_rate_hz;   /* frames per second and hand at most; sizes the ring */
    double chunk_s;         /* 0: 0.25 s */
    bool is_lockstep;       /* no writer thread, no drop; see trace_drain */
    bool is_degraded;       /* no real-time scheduling */
    const char *scheduling; /* in words: "SCHED_FIFO 80", or why not; may be NULL */
    int64_t start_ns;       /* the servo's clock when the recording began */
    int64_t unix_ns;        /* the wall clock at the same moment */
} trace_meta;

/* Something that happened at a tick and is neither an input nor a result. */
typedef enum trace_event_kind {
    TRACE_EVENT_LOG = 0,     /* text for a person */
    TRACE_EVENT_OVERRUN = 1, /* value: missed periods */
    TRACE_EVENT_STATE = 2,   /* value: the new servo_state */
    TRACE_EVENT_DROP = 3,    /* value: records lost so far because a ring was full */
    TRACE_EVENT_TRIAL = 4    /* text: subject, session, block, trial, condition */
} trace_event_kind;

typedef struct trace_event {
    uint64_t tick;
    int64_t time_ns;
    uint32_t kind; /* trace_event_kind */
    uint32_t hand; /* index, or HANDS_MAX for all */
    double value;
    char text[96]; /* NUL-terminated */
} trace_event;

typedef struct trace trace;

/* Creates the file (an existing one is replaced), writes the header, attachments and metadata, and
 * starts the writer thread unless is_lockstep. Bad paths are refused before anything is powered. */
HR_MUST_USE hr_status trace_open(const char *path, const trace_meta *meta, trace **out,
                                 hr_error *error);

/* Servo thread only (in lockstep: the thread that runs the loop). Wait-free; a full ring drops the
 * record, counts it and returns false. A NULL trace accepts and forgets. */
HR_RT bool trace_push_tick(trace *t, const tick_record *record);
HR_RT bool trace_push_frame(trace *t, uint64_t arrival_tick, const contact_frame *frame);
HR_RT bool trace_push_command(trace *t, const servo_command *command);
HR_RT bool trace_push_event(trace *t, const trace_event *event);

/* Lockstep only: moves everything pushed so far toward the file. Call it at least once per tick of
 * all hands. */
void trace_drain(trace *t);

/* How the recording fares; any thread. */
typedef struct trace_state {
    uint64_t ticks;   /* tick records on their way to the disk or there */
    uint64_t bytes;   /* written so far */
    uint64_t dropped; /* records of any kind lost to a full ring */
    bool has_failed;  /* the disk refused; nothing more is written */
} trace_state;
void trace_status(const trace *t, trace_state *out);

/* Any thread but the servo; before trace_close. A named set of key and value texts, such as a
 * histogram that the servo kept. `pairs` holds 2 * count texts: key, value, key, value. */
void trace_add_metadata(trace *t, const char *name, const char *const *pairs, int count);

/* After the last push: stops the writer, writes what is left, the timing histograms, the summary
 * and the index. Accepts NULL. The trace is gone in any case. */
hr_status trace_close(trace *t, hr_error *error);

#endif
