/* Random scripts for the simulated hand: it goes after the bodies of a world, slow and fast,
 * slides, taps, presses, circles, lets go. The same seed gives the same script. */
#ifndef TESTS_SUPPORT_RANDOM_HAND_H
#define TESTS_SUPPORT_RANDOM_HAND_H

#include <stddef.h>

#include "server/world.h"
#include "tests/test.h"

/* Writes a script of about `seconds`; targets stay within `reach` (m) of the middle of the
 * workspace, which is at `centre` in the world. `with_buttons`: also presses and releases button 0.
 */
void random_hand_script(test_random *r, const world *w, vec3 centre, double reach, double seconds,
                        bool with_buttons, char *out, size_t size);

#endif
