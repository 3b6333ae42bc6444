/* Any bytes as a body file; what loads is asked for nearest points. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/body_closest.h"
#include "geometry/body_draft.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const parametric_body *b)
{
    body_finder *f = body_finder_create(b);
    static const vec3 points[] = {{0, 0, 0}, {1, 2, 3}, {-0.3, 0.1, 1e6}};
    for (int i = 0; f && i < HR_COUNT(points); i++) {
        body_nearest n;
        if (body_descend(b, 0, 0.3, 0.4, points[i], &n) != HR_OK)
            abort();
        hr_status status = body_find_nearest(f, points[i], &n);
        if (status != HR_OK && status != HR_ERR_MAX_ITER)
            abort();
    }
    body_finder_destroy(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    parametric_body b;
    hr_error error = {""};
    if (body_parse_json(text, "fuzz", &b, &error) == HR_OK) {
        ask(&b);
        parametric_body_free(&b);
    } else if (!error.text[0]) {
        abort(); /* refused without a word */
    }
    free(text);
    return 0;
}
