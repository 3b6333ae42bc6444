/* `haptic qp`: quadratic programmes and contact problems from files. */
#include <getopt.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "server/command.h"
#include "solver/qp_contacts.h"
#include "solver/qp_program.h"

static const char usage[] =
    "usage: haptic qp [--friction] [--passes N] [--iterations N] [--time S] FILE.json\n"
    "\n"
    "Solves a quadratic programme (two-sided rows) or a contact problem and prints a JSON\n"
    "object: status, objective, primal_residual, dual_residual, complementarity, iterations,\n"
    "ns and x; with --friction also residual.\n"
    "\n"
    "  --friction      contact problems: Coulomb friction instead of none\n"
    "  --passes N      exactly N programmes for friction (default: as many as it takes)\n"
    "  --iterations N  most exchanges of the active set\n"
    "  --time S        most seconds (default 120)\n"
    "  --help          this text\n";

typedef struct options {
    bool has_friction, wants_help;
    int passes, iterations;
    double time_s;
} options;

static const struct option names[] = {
    {"friction", no_argument, NULL, 'f'},
    {"passes", required_argument, NULL, 'p'},
    {"iterations", required_argument, NULL, 'i'},
    {"time", required_argument, NULL, 't'},
    {"json", no_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A whole number from 1 on, all of the text; 0 otherwise. */
static int count_of(const char *text)
{
    char *end = NULL;
    long value = strtol(text, &end, 10);
    return *text && !*end && value > 0 && value < 1000000000 ? (int)value : 0;
}

static int read_option(int letter, options *o)
{
    char *end = NULL;
    switch (letter) {
    case 'f':
        o->has_friction = true;
        return COMMAND_OK;
    case 'p':
    case 'i': {
        int count = count_of(optarg);
        *(letter == 'p' ? &o->passes : &o->iterations) = count;
        if (count == 0)
            return command_usage_error("qp", "expected a count from 1 on, found \"%s\"", optarg);
        return COMMAND_OK;
    }
    case 't':
        o->time_s = strtod(optarg, &end);
        if (!*optarg || *end || !(o->time_s > 0 && o->time_s <= 86400))
            return command_usage_error(
                "qp", "--time: expected seconds from above 0 to 86400, found \"%s\"", optarg);
        return COMMAND_OK;
    case 'j': /* JSON is all there is */
        return COMMAND_OK;
    case 'h':
        o->wants_help = true;
        return COMMAND_OK;
    default:
        return command_usage_error("qp", "unknown or incomplete option");
    }
}

static const char *status_name(qp_status status)
{
    switch (status) {
    case QP_OPTIMAL:
        return "optimal";
    case QP_INFEASIBLE:
        return "infeasible";
    case QP_DEADLINE:
        return "time_limit";
    case QP_ITERATIONS:
    case QP_DEGRADED:
    case QP_REFUSED:
        return "max_iterations";
    }
    return "max_iterations";
}

/* A number JSON can hold. */
static json_t *number(double value)
{
    return isfinite(value) ? json_real(value == 0.0 ? 0.0 : value) : json_null(); /* no -0 */
}

static json_t *numbers(const double *values, int count)
{
    json_t *array = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(array, number(values[i]));
    return array;
}

static int print(json_t *out)
{
    char *text = json_dumps(out, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(out);
    if (!text)
        return COMMAND_FAILED;
    puts(text);
    free(text);
    return COMMAND_OK;
}

static int fail(const char *file, const char *matrix, hr_status status)
{
    if (status == HR_ERR_ARGUMENT) {
        fprintf(stderr,
                "%s:1: %s: expected a positive semidefinite matrix, found negative curvature\n",
                file, matrix);
        return COMMAND_BAD_INPUT;
    }
    if (status == HR_ERR_SINGULAR) {
        fprintf(stderr, "%s:1: M: expected a positive definite matrix, found one that is not\n",
                file);
        return COMMAND_BAD_INPUT;
    }
    fprintf(stderr, "%s:0: expected a problem that fits, found: %s\n", file, status_text(status));
    return status == HR_ERR_MEMORY ? COMMAND_FAILED : COMMAND_BAD_INPUT;
}

static void add_common(json_t *out, double primal, double dual, double complementarity)
{
    json_object_set_new(out, "primal_residual", number(primal));
    json_object_set_new(out, "dual_residual", number(dual));
    json_object_set_new(out, "complementarity", number(complementarity));
}

/* Where there is no answer, why: factors of the rows that contradict each other, or the ray. */
static void add_certificate(json_t *out, const qp_program *p, const qp_answer *a)
{
    if (a->status != QP_INFEASIBLE)
        return;
    json_object_set_new(out, "reason",
                        json_string(a->is_unbounded ? "the objective is unbounded below"
                                                    : "the rows contradict each other"));
    json_object_set_new(out, "certificate",
                        numbers(a->is_unbounded ? a->x : a->y, a->is_unbounded ? p->n : p->m));
}

static int solve_program(const char *file, const qp_problem *problem, const options *o)
{
    qp_program p = {.n = problem->n,
                    .m = problem->m,
                    .q = problem->q,
                    .low = problem->low,
                    .high = problem->high};
    qp_answer a = {0};
    hr_status status = HR_ERR_MEMORY;
    int64_t start = now_ns();
    if (qp_sparse_symmetric(&problem->p, &p.p) && qp_sparse_from_triplets(&problem->a, false, &p.a))
        status = qp_program_solve(
            &p, (qp_program_limits){o->iterations, (int64_t)(o->time_s * 1e9)}, &a);
    int64_t ns = now_ns() - start;
    int code = COMMAND_FAILED;
    if (status == HR_OK) {
        json_t *out = json_object();
        json_object_set_new(out, "status", json_string(status_name(a.status)));
        json_object_set_new(out, "objective", number(a.objective + problem->constant));
        add_common(out, a.primal_residual, a.dual_residual, a.complementarity);
        json_object_set_new(out, "iterations", json_integer(a.iterations));
        json_object_set_new(out, "ns", json_integer(ns));
        json_object_set_new(out, "method", json_string(a.method));
        add_certificate(out, &p, &a);
        json_object_set_new(out, "x", numbers(a.x, p.n));
        json_object_set_new(out, "y", numbers(a.y, p.m));
        code = print(out);
    } else {
        code = fail(file, "P", status);
    }
    qp_answer_free(&a);
    qp_sparse_free(&p.p);
    qp_sparse_free(&p.a);
    return code;
}

static int solve_contacts(const char *file, const qp_problem *problem, const options *o)
{
    qp_contact_answer a;
    int64_t start = now_ns();
    hr_status status =
        qp_contacts_solve(problem,
                          (qp_contact_options){.has_friction = o->has_friction,
                                               .passes = o->passes,
                                               .iterations = o->iterations,
                                               .time_ns = (int64_t)(o->time_s * 1e9)},
                          &a);
    int64_t ns = now_ns() - start;
    int code;
    if (status == HR_OK) {
        json_t *out = json_object();
        json_object_set_new(out, "status", json_string(status_name(a.status)));
        json_object_set_new(out, "objective", number(a.objective));
        add_common(out, a.primal_residual, a.dual_residual, a.complementarity);
        json_object_set_new(out, "iterations", json_integer(a.iterations));
        json_object_set_new(out, "ns", json_integer(ns));
        if (o->has_friction) {
            json_object_set_new(out, "residual", number(a.residual));
            json_object_set_new(out, "passes", json_integer(a.passes));
        }
        json_object_set_new(out, "x", numbers(a.x, a.x_count));
        json_object_set_new(out, "r", numbers(a.r, problem->dimension * problem->contacts));
        code = print(out);
    } else {
        code = fail(file, "W", status);
    }
    qp_contact_answer_free(&a);
    return code;
}

int cmd_qp(int argc, char **argv)
{
    options o = {.time_s = 120};
    int letter;
    opterr = 0;
    while ((letter = getopt_long(argc, argv, "", names, NULL)) != -1) {
        int code = read_option(letter, &o);
        if (code != COMMAND_OK)
            return code;
    }
    if (o.wants_help) {
        fputs(usage, stdout);
        return COMMAND_OK;
    }
    if (argc - optind != 1)
        return command_usage_error("qp", "expected one problem file, found %d", argc - optind);
    const char *file = argv[optind];
    qp_problem problem;
    hr_error error;
    if (qp_problem_load(file, &problem, &error) != HR_OK)
        return command_input_error(&error);
    int code = problem.kind == QP_PROBLEM_PROGRAM ? solve_program(file, &problem, &o)
                                                  : solve_contacts(file, &problem, &o);
    qp_problem_free(&problem);
    return code;
}
