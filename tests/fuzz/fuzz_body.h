/* What the fuzzers of the body loaders share: any bytes as text; what loads is asked for nearest
 * points, what does not must say why. */
#ifndef TESTS_FUZZ_BODY_H
#define TESTS_FUZZ_BODY_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/body_closest.h"
#include "geometry/body_draft.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef hr_status (*body_parser)(const char *text, const char *name, parametric_body *out,
                                 hr_error *error);

static void ask_for_nearest(const parametric_body *b)
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

static int fuzz_body(const uint8_t *data, size_t size, body_parser parse)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    parametric_body b;
    hr_error error = {""};
    if (parse(text, "fuzz", &b, &error) == HR_OK) {
        ask_for_nearest(&b);
        parametric_body_free(&b);
    } else if (!error.text[0]) {
        abort(); /* refused without a word */
    }
    free(text);
    return 0;
}

#endif
