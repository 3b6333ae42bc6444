/* `haptic dynamics`: accelerations of the joints of a URDF model for states read from stdin. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/urdf.h"
#include "server/command.h"
#include "solver/articulated.h"
#include "solver/articulated_body.h"

static const char usage[] =
    "usage: haptic dynamics MODEL.urdf [--active M] [--gravity x y z] [--json] < states.csv\n"
    "\n"
    "Each input line holds q, then qd, then tau, in the order of the movable joints in the\n"
    "file; each output line holds qdd. The base is fixed. Limits, damping, friction and\n"
    "mimic coupling are left out. A spherical joint has q = w x y z and qd in its own axes, a\n"
    "floating one q = x y z w x y z and qd = angular, then linear velocity in its own axes.\n"
    "\n"
    "  --active M         adaptive: at most M joints move, chosen by the velocity they would have\n"
    "                     after 20 ms; the others are at rest, locked, and get 0\n"
    "  --gravity x y z    m/s^2 (default 0 0 -9.81)\n"
    "  --json             one JSON object per line instead: qdd, and with --active the names of "
    "the\n"
    "                     joints that move\n"
    "  --help             this text\n";

typedef struct options {
    const char *model;
    vec3 gravity;
    int active; /* 0: all */
    bool wants_json;
} options;

/* The joints in the order of the file, and buffers in both orders. */
typedef struct job {
    model model;
    articulated_body *solver; /* all joints */
    articulated *adaptive;    /* with --active, else NULL */
    int joint_count;          /* movable */
    int *joints;              /* model joints in file order */
    double *row;              /* q, qd, tau in file order */
    double *q, *qd, *tau, *qdd;
} job;

static int by_file_order(const void *a, const void *b, void *context)
{
    const model *m = context;
    int x = m->joints[*(const int *)a].file_order, y = m->joints[*(const int *)b].file_order;
    return (x > y) - (x < y);
}

static void print_warning(void *context, const char *text)
{
    (void)context;
    fprintf(stderr, "warning: %s\n", text);
}

static bool prepare(job *j, const options *o)
{
    model *m = &j->model;
    size_t q = (size_t)m->q_count, v = (size_t)m->v_count;
    j->joints = calloc((size_t)m->link_count, sizeof *j->joints);
    j->row = calloc(2 * q + 5 * v + 1, sizeof *j->row);
    j->solver = articulated_body_create(m);
    if (o->active > 0) {
        articulated_options how = {.gravity = o->gravity};
        j->adaptive = articulated_create(m, &how);
    }
    if (!j->joints || !j->row || !j->solver || (o->active > 0 && !j->adaptive))
        return false;
    j->q = j->row + q + 2 * v;
    j->qd = j->q + q;
    j->tau = j->qd + v;
    j->qdd = j->tau + v;
    for (int i = 1; i < m->link_count; i++)
        if (joint_v_count(m->joints[i].type) > 0)
            j->joints[j->joint_count++] = i;
    qsort_r(j->joints, (size_t)j->joint_count, sizeof *j->joints, by_file_order, m);
    return true;
}

static void release(job *j)
{
    articulated_body_destroy(j->solver);
    articulated_destroy(j->adaptive);
    model_free(&j->model);
    free(j->joints);
    free(j->row);
}

/* Copies `row` (file order) into model order; returns the end of what was used. */
static const double *place(const job *j, const double *row, double *out, bool is_q)
{
    for (int i = 0; i < j->joint_count; i++) {
        const model_joint *joint = &j->model.joints[j->joints[i]];
        int count = is_q ? joint_q_count(joint->type) : joint_v_count(joint->type);
        memcpy(out + (is_q ? joint->q : joint->v), row, (size_t)count * sizeof *row);
        row += count;
    }
    return row;
}

/* Exactly `count` finite numbers with commas or spaces between; what is wrong otherwise. */
static bool read_row(const char *line, double *row, int count, int number, hr_error *error)
{
    const char *at = line;
    int found = 0;
    for (;;) {
        at += strspn(at, " \t\r\n");
        if (*at == '\0')
            break;
        char *end = NULL;
        double value = strtod(at, &end);
        if (end == at || !isfinite(value) || (*end && !strchr(", \t\r\n", *end))) {
            error_set(error, HR_ERR_FORMAT, "stdin:%d:%d: expected a finite number, found \"%.*s\"",
                      number, (int)(at - line) + 1, (int)strcspn(at, ", \t\r\n"), at);
            return false;
        }
        if (found < count)
            row[found] = value;
        found++;
        at = end + strspn(end, " \t\r\n");
        at += *at == ',';
    }
    if (found != count)
        error_set(error, HR_ERR_FORMAT,
                  "stdin:%d: expected %d numbers (q, qd and tau of every movable joint), found %d",
                  number, count, found);
    return found == count;
}

static void print_row(const job *j)
{
    bool is_first = true;
    for (int i = 0; i < j->joint_count; i++) {
        const model_joint *joint = &j->model.joints[j->joints[i]];
        for (int k = 0; k < joint_v_count(joint->type); k++) {
            printf("%s%.17g", is_first ? "" : ",", j->qdd[joint->v + k]);
            is_first = false;
        }
    }
    putchar('\n');
}

static int print_json(const job *j)
{
    json_t *qdd = json_array(), *active = json_array();
    for (int i = 0; i < j->joint_count; i++) {
        const model_joint *joint = &j->model.joints[j->joints[i]];
        for (int k = 0; k < joint_v_count(joint->type); k++)
            json_array_append_new(qdd, json_real(j->qdd[joint->v + k]));
        if (j->adaptive && articulated_is_active(j->adaptive, j->model.links[j->joints[i]].body))
            json_array_append_new(active, json_string(joint->name));
    }
    json_t *all = json_pack("{s:o}", "qdd", qdd);
    if (all && j->adaptive)
        json_object_set(all, "active", active);
    int bad = all ? json_dumpf(all, stdout, JSON_COMPACT) : -1;
    putchar('\n');
    json_decref(active);
    json_decref(all);
    return bad == 0 ? COMMAND_OK : COMMAND_FAILED;
}

/* The quaternions must have a direction; their lengths do not matter. */
static bool has_rotations(const job *j, int number, hr_error *error)
{
    for (int i = 0; i < j->joint_count; i++) {
        const model_joint *joint = &j->model.joints[j->joints[i]];
        const double *q = j->q + joint->q + (joint->type == JOINT_FLOATING ? 3 : 0);
        if (joint->type != JOINT_SPHERICAL && joint->type != JOINT_FLOATING)
            continue;
        double size = hypot(hypot(q[0], q[1]), hypot(q[2], q[3]));
        if (size > 1e-9 && size < 1e9)
            continue;
        error_set(error, HR_ERR_FORMAT,
                  "stdin:%d: joint \"%.80s\": expected a quaternion w x y z, found %g %g %g %g",
                  number, joint->name, q[0], q[1], q[2], q[3]);
        return false;
    }
    return true;
}

static hr_status solve_plain(job *j, const options *o)
{
    articulated_body_input in = {.q = j->q, .qd = j->qd, .tau = j->tau, .gravity = o->gravity};
    return articulated_body_accelerations(j->solver, &in, j->qdd);
}

/* Chooses the joints from the whole state, then takes the others as they are: at rest. */
static hr_status solve_adaptive(job *j, const options *o)
{
    const model *m = &j->model;
    for (int i = 1; i < m->link_count; i++) { /* the solver wants unit quaternions */
        const model_joint *joint = &m->joints[i];
        double none[JOINT_V_MAX] = {0};
        joint_integrate(joint->type, j->q + joint->q, none, 0);
    }
    articulated_set_state(j->adaptive, j->q, j->qd);
    for (int i = 0; i < m->v_count; i++)
        articulated_set_force(j->adaptive, i, j->tau[i]);
    articulated_use_metric(j->adaptive, (articulated_metric){.s0 = 1, .s1 = 0.02});
    (void)articulated_select(j->adaptive, (articulated_selection){.budget = o->active});
    articulated_set_velocity(j->adaptive, j->qd);
    articulated_accelerate(j->adaptive);
    memcpy(j->qdd, articulated_qdd(j->adaptive), (size_t)m->v_count * sizeof *j->qdd);
    for (int i = 0; i < m->v_count; i++)
        if (!isfinite(j->qdd[i]))
            return HR_ERR_NOT_FINITE;
    return HR_OK;
}

static int solve_row(job *j, const options *o, int number)
{
    const double *rest = place(j, j->row, j->q, true);
    rest = place(j, rest, j->qd, false);
    (void)place(j, rest, j->tau, false);
    hr_error error;
    if (!has_rotations(j, number, &error))
        return command_input_error(&error);
    hr_status status = j->adaptive ? solve_adaptive(j, o) : solve_plain(j, o);
    if (status != HR_OK) {
        fprintf(stderr, "stdin:%d: no accelerations: %s\n", number, status_text(status));
        return COMMAND_FAILED;
    }
    if (o->wants_json)
        return print_json(j);
    print_row(j);
    return COMMAND_OK;
}

static bool is_blank(const char *line)
{
    line += strspn(line, " \t\r\n");
    return *line == '\0' || *line == '#';
}

static int solve_rows(job *j, const options *o)
{
    char *line = NULL;
    size_t room = 0;
    int code = COMMAND_OK;
    int count = j->model.q_count + 2 * j->model.v_count;
    for (int number = 1; code == COMMAND_OK && getline(&line, &room, stdin) >= 0; number++) {
        hr_error error;
        bool has_mark = number == 1 && strncmp(line, "\xef\xbb\xbf", 3) == 0;
        const char *text = has_mark ? line + 3 : line; /* spreadsheets write a byte order mark */
        if (is_blank(text))
            continue;
        code = read_row(text, j->row, count, number, &error) ? solve_row(j, o, number)
                                                             : command_input_error(&error);
    }
    free(line);
    return code;
}

static bool number(const char *text, double *out)
{
    char *end = NULL;
    *out = strtod(text, &end);
    return *text && !*end && isfinite(*out);
}

static int read_active(const char *text, int *out)
{
    char *end = NULL;
    long count = text ? strtol(text, &end, 10) : 0;
    if (!text || end == text || *end || count < 1 || count > 1000000)
        return command_usage_error("dynamics", "--active: expected a number of joints");
    *out = (int)count;
    return COMMAND_OK;
}

/* By hand, because --gravity takes three values of which some start with a minus sign. */
static int read_options(int argc, char **argv, options *o)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--gravity") == 0) {
            double g[3];
            for (int k = 0; k < 3; k++)
                if (i + 1 >= argc || !number(argv[++i], &g[k]))
                    return command_usage_error("dynamics",
                                               "--gravity: expected three numbers x y z");
            o->gravity = (vec3){g[0], g[1], g[2]};
        } else if (strcmp(argv[i], "--active") == 0) {
            int code = read_active(i + 1 < argc ? argv[++i] : NULL, &o->active);
            if (code != COMMAND_OK)
                return code;
        } else if (strncmp(argv[i], "--active=", 9) == 0) {
            int code = read_active(argv[i] + 9, &o->active);
            if (code != COMMAND_OK)
                return code;
        } else if (strcmp(argv[i], "--json") == 0) {
            o->wants_json = true;
        } else if (argv[i][0] == '-') {
            return command_usage_error("dynamics", "unknown option %s", argv[i]);
        } else if (o->model) {
            return command_usage_error("dynamics", "expected one model, found a second: %s",
                                       argv[i]);
        } else {
            o->model = argv[i];
        }
    }
    if (!o->model)
        return command_usage_error("dynamics", "expected a model, found none");
    return COMMAND_OK;
}

int cmd_dynamics(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0) {
            fputs(usage, stdout);
            return COMMAND_OK;
        }
    options o = {.gravity = {0, 0, -9.81}};
    int code = read_options(argc, argv, &o);
    if (code != COMMAND_OK)
        return code;
    job j = {0};
    hr_error error;
    urdf_options how = {.meshes = URDF_SKIP_MESHES, .warn = print_warning};
    if (urdf_load(o.model, how, &j.model, &error) != HR_OK)
        return command_input_error(&error);
    if (prepare(&j, &o)) {
        code = solve_rows(&j, &o);
    } else {
        fprintf(stderr, "haptic dynamics: out of memory\n");
        code = COMMAND_FAILED;
    }
    release(&j);
    return code;
}
