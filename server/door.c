#include "server/door.h"

enum {
    COMMANDS_MAX = 64, /* on their way at once */
    REPORTS_MAX = 16   /* 160 ms at 100 Hz; a slow reader loses reports, never delays the servo */
};

hr_status door_init(door *d, bool wants_reports)
{
    *d = (door){0};
    hr_status status = ring_init(&d->commands, COMMANDS_MAX, sizeof(servo_command));
    if (status == HR_OK)
        status = ring_init(&d->applied, COMMANDS_MAX, sizeof(servo_command));
    if (status == HR_OK && wants_reports)
        status = ring_init(&d->reports, REPORTS_MAX, sizeof(servo_report));
    if (status != HR_OK)
        door_destroy(d);
    return status;
}

void door_destroy(door *d)
{
    ring_destroy(&d->commands);
    ring_destroy(&d->applied);
    ring_destroy(&d->reports);
}
