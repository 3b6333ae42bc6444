/* `haptic`: the tool beside the server. Finds the sub-command and runs it. */
#include <stdio.h>
#include <string.h>

#include "server/command.h"
#include "server/version.h"

static void print_help(FILE *out)
{
    fprintf(out, "usage: haptic COMMAND [options]\n\ncommands:\n");
    for (const command *c = command_table; c->name; c++)
        fprintf(out, "  %-11s%s\n", c->name, c->summary);
    fprintf(out, "\n'haptic COMMAND --help' explains a command; 'haptic --version' prints the "
                 "version.\nThe server itself is 'hapticd'.\n");
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return COMMAND_BAD_INPUT;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_help(stdout);
        return COMMAND_OK;
    }
    if (strcmp(name, "--version") == 0) {
        printf("haptic %s\n", HR_VERSION);
        return COMMAND_OK;
    }
    for (const command *c = command_table; c->name; c++)
        if (strcmp(name, c->name) == 0)
            return c->run(argc - 1, argv + 1);
    fprintf(stderr, "haptic: no command '%s'; 'haptic --help' lists them\n", name);
    return COMMAND_BAD_INPUT;
}
