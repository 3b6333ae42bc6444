/* Recordings in formats that other programs open directly. */
#ifndef SERVER_TRACE_EXPORT_H
#define SERVER_TRACE_EXPORT_H

#include <stdio.h>

#include "server/trace_read.h"

/* One line per servo cycle: tick, time_s since the first tick, then every field of every hand; with
 * several hands each column begins with the hand's name. Numbers are written so that reading them
 * gives the same bits; a hand without that tick has empty cells. The header line names columns with
 * their units (force_x_n). */
HR_MUST_USE hr_status trace_export_csv(trace_reader *r, FILE *out, hr_error *error);

/* Groups hands/NAME/tick, hands/NAME/frame, hands/NAME/body (one row per body of a frame),
 * commands, events, attachments; one compressed dataset per field with its unit and meaning as
 * attributes; the metadata as attributes of the root and of each hand. */
HR_MUST_USE hr_status trace_export_hdf5(trace_reader *r, const char *path, hr_error *error);

/* Motion-BIDS: BASE_motion.tsv without a header line, BASE_channels.tsv, BASE_motion.json. Position
 * is POS, velocity VEL, force and gap MISC, time LATENCY. */
HR_MUST_USE hr_status trace_export_bids(trace_reader *r, const char *base, hr_error *error);

/* "m_per_s" for "m/s", "n" for "N". */
void trace_unit_word(const char *unit, char *out, size_t size);

/* "force_x_n": name of an element of a field. */
void trace_column_name(const trace_field *f, int element, char *out, size_t size);

/* "_x", "_w" or "_3": what tells the elements of a field apart; empty for a single number. */
void trace_element_suffix(const trace_field *f, int element, char *out, size_t size);

#endif
