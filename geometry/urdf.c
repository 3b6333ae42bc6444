/* The URDF reader: links and joints from the file, ordered into a tree, turned into a model. */
#include "geometry/urdf.h"

#include <libxml/hash.h>
#include <libxml/parser.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "geometry/urdf_xml.h"

enum { NOT_FOUND = -1 };

typedef struct raw_joint {
    const xmlNode *node;
    const char *name;
    int parent, child; /* links of the file */
    int next;          /* the next joint on the same parent, in file order; -1: none */
} raw_joint;

/* The file's own numbering of links and joints, before they are ordered. */
typedef struct outline {
    urdf_reader reader;
    const xmlNode *robot;
    int link_count, joint_count;
    const xmlNode **links;
    raw_joint *joints;
    int *parent_joint;            /* by link: the joint that leads to it; -1: none yet */
    int *first_joint;             /* by link: the first joint that leaves it; -1: none */
    int *last_joint;              /* ... the last */
    int *model_link;              /* by link: its number in the model; -1: not reached */
    int *stack;                   /* of joints whose links are still to be added */
    xmlHashTablePtr link_by_name; /* values are number + 1, as pointers */
    xmlHashTablePtr joint_by_name;
} outline;

static int count_elements(const xmlNode *robot, const char *name)
{
    int count = 0;
    for (xmlNode *n = urdf_child(robot, name); n && count < INT_MAX / 64;
         n = urdf_next(n->next, name))
        count++;
    return count;
}

static bool allocate(outline *o)
{
    size_t links = (size_t)o->link_count + 1, joints = (size_t)o->joint_count + 1;
    o->links = calloc(links, sizeof(void *)); // NOLINT(bugprone-sizeof-expression)
    o->joints = calloc(joints, sizeof *o->joints);
    o->parent_joint = malloc(4 * links * sizeof(int));
    o->stack = malloc(joints * sizeof(int));
    o->link_by_name = xmlHashCreate(o->link_count + 1);
    o->joint_by_name = xmlHashCreate(o->joint_count + 1);
    if (!o->links || !o->joints || !o->parent_joint || !o->stack || !o->link_by_name ||
        !o->joint_by_name)
        return false;
    memset(o->parent_joint, 0xff, 4 * links * sizeof(int));
    o->first_joint = o->parent_joint + links;
    o->last_joint = o->first_joint + links;
    o->model_link = o->last_joint + links;
    return true;
}

static void release(outline *o)
{
    for (int i = 0; o->reader.mesh_keys && i < o->reader.model->mesh_count; i++)
        free(o->reader.mesh_keys[i]);
    free(o->reader.mesh_keys);
    free((void *)o->links);
    free(o->joints);
    free(o->parent_joint);
    free(o->stack);
    xmlHashFree(o->link_by_name, NULL);
    xmlHashFree(o->joint_by_name, NULL);
}

static int look_up(xmlHashTablePtr table, const char *name)
{
    return (int)(intptr_t)xmlHashLookup(table, (const xmlChar *)name) - 1;
}

/* Remembers the number of a name; refuses a second one of the same name. */
static hr_status remember(outline *o, xmlHashTablePtr table, const xmlNode *node, const char *name,
                          int number)
{
    if (look_up(table, name) != NOT_FOUND)
        return urdf_refuse(&o->reader, node, HR_ERR_FORMAT,
                           "<%s>: expected names that differ, found \"%.80s\" twice",
                           (const char *)node->name, name);
    void *value = (void *)(intptr_t)(number + 1); // NOLINT(performance-no-int-to-ptr)
    return xmlHashAddEntry(table, (const xmlChar *)name, value) == 0 ? HR_OK : HR_ERR_MEMORY;
}

static hr_status list_links(outline *o)
{
    int i = 0;
    for (xmlNode *n = urdf_child(o->robot, "link"); n; n = urdf_next(n->next, "link"), i++) {
        const char *name = NULL;
        hr_status status = urdf_required(&o->reader, n, "name", &name);
        if (status == HR_OK)
            status = remember(o, o->link_by_name, n, name, i);
        if (status != HR_OK)
            return status;
        o->links[i] = n;
    }
    return HR_OK;
}

/* The link that <parent link="..."/> or <child link="..."/> names. */
static hr_status end_of_joint(outline *o, const raw_joint *joint, const char *end, int *link)
{
    const xmlNode *node = urdf_child(joint->node, end);
    const char *name = NULL;
    if (!node)
        return urdf_refuse(&o->reader, joint->node, HR_ERR_FORMAT,
                           "joint \"%.80s\": expected <%s link=...>, found none", joint->name, end);
    hr_status status = urdf_required(&o->reader, node, "link", &name);
    if (status != HR_OK)
        return status;
    *link = look_up(o->link_by_name, name);
    if (*link == NOT_FOUND)
        return urdf_refuse(&o->reader, node, HR_ERR_NOT_FOUND,
                           "joint \"%.80s\": expected the name of a link, found no link \"%.80s\"",
                           joint->name, name);
    return HR_OK;
}

static hr_status list_joint(outline *o, raw_joint *joint, int number)
{
    hr_status status = urdf_required(&o->reader, joint->node, "name", &joint->name);
    if (status == HR_OK)
        status = remember(o, o->joint_by_name, joint->node, joint->name, number);
    if (status == HR_OK)
        status = end_of_joint(o, joint, "parent", &joint->parent);
    if (status == HR_OK)
        status = end_of_joint(o, joint, "child", &joint->child);
    if (status != HR_OK)
        return status;
    const char *child = urdf_text(o->links[joint->child], "name");
    if (o->parent_joint[joint->child] >= 0)
        return urdf_refuse(&o->reader, joint->node, HR_ERR_FORMAT,
                           "joint \"%.80s\": expected a tree, found a second parent of link "
                           "\"%.80s\" (the first by joint \"%.80s\")",
                           joint->name, child, o->joints[o->parent_joint[joint->child]].name);
    if (joint->parent == joint->child)
        return urdf_refuse(&o->reader, joint->node, HR_ERR_FORMAT,
                           "joint \"%.80s\": expected two links, found link \"%.80s\" joined to "
                           "itself",
                           joint->name, child);
    o->parent_joint[joint->child] = number;
    joint->next = -1;
    if (o->last_joint[joint->parent] >= 0)
        o->joints[o->last_joint[joint->parent]].next = number;
    else
        o->first_joint[joint->parent] = number;
    o->last_joint[joint->parent] = number;
    return HR_OK;
}

/* Transmissions and extensions also use the word joint; only direct children with a type count. */
static hr_status list_joints(outline *o)
{
    int i = 0;
    for (xmlNode *n = urdf_child(o->robot, "joint"); n; n = urdf_next(n->next, "joint"), i++) {
        o->joints[i].node = n;
        hr_status status = list_joint(o, &o->joints[i], i);
        if (status != HR_OK)
            return status;
    }
    return HR_OK;
}

/* The one link without a parent. */
static hr_status find_root(outline *o, int *root)
{
    *root = NOT_FOUND;
    for (int i = 0; i < o->link_count; i++) {
        if (o->parent_joint[i] >= 0)
            continue;
        if (*root != NOT_FOUND)
            return urdf_refuse(&o->reader, o->links[i], HR_ERR_FORMAT,
                               "expected one link without a parent, found \"%.80s\" and \"%.80s\"",
                               urdf_text(o->links[*root], "name"), urdf_text(o->links[i], "name"));
        *root = i;
    }
    if (*root == NOT_FOUND)
        return urdf_refuse(&o->reader, o->links[0], HR_ERR_FORMAT,
                           "expected a tree, found a loop through link \"%.80s\"",
                           urdf_text(o->links[0], "name"));
    return HR_OK;
}

static hr_status read_type(outline *o, const raw_joint *raw, joint_type *out)
{
    static const struct {
        const char *name;
        joint_type type;
    } types[] = {{"fixed", JOINT_FIXED},           {"revolute", JOINT_REVOLUTE},
                 {"continuous", JOINT_CONTINUOUS}, {"prismatic", JOINT_PRISMATIC},
                 {"floating", JOINT_FLOATING},     {"spherical", JOINT_SPHERICAL},
                 {"ball", JOINT_SPHERICAL},        {"screw", JOINT_SCREW}};
    const char *name = NULL;
    hr_status status = urdf_required(&o->reader, raw->node, "type", &name);
    if (status != HR_OK)
        return status;
    for (int i = 0; i < HR_COUNT(types); i++)
        if (strcmp(types[i].name, name) == 0) {
            *out = types[i].type;
            return HR_OK;
        }
    return urdf_refuse(&o->reader, raw->node, HR_ERR_FORMAT,
                       "joint \"%.80s\": expected type fixed, revolute, continuous, prismatic, "
                       "floating, spherical or screw, found \"%.40s\"",
                       raw->name, name);
}

static hr_status read_axis(outline *o, const raw_joint *raw, model_joint *joint)
{
    double xyz[3] = {1, 0, 0}, pitch = 0;
    hr_status status = urdf_numbers(&o->reader, urdf_child(raw->node, "axis"), "xyz", xyz, 3);
    if (status == HR_OK)
        status = urdf_numbers(&o->reader, urdf_child(raw->node, "screw"), "pitch", &pitch, 1);
    if (status != HR_OK)
        return status;
    vec3 axis = {xyz[0], xyz[1], xyz[2]};
    double length = hypot(hypot(axis.x, axis.y), axis.z);
    if (joint_v_count(joint->type) != 1)
        axis = (vec3){1, 0, 0}; /* the other types have no axis */
    else if (!(length > 1e-9) || !isfinite(length))
        return urdf_refuse(&o->reader, urdf_child(raw->node, "axis"), HR_ERR_FORMAT,
                           "joint \"%.80s\": expected an axis with a direction, found %g %g %g",
                           raw->name, axis.x, axis.y, axis.z);
    else
        axis = vec3_scale(1 / length, axis);
    joint->axis = axis;
    joint->pitch = pitch;
    return HR_OK;
}

static hr_status read_limits(outline *o, const raw_joint *raw, model_joint *joint)
{
    urdf_reader *r = &o->reader;
    const xmlNode *limit = urdf_child(raw->node, "limit");
    hr_status status = urdf_limit(r, limit, "lower", &joint->lower);
    if (status == HR_OK)
        status = urdf_limit(r, limit, "upper", &joint->upper);
    if (status == HR_OK)
        status = urdf_limit(r, limit, "effort", &joint->effort);
    if (status == HR_OK)
        status = urdf_limit(r, limit, "velocity", &joint->velocity);
    if (status != HR_OK)
        return status;
    bool may_have = joint->type == JOINT_REVOLUTE || joint->type == JOINT_PRISMATIC ||
                    joint->type == JOINT_SCREW;
    joint->has_limits = may_have && limit && joint->lower < joint->upper;
    if (may_have && limit && joint->lower > joint->upper)
        urdf_warn(r, limit, "joint \"%.80s\": lower limit %g above upper limit %g, both ignored",
                  raw->name, joint->lower, joint->upper);
    return HR_OK;
}

static hr_status read_dynamics(outline *o, const raw_joint *raw, model_joint *joint)
{
    urdf_reader *r = &o->reader;
    const xmlNode *node = urdf_child(raw->node, "dynamics");
    hr_status status = urdf_numbers(r, node, "damping", &joint->damping, 1);
    if (status == HR_OK)
        status = urdf_numbers(r, node, "friction", &joint->friction, 1);
    if (status == HR_OK)
        status = urdf_numbers(r, node, "armature", &joint->armature, 1);
    if (status == HR_OK && (joint->damping < 0 || joint->friction < 0 || joint->armature < 0))
        return urdf_refuse(r, node, HR_ERR_FORMAT,
                           "joint \"%.80s\": expected damping, friction and armature of at least 0",
                           raw->name);
    return status;
}

static hr_status read_joint(outline *o, int number, model_joint *joint)
{
    const raw_joint *raw = &o->joints[number];
    size_t length = strlen(raw->name);
    *joint = (model_joint){.mimic = -1, .mimic_multiplier = 1, .file_order = number};
    joint->name = strndup(raw->name, length);
    hr_status status = joint->name ? read_type(o, raw, &joint->type) : HR_ERR_MEMORY;
    if (status == HR_OK)
        status = urdf_origin(&o->reader, raw->node, &joint->parent_from_joint);
    if (status == HR_OK)
        status = read_axis(o, raw, joint);
    if (status == HR_OK)
        status = read_limits(o, raw, joint);
    if (status == HR_OK)
        status = read_dynamics(o, raw, joint);
    return status;
}

/* Real files break the triangle inequality and state nothing for helper links: both are accepted,
 * the sum of a body must be positive definite (model_finish sees to that). */
static hr_status read_inertial(outline *o, const xmlNode *link_node, model_link *link)
{
    static const char *const names[6] = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"};
    urdf_reader *r = &o->reader;
    const xmlNode *inertial = urdf_child(link_node, "inertial");
    if (!inertial)
        return HR_OK;
    pose link_from_inertia;
    double e[6] = {0};
    const xmlNode *mass = urdf_child(inertial, "mass"), *node = urdf_child(inertial, "inertia");
    hr_status status = urdf_origin(r, inertial, &link_from_inertia);
    if (status == HR_OK)
        status = urdf_numbers(r, mass, "value", &link->mass, 1);
    for (int i = 0; status == HR_OK && i < 6; i++)
        status = urdf_numbers(r, node, names[i], &e[i], 1);
    if (status != HR_OK)
        return status;
    if (link->mass < 0)
        return urdf_refuse(r, mass, HR_ERR_FORMAT,
                           "link \"%.80s\": expected a mass of at least 0 kg, found %g", link->name,
                           link->mass);
    if (link->mass > 0 && !node)
        urdf_warn(r, inertial, "link \"%.80s\": a mass but no <inertia>: taken as a point mass",
                  link->name);
    mat3 inertia = {{{e[0], e[1], e[2]}, {e[1], e[3], e[4]}, {e[2], e[4], e[5]}}};
    mat3 turn = quat_to_mat3(link_from_inertia.rotation);
    link->inertia = mat3_multiply(mat3_multiply(turn, inertia), mat3_transpose(turn));
    link->centre = link_from_inertia.origin;
    link->has_own_inertia = true;
    return HR_OK;
}

static hr_status add_link(outline *o, int link, int parent, const model_joint *joint)
{
    const xmlNode *node = o->links[link];
    int number = model_add_link(o->reader.model, urdf_text(node, "name"), parent, joint);
    if (number < 0)
        return error_set(o->reader.error, HR_ERR_MEMORY, "%s: out of memory", o->reader.file);
    o->model_link[link] = number;
    hr_status status = read_inertial(o, node, &o->reader.model->links[number]);
    return status == HR_OK ? urdf_shapes(&o->reader, node, number) : status;
}

/* Puts the joints that leave a link on the stack, so that the first comes off first. */
static int push_joints(outline *o, int link, int top)
{
    int from = top;
    for (int j = o->first_joint[link]; j >= 0; j = o->joints[j].next)
        o->stack[top++] = j;
    for (int a = from, b = top - 1; a < b; a++, b--) {
        int swapped = o->stack[a];
        o->stack[a] = o->stack[b];
        o->stack[b] = swapped;
    }
    return top;
}

/* Depth first, children in file order. */
static hr_status add_all(outline *o, int root)
{
    hr_status status = add_link(o, root, -1, NULL);
    int top = push_joints(o, root, 0);
    while (status == HR_OK && top > 0) {
        int number = o->stack[--top];
        const raw_joint *raw = &o->joints[number];
        model_joint joint;
        status = read_joint(o, number, &joint);
        if (status == HR_OK)
            status = add_link(o, raw->child, o->model_link[raw->parent], &joint);
        free(joint.name);
        top = push_joints(o, raw->child, top);
    }
    for (int i = 0; status == HR_OK && i < o->link_count; i++)
        if (o->model_link[i] < 0)
            status = urdf_refuse(&o->reader, o->links[i], HR_ERR_FORMAT,
                                 "expected a tree, found a loop through link \"%.80s\"",
                                 urdf_text(o->links[i], "name"));
    return status;
}

static hr_status read_mimic(outline *o, const raw_joint *raw)
{
    urdf_reader *r = &o->reader;
    const xmlNode *node = urdf_child(raw->node, "mimic");
    if (!node)
        return HR_OK;
    model_joint *joint = &r->model->joints[o->model_link[raw->child]];
    const char *name = NULL;
    hr_status status = urdf_required(r, node, "joint", &name);
    if (status == HR_OK)
        status = urdf_numbers(r, node, "multiplier", &joint->mimic_multiplier, 1);
    if (status == HR_OK)
        status = urdf_numbers(r, node, "offset", &joint->mimic_offset, 1);
    if (status != HR_OK)
        return status;
    int followed = look_up(o->joint_by_name, name);
    if (followed == NOT_FOUND)
        return urdf_refuse(r, node, HR_ERR_NOT_FOUND,
                           "joint \"%.80s\": expected the name of a joint to mimic, found no joint "
                           "\"%.80s\"",
                           raw->name, name);
    joint->mimic = o->model_link[o->joints[followed].child];
    return HR_OK;
}

/* Joints that follow each other in a circle have no leader. */
static hr_status check_mimics(outline *o)
{
    const model *m = o->reader.model;
    for (int i = 0; i < o->joint_count; i++) {
        int first = o->model_link[o->joints[i].child], at = first;
        for (int steps = 0; at >= 0 && steps <= 64; steps++) {
            at = m->joints[at].mimic;
            if (at == first || steps == 64)
                return urdf_refuse(&o->reader, o->joints[i].node, HR_ERR_FORMAT,
                                   "joint \"%.80s\": expected a joint that leads, found joints "
                                   "that mimic each other",
                                   o->joints[i].name);
        }
    }
    return HR_OK;
}

/* What the macro processor xacro should have replaced holds links and joints that we do not see. */
static void warn_of_macros(outline *o)
{
    for (const xmlNode *n = o->robot->children; n; n = n->next) {
        if (n->type != XML_ELEMENT_NODE)
            continue;
        bool has_prefix = n->ns && n->ns->prefix;
        const char *name = (const char *)n->name;
        if (has_prefix ? strcmp((const char *)n->ns->prefix, "xacro") == 0
                       : strncmp(name, "xacro:", 6) == 0)
            urdf_warn(&o->reader, n,
                      "expected plain URDF, found <%s%.60s>, passed over: run xacro on the file "
                      "first",
                      has_prefix ? "xacro:" : "", name);
    }
}

static hr_status read_robot(outline *o)
{
    urdf_reader *r = &o->reader;
    warn_of_macros(o);
    o->link_count = count_elements(o->robot, "link");
    o->joint_count = count_elements(o->robot, "joint");
    if (o->link_count == 0)
        return urdf_refuse(r, o->robot, HR_ERR_FORMAT, "expected <link> in <robot>, found none");
    if (!allocate(o))
        return error_set(r->error, HR_ERR_MEMORY, "%s: out of memory", r->file);
    const char *name = urdf_text(o->robot, "name");
    r->model->name = strdup(name ? name : "");
    int root = 0;
    hr_status status = list_links(o);
    if (status == HR_OK)
        status = list_joints(o);
    if (status == HR_OK)
        status = find_root(o, &root);
    if (status == HR_OK)
        status = add_all(o, root);
    for (int i = 0; status == HR_OK && i < o->joint_count; i++)
        status = read_mimic(o, &o->joints[i]);
    if (status == HR_OK)
        status = check_mimics(o);
    return status;
}

typedef struct finish_warnings {
    urdf_reader *reader;
    const xmlNode *robot;
} finish_warnings;

static void warn_from_finish(void *context, const char *text)
{
    finish_warnings *w = context;
    if (!w->reader->options.warn)
        return;
    char line[512];
    (void)snprintf(line, sizeof line, "%.200s: %.300s", w->reader->file, text);
    w->reader->options.warn(w->reader->options.context, line);
}

static hr_status read_document(xmlDoc *doc, const char *name, urdf_options options, model *out,
                               hr_error *error)
{
    model made = {0};
    outline o = {.reader = {.file = name, .options = options, .error = error, .model = &made},
                 .robot = xmlDocGetRootElement(doc)};
    hr_status status;
    if (!o.robot || strcmp((const char *)o.robot->name, "robot") != 0)
        status = error_set(error, HR_ERR_FORMAT, "%s:%ld: expected <robot>, found <%.60s>", name,
                           o.robot ? xmlGetLineNo(o.robot) : 1L,
                           o.robot ? (const char *)o.robot->name : "");
    else
        status = read_robot(&o);
    if (status == HR_OK) {
        finish_warnings w = {&o.reader, o.robot};
        status = model_finish(&made, warn_from_finish, &w);
    }
    release(&o);
    if (status == HR_ERR_MEMORY)
        (void)error_set(error, status, "%s: out of memory", name);
    if (status == HR_OK)
        *out = made;
    else
        model_free(&made);
    return status;
}

/* The first thing that the XML parser disliked, without its trailing line feed. */
static hr_status xml_error(xmlParserCtxtPtr parser, const char *name, hr_error *error)
{
    const xmlError *e = xmlCtxtGetLastError(parser);
    const char *message = e && e->message ? e->message : "unreadable";
    int length = (int)strcspn(message, "\n");
    return error_set(error, HR_ERR_FORMAT, "%s:%d: expected XML: %.*s", name, e ? e->line : 1,
                     length < 300 ? length : 300, message);
}

enum {
    XML_OPTIONS = XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NOCDATA |
                  XML_PARSE_BIG_LINES | XML_PARSE_COMPACT
};

static hr_status read_with(xmlParserCtxtPtr parser, xmlDoc *doc, const char *name,
                           urdf_options options, model *out, hr_error *error)
{
    hr_status status = doc && parser->wellFormed ? read_document(doc, name, options, out, error)
                                                 : xml_error(parser, name, error);
    xmlFreeDoc(doc);
    xmlFreeParserCtxt(parser);
    return status;
}

hr_status urdf_parse(const char *text, size_t size, const char *name, urdf_options options,
                     model *out, hr_error *error)
{
    if (size > INT_MAX)
        return error_set(error, HR_ERR_CAPACITY, "%s: expected less than 2 GB", name);
    xmlParserCtxtPtr parser = xmlNewParserCtxt();
    if (!parser)
        return error_set(error, HR_ERR_MEMORY, "%s: out of memory", name);
    xmlDoc *doc = xmlCtxtReadMemory(parser, text, (int)size, name, NULL, XML_OPTIONS);
    return read_with(parser, doc, name, options, out, error);
}

hr_status urdf_load(const char *path, urdf_options options, model *out, hr_error *error)
{
    struct stat about;
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        return error_set(error, HR_ERR_NOT_FOUND, "%s: expected a URDF file, found a folder", path);
    FILE *file = fopen(path, "rb");
    if (!file)
        return error_set(error, HR_ERR_NOT_FOUND, "%s: expected a URDF file, found none to read",
                         path);
    xmlParserCtxtPtr parser = xmlNewParserCtxt();
    if (!parser) {
        fclose(file);
        return error_set(error, HR_ERR_MEMORY, "%s: out of memory", path);
    }
    xmlDoc *doc = xmlCtxtReadFd(parser, fileno(file), path, NULL, XML_OPTIONS);
    fclose(file);
    return read_with(parser, doc, path, options, out, error);
}
