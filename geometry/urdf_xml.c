/* Elements, attributes and located errors of the URDF reader. */
#include "geometry/urdf_xml.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hr_status urdf_refuse(urdf_reader *r, const xmlNode *at, hr_status status, const char *format, ...)
{
    char text[400];
    va_list values;
    va_start(values, format);
    (void)vsnprintf(text, sizeof text, format, values);
    va_end(values);
    return error_set(r->error, status, "%s:%ld: %s", r->file, xmlGetLineNo(at), text);
}

void urdf_warn(urdf_reader *r, const xmlNode *at, const char *format, ...)
{
    if (!r->options.warn)
        return;
    char text[400], line[600];
    va_list values;
    va_start(values, format);
    (void)vsnprintf(text, sizeof text, format, values);
    va_end(values);
    (void)snprintf(line, sizeof line, "%.150s:%ld: %s", r->file, xmlGetLineNo(at), text);
    r->options.warn(r->options.context, line);
}

/* An element of URDF itself: names with a prefix (xacro:link) belong to other programs. */
static bool is_named(const xmlNode *node, const char *name)
{
    return node->type == XML_ELEMENT_NODE && !(node->ns && node->ns->prefix) &&
           strcmp((const char *)node->name, name) == 0;
}

xmlNode *urdf_next(xmlNode *node, const char *name)
{
    while (node && !is_named(node, name))
        node = node->next;
    return node;
}

xmlNode *urdf_child(const xmlNode *parent, const char *name)
{
    return parent ? urdf_next(parent->children, name) : NULL;
}

const char *urdf_text(const xmlNode *node, const char *attribute)
{
    if (!node)
        return NULL;
    for (const xmlAttr *a = node->properties; a; a = a->next) {
        if (strcmp((const char *)a->name, attribute) != 0)
            continue;
        if (!a->children)
            return "";
        /* one text node unless the value holds entities, which no robot file needs */
        bool is_plain = a->children->type == XML_TEXT_NODE && !a->children->next;
        return is_plain ? (const char *)a->children->content : "";
    }
    return NULL;
}

hr_status urdf_required(urdf_reader *r, const xmlNode *node, const char *attribute,
                        const char **out)
{
    const char *text = urdf_text(node, attribute);
    if (!text || !*text)
        return urdf_refuse(r, node, HR_ERR_FORMAT, "<%s>: expected attribute %s, found none",
                           (const char *)node->name, attribute);
    *out = text;
    return HR_OK;
}

/* Exactly count numbers with space around them. */
static bool read_numbers(const char *text, double *out, int count, bool may_be_infinite)
{
    for (int i = 0; i < count; i++) {
        char *end = NULL;
        double value = strtod(text, &end);
        if (end == text || isnan(value) || (isinf(value) && !may_be_infinite))
            return false;
        if (*end && !isspace((unsigned char)*end))
            return false;
        out[i] = value;
        text = end;
    }
    while (isspace((unsigned char)*text))
        text++;
    return *text == '\0';
}

hr_status urdf_numbers(urdf_reader *r, const xmlNode *node, const char *attribute, double *out,
                       int count)
{
    const char *text = urdf_text(node, attribute);
    double values[8];
    if (!text)
        return HR_OK;
    if (count > HR_COUNT(values) || !read_numbers(text, values, count, false))
        return urdf_refuse(r, node, HR_ERR_FORMAT,
                           "<%s %s>: expected %d finite number%s, found \"%.80s\"",
                           (const char *)node->name, attribute, count, count == 1 ? "" : "s", text);
    memcpy(out, values, (size_t)count * sizeof *out);
    return HR_OK;
}

hr_status urdf_limit(urdf_reader *r, const xmlNode *node, const char *attribute, double *out)
{
    const char *text = urdf_text(node, attribute);
    double value;
    if (!text)
        return HR_OK;
    if (!read_numbers(text, &value, 1, true))
        return urdf_refuse(r, node, HR_ERR_FORMAT, "<%s %s>: expected a number, found \"%.80s\"",
                           (const char *)node->name, attribute, text);
    *out = value;
    return HR_OK;
}

/* Roll about x, then pitch about y, then yaw about z, all about the fixed axes. */
static quat from_roll_pitch_yaw(const double rpy[3])
{
    quat roll = {cos(0.5 * rpy[0]), sin(0.5 * rpy[0]), 0, 0};
    quat pitch = {cos(0.5 * rpy[1]), 0, sin(0.5 * rpy[1]), 0};
    quat yaw = {cos(0.5 * rpy[2]), 0, 0, sin(0.5 * rpy[2])};
    return quat_normalize(quat_multiply(yaw, quat_multiply(pitch, roll)));
}

hr_status urdf_origin(urdf_reader *r, const xmlNode *parent, pose *out)
{
    const xmlNode *node = urdf_child(parent, "origin");
    double xyz[3] = {0, 0, 0}, rpy[3] = {0, 0, 0};
    hr_status status = urdf_numbers(r, node, "xyz", xyz, 3);
    if (status == HR_OK)
        status = urdf_numbers(r, node, "rpy", rpy, 3);
    if (status == HR_OK)
        *out = (pose){from_roll_pitch_yaw(rpy), {xyz[0], xyz[1], xyz[2]}};
    return status;
}
