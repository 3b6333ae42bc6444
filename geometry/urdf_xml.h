/* What the parts of the URDF reader share: the document being read, located errors and attributes.
 * Not for users of the reader. */
#ifndef GEOMETRY_URDF_XML_H
#define GEOMETRY_URDF_XML_H

#include <libxml/tree.h>

#include "geometry/urdf.h"

typedef struct urdf_reader {
    const char *file;
    urdf_options options;
    hr_error *error;
    model *model;
    char **mesh_keys; /* by mesh of the model: path and scale, so that shared files load once */
    int mesh_key_room;
} urdf_reader;

/* "file:line: " and the message. */
hr_status urdf_refuse(urdf_reader *r, const xmlNode *at, hr_status status, const char *format, ...)
    HR_PRINTF(4, 5);
void urdf_warn(urdf_reader *r, const xmlNode *at, const char *format, ...) HR_PRINTF(3, 4);

/* The first child element of that name, NULL where there is none; namespaces do not matter. */
xmlNode *urdf_child(const xmlNode *parent, const char *name);

/* The next element of that name, starting with `node` itself. */
xmlNode *urdf_next(xmlNode *node, const char *name);

/* The attribute's text, NULL where it is absent; lives as long as the document. */
const char *urdf_text(const xmlNode *node, const char *attribute);

/* A required, non-empty attribute. */
hr_status urdf_required(urdf_reader *r, const xmlNode *node, const char *attribute,
                        const char **out);

/* Exactly `count` finite numbers; an absent attribute (or node NULL) leaves out alone. */
hr_status urdf_numbers(urdf_reader *r, const xmlNode *node, const char *attribute, double *out,
                       int count);

/* One number that may be infinite; the same otherwise. */
hr_status urdf_limit(urdf_reader *r, const xmlNode *node, const char *attribute, double *out);

/* The <origin> of an element; the identity where it has none. */
hr_status urdf_origin(urdf_reader *r, const xmlNode *parent, pose *out);

/* All <visual> and <collision> elements of a link. */
hr_status urdf_shapes(urdf_reader *r, const xmlNode *link_node, int link);

#endif
