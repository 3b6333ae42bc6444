/* No text may crash the reader of scene files or leave half a result. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config/scene.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static scene out, before;
    hr_error error = {{0}};
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = 0;
    memset(&out, 0x5a, sizeof(out));
    memset(&before, 0x5a, sizeof(before));
    if (scene_parse(text, "fuzz", &out, &error) != HR_OK &&
        (memcmp(&out, &before, sizeof(out)) != 0 || !error.text[0]))
        abort();
    free(text);
    return 0;
}
