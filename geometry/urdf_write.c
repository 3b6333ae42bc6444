/* URDF text from a model. */
#include "geometry/urdf_write.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_ROOM = 2048 };

/* Attribute text with the five characters that XML reserves written as entities. */
static void put_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc(*text, out);
        }
    }
}

/* R = Rz(yaw) Ry(pitch) Rx(roll); at pitch = +-90 degrees roll is taken as zero. */
static vec3 roll_pitch_yaw(quat q)
{
    mat3 r = quat_to_mat3(q);
    double cp = hypot(r.m[0][0], r.m[1][0]);
    double pitch = atan2(-r.m[2][0], cp);
    if (cp < 1e-12)
        return (vec3){0, pitch, atan2(-r.m[0][1], r.m[1][1])};
    return (vec3){atan2(r.m[2][1], r.m[2][2]), pitch, atan2(r.m[1][0], r.m[0][0])};
}

static void put_origin(FILE *out, pose p)
{
    vec3 turn = roll_pitch_yaw(p.rotation);
    fprintf(out, "<origin xyz=\"%.17g %.17g %.17g\" rpy=\"%.17g %.17g %.17g\"/>", p.origin.x,
            p.origin.y, p.origin.z, turn.x, turn.y, turn.z);
}

static void put_shapes(FILE *out, const model_shape *shapes, int count, int link, const char *tag)
{
    for (int i = 0; i < count; i++) {
        if (shapes[i].link != link)
            continue;
        fprintf(out, "    <%s>", tag);
        put_origin(out, shapes[i].link_from_mesh);
        fprintf(out, "<geometry><mesh filename=\"meshes/%d.stl\"/></geometry></%s>\n",
                shapes[i].mesh, tag);
    }
}

static void put_link(FILE *out, const model *m, int i)
{
    const model_link *link = &m->links[i];
    fputs("  <link name=\"", out);
    put_text(out, link->name);
    fputs("\">\n", out);
    if (link->has_own_inertia) {
        const mat3 *e = &link->inertia;
        fprintf(out, "    <inertial><origin xyz=\"%.17g %.17g %.17g\"/><mass value=\"%.17g\"/>",
                link->centre.x, link->centre.y, link->centre.z, link->mass);
        fprintf(out,
                "<inertia ixx=\"%.17g\" ixy=\"%.17g\" ixz=\"%.17g\" iyy=\"%.17g\" iyz=\"%.17g\" "
                "izz=\"%.17g\"/></inertial>\n",
                e->m[0][0], e->m[0][1], e->m[0][2], e->m[1][1], e->m[1][2], e->m[2][2]);
    }
    put_shapes(out, m->visuals, m->visual_count, i, "visual");
    put_shapes(out, m->collisions, m->collision_count, i, "collision");
    fputs("  </link>\n", out);
}

static void put_joint(FILE *out, const model *m, int i)
{
    const model_joint *joint = &m->joints[i];
    fputs("  <joint name=\"", out);
    put_text(out, joint->name);
    fprintf(out, "\" type=\"%s\">\n    ", joint_type_name(joint->type));
    put_origin(out, joint->parent_from_joint);
    fputs("\n    <parent link=\"", out);
    put_text(out, m->links[m->links[i].parent].name);
    fputs("\"/><child link=\"", out);
    put_text(out, m->links[i].name);
    fputs("\"/>\n", out);
    if (joint_v_count(joint->type) == 1)
        fprintf(out, "    <axis xyz=\"%.17g %.17g %.17g\"/>\n", joint->axis.x, joint->axis.y,
                joint->axis.z);
    if (joint->type == JOINT_SCREW)
        fprintf(out, "    <screw pitch=\"%.17g\"/>\n", joint->pitch);
    if (joint->has_limits)
        fprintf(out,
                "    <limit lower=\"%.17g\" upper=\"%.17g\" effort=\"%.17g\" "
                "velocity=\"%.17g\"/>\n",
                joint->lower, joint->upper, joint->effort, joint->velocity);
    if (joint->damping > 0 || joint->friction > 0 || joint->armature > 0)
        fprintf(out, "    <dynamics damping=\"%.17g\" friction=\"%.17g\" armature=\"%.17g\"/>\n",
                joint->damping, joint->friction, joint->armature);
    if (joint->mimic >= 0) {
        fputs("    <mimic joint=\"", out);
        put_text(out, m->joints[joint->mimic].name);
        fprintf(out, "\" multiplier=\"%.17g\" offset=\"%.17g\"/>\n", joint->mimic_multiplier,
                joint->mimic_offset);
    }
    fputs("  </joint>\n", out);
}

/* Joints go out in the file's order, so that reading gives the same order back. */
static void put_robot(FILE *out, const model *m)
{
    fputs("<?xml version=\"1.0\"?>\n<robot name=\"", out);
    put_text(out, m->name ? m->name : "");
    fputs("\">\n", out);
    for (int i = 0; i < m->link_count; i++)
        put_link(out, m, i);
    for (int i = 1; i < m->link_count; i++)
        put_joint(out, m, i);
    fputs("</robot>\n", out);
}

/* The folder and those above it. */
static hr_status make_folder(const char *path, hr_error *error)
{
    char part[PATH_ROOM];
    if (strlen(path) >= sizeof part)
        return error_set(error, HR_ERR_CAPACITY, "%.80s: expected a shorter path", path);
    for (size_t i = 1; path[i - 1]; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return error_set(error, HR_ERR_IO, "%s: expected a folder that can be made, %s", part,
                             strerror(errno));
    }
    return HR_OK;
}

hr_status urdf_save(const model *m, const char *folder, const char *name, hr_error *error)
{
    char path[PATH_ROOM];
    hr_status status = make_folder(folder, error);
    (void)snprintf(path, sizeof path, "%s/meshes", folder);
    if (status == HR_OK)
        status = make_folder(path, error);
    for (int i = 0; status == HR_OK && i < m->mesh_count; i++) {
        (void)snprintf(path, sizeof path, "%s/meshes/%d.stl", folder, i);
        status = mesh_save_stl(&m->meshes[i], path, error);
    }
    if (status != HR_OK)
        return status;
    (void)snprintf(path, sizeof path, "%s/%s.urdf", folder, name);
    FILE *out = fopen(path, "w");
    if (!out)
        return error_set(error, HR_ERR_IO, "%s: expected a file that can be written, %s", path,
                         strerror(errno));
    put_robot(out, m);
    bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed)
        return error_set(error, HR_ERR_IO, "%s: expected room on the disk", path);
    return HR_OK;
}
