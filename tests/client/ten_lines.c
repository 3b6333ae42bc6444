/* The smallest client of libhaptic: a spring to the middle of the workspace, for a second. */
#include <haptic.h>

int main(int argc, char **argv)
{
    haptic_client *c = haptic_open(argc > 1 ? argv[1] : 0, 0, 0, 0);
    haptic_state s;
    int ticks = 0;
    for (; c && ticks < 1000 && haptic_wait(c, &s) == 0; ticks++) {
        double f[3] = {-50 * s.position[0], -50 * s.position[1], -50 * s.position[2]};
        haptic_force(c, f, 0.005);
    }
    haptic_close(c);
    return ticks == 1000 ? 0 : 1;
}
