/* Faults that a simulated device shows on request.
 *
 * Text: statements separated by ';' or newlines, "KIND at T" or "KIND at T for D", times in s since
 * the first read. Without "for" a fault lasts one millisecond, but `unplug` and `frozen` for ever.
 *     nan       positions are not numbers
 *     jump      the encoders are off by 150 counts each
 *     frozen    the encoders stand still
 *     unplug    the device is gone
 *     silent    no report comes and no command arrives
 *     late      no report comes; commands still arrive */
#ifndef DEVICES_SIM_FAULTS_H
#define DEVICES_SIM_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "geometry/error.h"

enum {
    SIM_FAULT_NAN = 1u << 0,
    SIM_FAULT_JUMP = 1u << 1,
    SIM_FAULT_FROZEN = 1u << 2,
    SIM_FAULT_UNPLUG = 1u << 3,
    SIM_FAULT_SILENT = 1u << 4,
    SIM_FAULT_LATE = 1u << 5,
    SIM_FAULTS_MAX = 64
};

typedef struct sim_fault {
    uint32_t kind;
    double start, end; /* s */
} sim_fault;

typedef struct sim_faults {
    sim_fault items[SIM_FAULTS_MAX];
    int count;
} sim_faults;

/* *out is untouched on failure. */
HR_MUST_USE hr_status sim_faults_parse(const char *text, size_t size, const char *name,
                                       sim_faults *out, hr_error *error);

/* All that hold at a time, as SIM_FAULT_* bits. */
HR_RT uint32_t sim_faults_at(const sim_faults *faults, double time);

#endif
