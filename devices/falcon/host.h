/* The servo's side of a Falcon: reports to samples, forces to motor values. Knows no transport.
 * Everything but init is callable from the servo thread. */
#ifndef DEVICES_FALCON_HOST_H
#define DEVICES_FALCON_HOST_H

#include "devices/device.h"
#include "devices/falcon/health.h"
#include "devices/falcon/protocol.h"
#include "devices/falcon/tracker.h"

/* What differs from unit to unit; from the calibration file. */
typedef struct falcon_calibration {
    double units_per_newton_metre[3]; /* motor gain, arm by arm */
    double angle_offset[3];           /* rad, added to the arm's angle */
    double centre_z;                  /* m, where the base frame's origin is in the device's */
    double arm_depth;                 /* m: forces only after the grip was pulled out beyond this z;
                                         0: at once */
} falcon_calibration;

falcon_calibration falcon_calibration_default(void);

typedef struct falcon_host {
    falcon_calibration calibration;
    falcon_motors motors;
    falcon_tracker tracker;
    falcon_debounce buttons;
    falcon_frozen frozen;
    vec3 force; /* N, device frame, of the last command */
    device_sample sample;
    uint8_t homed;
    bool is_enabled, is_saturated, is_armed;
    uint64_t unreachable; /* reports whose angles fit no position */
} falcon_host;

void falcon_host_init(falcon_host *h, const falcon_calibration *calibration);

/* Starts over: the connection was lost. Forces are off until enabled again. */
HR_RT void falcon_host_reset(falcon_host *h);

/* Takes a report that came at time_ns. HR_ERR_PROTOCOL where its angles fit no position; *out then
 * stays as it was. */
HR_RT hr_status falcon_host_report(falcon_host *h, int64_t time_ns, const falcon_report *report,
                                   device_sample *out);

/* What every Falcon is, as CHAI3D describes it; latency, watchdog and motors are the caller's. */
void falcon_describe(device_description *out);

/* Motor values for a force in the base frame; zeros and a status where it is refused. */
HR_RT hr_status falcon_host_force(falcon_host *h, vec3 force, int16_t values[3]);

/* "x y z" lines: reads and writes calibration files (keys of falcon_calibration, one per line, '#'
 * comments). Not for the servo thread. */
HR_MUST_USE hr_status falcon_calibration_parse(const char *text, size_t size, const char *name,
                                               falcon_calibration *out, hr_error *error);
int falcon_calibration_print(const falcon_calibration *c, const char *serial, char *out,
                             size_t size);

#endif
