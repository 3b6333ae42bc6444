/* Any bytes as a free-form OBJ. */
#include "tests/fuzz/fuzz_body.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_body(data, size, body_parse_obj);
}
