/* The servo under the real-time sanitizer's runtime (clang 19): every tick between enter and exit,
 * where the runtime ends the process at the first malloc, lock, or other call that may block.
 *
 *   rtsan_servo clean|allocate|lock|print|map
 *
 * The servo's own sleep (which that runtime does not know) comes before the tick is entered. */
#include <stdio.h>
#include <string.h>

#include "tests/support/clean_run.h"

void __rtsan_init(void);
void __rtsan_realtime_enter(void);
void __rtsan_realtime_exit(void);

enum { WARM_UP = 300, TICKS = 700 };

static offence by_name(const char *name)
{
    static const struct {
        const char *name;
        offence kind;
    } all[] = {{"allocate", OFFENCE_ALLOCATE},
               {"lock", OFFENCE_LOCK},
               {"print", OFFENCE_PRINT},
               {"map", OFFENCE_MAP}};
    for (int i = 0; i < HR_COUNT(all); i++)
        if (strcmp(all[i].name, name) == 0)
            return all[i].kind;
    return OFFENCE_NONE;
}

int main(int argc, char **argv)
{
    static clean_run run;
    __rtsan_init();
    clean_run_open(&run, argc > 1 ? by_name(argv[1]) : OFFENCE_NONE);
    clean_run_ticks(&run, WARM_UP);
    clean_run_offend();
    servo *s = &run.server->servo;
    for (int i = 0; i < TICKS; i++) {
        servo_clock_wait(&s->clock, s->planned_ns);
        __rtsan_realtime_enter();
        servo_tick(s); /* its own sleep is over already */
        __rtsan_realtime_exit();
    }
    clean_run_close(&run);
    printf("%d ticks\n", TICKS);
    return 0;
}
