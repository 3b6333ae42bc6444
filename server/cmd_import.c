/* `haptic import`: CAD files into bodies, through the separate program haptic-import. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "geometry/parametric_body.h"
#include "server/command.h"

static const char usage[] =
    "usage: haptic import PART.step|.iges|.brep -o BODY.json\n"
    "\n"
    "Writes the surfaces of a CAD file as a body: analytic faces as exact rational patches,\n"
    "splines as they are. Lengths stay in the file's unit (millimetres for STEP). A face that\n"
    "cannot be written exactly is refused by its number and kind.\n"
    "\n"
    "  -o, --output FILE  the body file to write\n"
    "  --help             this text\n"
    "\n"
    "Needs OpenCASCADE: install Debian's libocct-data-exchange-dev and\n"
    "libocct-modeling-algorithms-dev, then run `make` again.\n";

static const struct option names[] = {
    {"output", required_argument, NULL, 'o'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* haptic-import beside this program, or where $HAPTIC_IMPORT says. */
static void find_importer(char *path, size_t size)
{
    const char *stated = getenv("HAPTIC_IMPORT");
    if (stated) {
        snprintf(path, size, "%s", stated);
        return;
    }
    char self[3000];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    snprintf(path, size, "%s/haptic-import", slash ? self : ".");
}

/* Runs it and waits; its exit code, or -1. */
static int run_importer(const char *importer, const char *in, const char *out)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        execl(importer, "haptic-import", in, out, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Reads back what was written: what cannot be loaded is not left behind under the final name. */
static int finish(const char *draft, const char *out)
{
    parametric_body b;
    hr_error error = {""};
    if (parametric_body_load(draft, &b, &error) != HR_OK)
        return command_input_error(&error);
    int open_edges = 0;
    for (int i = 0; i < b.edge_count; i++)
        open_edges += b.edges[i].use_count == 1;
    if (rename(draft, out) != 0) {
        fprintf(stderr, "haptic import: %s: could not be written: %s\n", out, strerror(errno));
        parametric_body_free(&b);
        return COMMAND_FAILED;
    }
    printf("%s: %d patches, %d edges (%d open), %d vertices, %s, %s\n", out, b.surface_count,
           b.edge_count, open_edges, b.vertex_count, b.is_closed ? "closed" : "open",
           b.is_convex ? "convex" : "not convex");
    parametric_body_free(&b);
    return COMMAND_OK;
}

static int import(const char *in, const char *out)
{
    char importer[4096], draft[4096];
    find_importer(importer, sizeof importer);
    if (access(importer, X_OK) != 0) {
        fprintf(stderr,
                "haptic import: expected the program %s, found none. It is built where\n"
                "OpenCASCADE is installed: apt-get install libocct-data-exchange-dev\n"
                "libocct-modeling-algorithms-dev, then make.\n",
                importer);
        return COMMAND_FAILED;
    }
    if (snprintf(draft, sizeof draft, "%s.part", out) >= (int)sizeof draft)
        return command_usage_error("import", "expected a shorter name for the output");
    int code = run_importer(importer, in, draft);
    if (code == 0)
        code = finish(draft, out);
    else if (code != COMMAND_BAD_INPUT) {
        fprintf(stderr, "%s: expected a part that OpenCASCADE can read, it failed (code %d)\n", in,
                code);
        code = COMMAND_FAILED;
    }
    unlink(draft);
    return code;
}

int cmd_import(int argc, char **argv)
{
    const char *out = NULL;
    int letter;
    opterr = 0;
    while ((letter = getopt_long(argc, argv, "o:", names, NULL)) != -1) {
        if (letter == 'h') {
            fputs(usage, stdout);
            return COMMAND_OK;
        }
        if (letter != 'o')
            return command_usage_error("import", "unknown or incomplete option");
        out = optarg;
    }
    if (argc - optind != 1 || !out)
        return command_usage_error("import", "expected one CAD file and -o BODY.json");
    return import(argv[optind], out);
}
