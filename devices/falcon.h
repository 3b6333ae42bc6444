/* The driver "falcon": a real Novint Falcon over libusb-1.0.
 *
 * The address chooses the unit: nothing (the first), an index, "serial:XXXXXXXX" or "port:1-3.2".
 * An I/O thread of its own runs the link; the servo only takes the newest report from a mailbox and
 * puts the newest command into another.
 *
 * Settings
 *   firmware            path of the firmware file; else where falcon_firmware_find looks
 *   calibration         path of a calibration file; else
 *                       $XDG_CONFIG_HOME/hapticd/falcon-SERIAL.conf or
 * /etc/hapticd/falcon-SERIAL.conf open_timeout_s      how long open waits for the device to run
 * (default 20) io_priority         SCHED_FIFO priority of the I/O thread, 0: none (default 81)
 *   attempts            starts before open gives up (default 12)
 *   block_size, greetings, latency_run_ms, latency_upload_ms, divisor_run, event_character,
 *   keep_homing_bit, homing_bit, led_red, led_green, led_blue, answer_timeout_s, silence_timeout_s
 *                       see falcon_link_settings; for units that differ from what most sources say
 */
#ifndef DEVICES_FALCON_H
#define DEVICES_FALCON_H

#include "devices/device.h"
#include "devices/falcon/host.h"
#include "devices/falcon/link.h"

extern const device_driver device_falcon;

/* Opens a falcon device on another transport (an emulated one), which then belongs to the device.
 */
HR_MUST_USE hr_status falcon_open_transport(falcon_transport *transport,
                                            const device_settings *settings, device **out,
                                            hr_error *error);

typedef struct falcon_status {
    falcon_state state;
    falcon_link_counts counts;
    uint8_t homed;              /* bit per arm */
    uint64_t late_reads;        /* reads without a new report */
    char cause[200], loss[200]; /* as in falcon_link */
    char health[120];           /* of a link that runs */
    char log[FALCON_LOG_LINES][FALCON_LOG_WIDTH];
    int log_lines;
} falcon_status;

/* Any thread but the I/O thread; may block for a moment. For devices that device_falcon opened. */
void falcon_get_status(const device *dev, falcon_status *out);

/* The host's half, for calibration tools. */
const falcon_host *falcon_host_of(const device *dev);

#endif
