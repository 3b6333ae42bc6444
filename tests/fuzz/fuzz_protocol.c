/* Any bytes as what a control client sends: lines are split, parsed, and what parses is answered.
 */
#include <stdint.h>
#include <string.h>

#include "server/protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_line(const char *line, size_t length)
{
    static char text[PROTOCOL_REPLY_MAX];
    protocol_request request;
    hr_error error = {""};
    hr_status status = protocol_parse(line, length, 2, &request, &error);
    int printed = status == HR_OK ? protocol_print_done(&request, 1, text, sizeof text)
                                  : protocol_print_error(&request, error.text, text, sizeof text);
    /* an answer is always one line, and a command always ends its text */
    if (printed <= 0 || strchr(text, '\n') != text + printed - 1)
        __builtin_trap();
    if (memchr(request.command.text, '\0', sizeof request.command.text) == NULL)
        __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    while (size > 0) {
        const char *end = memchr(bytes, '\n', size);
        size_t length = end ? (size_t)(end - bytes) : size;
        try_line(bytes, length);
        size_t used = end ? length + 1 : length;
        bytes += used;
        size -= used;
    }
    return 0;
}
