/* The life of the connection to one Falcon: open, probe, upload the firmware, exchange, notice that
 * it is gone, come back. A state machine that never blocks for long and takes its time from the
 * transport, so that a thousand cold starts with faults run in a second of test.
 *
 *   WAITING -> OPENING -> PROBING -----------------------> RUNNING
 *      ^                     | no firmware                    ^
 *      |                     v                                |
 *      |       RESETTING -> GREETING -> SETTING_SPEED -> SENDING -> PROBING
 *      +---- any failure, with its cause and a growing pause -+
 *
 * Motor values other than zero leave only while RUNNING with all arms homed, forces enabled and the
 * command's deadline not passed. */
#ifndef DEVICES_FALCON_LINK_H
#define DEVICES_FALCON_LINK_H

#include "devices/falcon/firmware.h"
#include "devices/falcon/protocol.h"
#include "devices/falcon/transport.h"

typedef enum falcon_state {
    FALCON_WAITING,
    FALCON_OPENING,
    FALCON_PROBING,
    FALCON_RESETTING,
    FALCON_GREETING,
    FALCON_SETTING_SPEED,
    FALCON_SENDING,
    FALCON_RUNNING
} falcon_state;

const char *falcon_state_text(falcon_state state);

/* Everything where sources disagree is a setting. */
typedef struct falcon_link_settings {
    int block_size;        /* bytes of firmware per echo; 62 fills one packet */
    int greetings;         /* how often the loader is greeted per attempt */
    int attempts;          /* before giving up a first start; 0: never */
    int latency_run_ms;    /* FTDI timer while exchanging */
    int latency_upload_ms; /* and while uploading */
    int divisor_run;
    bool has_event_character; /* ask the chip to flush at '>' */
    bool keeps_homing_bit;    /* after homing */
    uint8_t homing_bit;
    uint8_t led_red, led_green, led_blue;
    double answer_timeout_s;  /* an exchange without a report by then is lost */
    double silence_timeout_s; /* no report for so long: the device is lost */
} falcon_link_settings;

falcon_link_settings falcon_link_settings_default(void);

enum { FALCON_LOG_LINES = 24, FALCON_LOG_WIDTH = 120, FALCON_BUCKETS = 200 };

typedef struct falcon_link_counts {
    uint64_t sent, reports; /* exchanges */
    uint64_t lost;          /* sent without an answer in time */
    uint64_t garbage;       /* bytes that were part of no report */
    uint64_t attempts, uploads, losses;
    int64_t round_trip_ns;            /* last */
    int64_t round_trip_longest_ns;    /* since the last start */
    double round_trip_mean_ns;        /* moving average over some 64 exchanges */
    double round_trip_best_ns;        /* lowest average seen: what the link can do */
    uint64_t slow;                    /* reports while the average was above three times the best */
    double lost_share, garbage_share; /* of the last few hundred exchanges: lost, with garbage */
    uint32_t round_trips[FALCON_BUCKETS]; /* histogram, 50 us each; the last holds the rest */
} falcon_link_counts;

typedef struct falcon_link_command {
    int16_t values[3];
    bool is_enabled;
    uint8_t leds; /* bit 0 red, 1 green, 2 blue; 0: the link's own signals */
    int64_t deadline_ns;
} falcon_link_command;

typedef struct falcon_link {
    falcon_transport *transport;
    falcon_link_settings settings;
    const falcon_firmware *firmware; /* NULL: none was found; then upload is a named failure */
    char firmware_problem[256];

    falcon_state state;
    int64_t state_since_ns, retry_ns, next_ns;
    int attempt, tries;
    bool is_uploaded;  /* the probe that follows an upload */
    bool has_run;      /* reports came once: from then on it is waited for without end */
    bool has_given_up; /* attempts of the first start are used up; cause says why */
    size_t position;   /* bytes of firmware whose echo is good */
    size_t block;      /* bytes sent and not yet echoed */
    uint8_t collected[256];
    int collected_count;

    falcon_parser parser;
    falcon_report report; /* newest */
    bool has_report;      /* a report came in the last step */
    falcon_link_command command;
    int16_t sent_values[3]; /* last motor values on the wire */
    bool is_awaiting;
    int64_t sent_ns, report_ns;

    falcon_link_counts counts;
    hr_status status; /* of the last failure */
    char cause[200];  /* of the last failure; empty while all is well */
    char loss[200];   /* why it went away; empty while it runs */
    char log[FALCON_LOG_LINES][FALCON_LOG_WIDTH];
    int log_count; /* all ever written; the last FALCON_LOG_LINES are kept */
} falcon_link;

void falcon_link_init(falcon_link *link, falcon_transport *transport,
                      const falcon_link_settings *settings, const falcon_firmware *firmware,
                      const char *firmware_problem);

/* One step; returns the time at which the next is due if nothing arrives before. */
int64_t falcon_link_step(falcon_link *link);

/* Zero force, several times, then closes the transport. */
void falcon_link_close(falcon_link *link);

/* Latency has grown: the average round trip is above three times the best and above 4 ms. */
static inline bool falcon_link_is_slow(const falcon_link *link)
{
    return link->counts.reports >= 64 && link->counts.round_trip_mean_ns > 4e6 &&
           link->counts.round_trip_mean_ns > 3 * link->counts.round_trip_best_ns;
}

/* What is wrong with a link that runs; empty where nothing is. */
void falcon_link_health(const falcon_link *link, char *out, size_t size);

static inline bool falcon_link_is_homed(const falcon_link *link)
{
    return link->state == FALCON_RUNNING && link->report.homed == 7;
}

/* For the parts of the link. */
void falcon_link_log(falcon_link *link, const char *format, ...) HR_PRINTF(2, 3);
void falcon_link_enter(falcon_link *link, falcon_state state);
void falcon_link_fail(falcon_link *link, hr_status status, const char *format, ...) HR_PRINTF(3, 4);
void falcon_link_fail_sending(falcon_link *link, hr_status status);
void falcon_boot_step(falcon_link *link, int64_t now_ns);

#endif
