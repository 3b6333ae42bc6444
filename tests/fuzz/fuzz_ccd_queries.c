/* Any bytes as a query file; what parses is run through the feature test. */
#include <stdint.h>

#include "collide/ccd_queries.h"
#include "collide/feature_ccd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ccd_queries q;
    hr_error error;
    if (ccd_queries_parse((const char *)data, size, "fuzz", &q, &error) != HR_OK)
        return 0;
    feature_limits limits = feature_limits_default();
    limits.nodes = 2000;
    for (int i = 0; i < q.count; i++) {
        for (int kind = 0; kind < 2; kind++) {
            feature_motion m =
                feature_motion_linear((feature_kind)kind, q.items[i].start, q.items[i].end);
            feature_result r;
            feature_ccd(&m, 0, 1, &limits, &r);
        }
    }
    ccd_queries_free(&q);
    return 0;
}
