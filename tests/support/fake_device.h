/* A device for tests: shows the position it is told to, remembers what it was sent, fails on
 * demand, and can take (virtual) time for its exchange. */
#ifndef TESTS_SUPPORT_FAKE_DEVICE_H
#define TESTS_SUPPORT_FAKE_DEVICE_H

#include "devices/device.h"

struct device {
    vec3 position;
    hr_status read_fails_with, write_fails_with;
    bool has_motors;
    bool is_enabled;
    int reads, writes, calibrations, closes;
    int zero_writes; /* in a row, up to now */
    int64_t last_read_ns, last_write_ns;
    device_command last;
    double largest; /* N, of all forces so far */
    uint64_t sequence;
};

extern const device_driver fake_driver;

#endif
