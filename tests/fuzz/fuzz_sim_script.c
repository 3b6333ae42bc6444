/* Any bytes as a hand's script and as a list of faults; what parses is played. */
#include <stdint.h>
#include <stdlib.h>

#include "devices/sim_faults.h"
#include "devices/sim_hand.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static sim_script script;
    static sim_hand hand;
    sim_faults faults;
    hr_error error;
    if (sim_faults_parse((const char *)data, size, "fuzz", &faults, &error) == HR_OK)
        (void)sim_faults_at(&faults, 1);
    if (sim_script_parse((const char *)data, size, "fuzz", &script, &error) != HR_OK)
        return 0;
    sim_hand_init(&hand, (sim_grip){.mass = 0.2, .tremor = 1e-5}, &script, size);
    for (int n = 0; n <= 64; n++) {
        sim_intent intent;
        sim_hand_intent(&hand, script.length * n / 30, &intent);
        if (!vec3_is_finite(intent.target) || !(intent.holding >= 0 && intent.holding <= 1))
            abort();
    }
    return 0;
}
