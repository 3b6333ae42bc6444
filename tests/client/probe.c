/* usage: probe SOCKET watch SECONDS | push SECONDS FX FY FZ | hold FX FY FZ
 * A client for the tests: prints "position X Y Z force X Y Z reasons R" at the end of its time.
 * `hold` pushes until it is killed. */
#include <haptic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    char message[200] = "";
    if (argc < 4)
        return 2;
    haptic_client *c = haptic_open(argv[1], 0, message, sizeof message);
    if (!c) {
        fprintf(stderr, "%s\n", message);
        return 1;
    }
    int is_hold = strcmp(argv[2], "hold") == 0;
    int is_push = strcmp(argv[2], "push") == 0;
    int first = is_hold ? 3 : 4;
    double force[3] = {0, 0, 0};
    for (int i = 0; i < 3 && argc > first + i && (is_hold || is_push); i++)
        force[i] = atof(argv[first + i]);
    int ticks = is_hold ? 1000000 : (int)(atof(argv[3]) * 1000);
    haptic_state s = {0};
    uint64_t start = 0;
    for (int n = 0; n < ticks; n++) {
        if (haptic_wait(c, &s) != 0 ||
            ((is_hold || is_push) && haptic_force(c, force, 0.005) != 0)) {
            fprintf(stderr, "%s\n", haptic_error(c));
            return 1;
        }
        start = n == 0 ? s.tick : start;
    }
    printf(
        "position %.5f %.5f %.5f force %.4f %.4f %.4f reasons %u buttons %u ticks_per_wait %.3f\n",
        s.position[0], s.position[1], s.position[2], s.force[0], s.force[1], s.force[2], s.reasons,
        s.buttons, (double)(s.tick - start) / (ticks - 1));
    haptic_close(c);
    return 0;
}
