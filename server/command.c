#include "server/command.h"

#include <stdarg.h>
#include <stdio.h>

int command_usage_error(const char *name, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    fprintf(stderr, "haptic %s: ", name);
    vfprintf(stderr, format, values);
    fprintf(stderr, "\nTry 'haptic %s --help'.\n", name);
    va_end(values);
    return COMMAND_BAD_INPUT;
}

int command_input_error(const hr_error *error)
{
    fprintf(stderr, "%s\n", error->text);
    return COMMAND_BAD_INPUT;
}
