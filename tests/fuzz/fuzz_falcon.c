/* Any bytes as a report stream, a firmware file and a calibration file. */
#include <stdint.h>
#include <stdlib.h>

#include "devices/falcon/firmware.h"
#include "devices/falcon/host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static falcon_firmware firmware;
    falcon_parser parser = {0};
    falcon_calibration calibration = falcon_calibration_default();
    falcon_host host;
    hr_error error;
    (void)!falcon_firmware_check(data, size, "fuzz", &firmware, &error);
    (void)!falcon_calibration_parse((const char *)data, size, "fuzz", &calibration, &error);
    falcon_host_init(&host, &calibration);
    host.is_enabled = true;
    for (size_t i = 0; i < size; i++) {
        falcon_report report;
        device_sample sample = {0};
        int16_t values[3];
        if (!falcon_parser_add(&parser, data[i], &report))
            continue;
        if (falcon_host_report(&host, (int64_t)i * 100000, &report, &sample) == HR_OK &&
            !(vec3_is_finite(sample.position) && vec3_is_finite(sample.velocity)))
            abort();
        (void)falcon_host_force(&host, (vec3){1, 2, 3}, values);
    }
    return 0;
}
