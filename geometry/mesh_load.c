/* Mesh files through assimp: every part in one mesh, transformed, welded, checked. */
#include <assimp/cimport.h>
#include <assimp/mesh.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <limits.h>
#include <unistd.h>

#include "geometry/mesh.h"

enum { NODE_DEPTH_MAX = 256 };

static vec3 transformed(const struct aiMatrix4x4 *t, struct aiVector3D v)
{
    double x = (double)v.x, y = (double)v.y, z = (double)v.z;
    return (vec3){(double)t->a1 * x + (double)t->a2 * y + (double)t->a3 * z + (double)t->a4,
                  (double)t->b1 * x + (double)t->b2 * y + (double)t->b3 * z + (double)t->b4,
                  (double)t->c1 * x + (double)t->c2 * y + (double)t->c3 * z + (double)t->c4};
}

/* Counts (out has no arrays) or copies the triangles of one part. */
static hr_status take_part(const struct aiMesh *part, const struct aiMatrix4x4 *to_root, mesh *out)
{
    long vertices = (long)out->vertex_count + part->mNumVertices;
    if (vertices > INT_MAX || (long)out->triangle_count + part->mNumFaces > INT_MAX)
        return HR_ERR_CAPACITY;
    for (unsigned i = 0; out->vertices && i < part->mNumVertices; i++)
        out->vertices[out->vertex_count + (int)i] = transformed(to_root, part->mVertices[i]);
    for (unsigned i = 0; i < part->mNumFaces; i++) {
        const struct aiFace *face = &part->mFaces[i];
        if (face->mNumIndices != 3)
            continue;
        for (int k = 0; out->triangles && k < 3; k++) {
            if (face->mIndices[k] >= part->mNumVertices)
                return HR_ERR_FORMAT;
            out->triangles[out->triangle_count][k] = out->vertex_count + (int)face->mIndices[k];
        }
        out->triangle_count++;
    }
    out->vertex_count = (int)vertices;
    return HR_OK;
}

/* Depth first with a stack of our own: a file must not be able to exhaust the real one. */
static hr_status take_scene(const struct aiScene *scene, mesh *out)
{
    struct {
        const struct aiNode *node;
        struct aiMatrix4x4 to_root;
        unsigned next;
    } stack[NODE_DEPTH_MAX];
    int depth = 0;
    stack[0].node = scene->mRootNode;
    stack[0].to_root = scene->mRootNode->mTransformation;
    stack[0].next = 0;
    while (depth >= 0) {
        const struct aiNode *node = stack[depth].node;
        for (unsigned i = 0; stack[depth].next == 0 && i < node->mNumMeshes; i++) {
            hr_status status =
                take_part(scene->mMeshes[node->mMeshes[i]], &stack[depth].to_root, out);
            if (status != HR_OK)
                return status;
        }
        if (stack[depth].next == node->mNumChildren) {
            depth--;
            continue;
        }
        const struct aiNode *child = node->mChildren[stack[depth].next++];
        if (depth + 1 == NODE_DEPTH_MAX)
            return HR_ERR_CAPACITY;
        stack[depth + 1].to_root = stack[depth].to_root;
        aiMultiplyMatrix4(&stack[depth + 1].to_root, &child->mTransformation);
        stack[depth + 1].node = child;
        stack[depth + 1].next = 0;
        depth++;
    }
    return HR_OK;
}

static hr_status from_scene(const struct aiScene *scene, const char *path, mesh *out,
                            hr_error *error)
{
    mesh m = {0};
    hr_status status = take_scene(scene, &m);
    if (status != HR_OK)
        return error_set(error, status, "%s: expected a mesh of moderate size, found one beyond it",
                         path);
    if (m.triangle_count == 0 || m.vertex_count == 0)
        return error_set(error, HR_ERR_FORMAT, "%s: expected triangles, found none", path);
    if (mesh_allocate(m.vertex_count, m.triangle_count, &m) != HR_OK)
        return error_set(error, HR_ERR_MEMORY, "%s: expected memory for %d triangles", path,
                         m.triangle_count);
    m.vertex_count = m.triangle_count = 0;
    status = take_scene(scene, &m);
    if (status != HR_OK) {
        mesh_free(&m);
        return error_set(error, status, "%s: expected vertex numbers within the file", path);
    }
    for (int i = 0; i < m.vertex_count; i++)
        if (!vec3_is_finite(m.vertices[i])) {
            mesh_free(&m);
            return error_set(error, HR_ERR_NOT_FINITE,
                             "%s: expected finite coordinates, vertex %d is not", path, i);
        }
    if (mesh_weld(&m) != HR_OK || m.triangle_count == 0) {
        mesh_free(&m);
        return error_set(error, HR_ERR_FORMAT,
                         "%s: expected triangles with an area, found only degenerate ones", path);
    }
    *out = m;
    return HR_OK;
}

hr_status mesh_load(const char *path, mesh *out, hr_error *error)
{
    if (access(path, R_OK) != 0)
        return error_set(error, HR_ERR_NOT_FOUND, "%s: expected a mesh file, found none to read",
                         path);
    /* Up-axis and unit conversions of Collada would fight the poses that a robot file states. */
    struct aiPropertyStore *store = aiCreatePropertyStore();
    aiSetImportPropertyInteger(store, "IMPORT_COLLADA_IGNORE_UP_DIRECTION", 1);
    const struct aiScene *scene =
        aiImportFileExWithProperties(path, aiProcess_Triangulate, NULL, store);
    aiReleasePropertyStore(store);
    if (!scene || !scene->mRootNode) {
        hr_status status = error_set(error, HR_ERR_FORMAT, "%s: expected STL, OBJ, DAE or PLY: %s",
                                     path, aiGetErrorString());
        if (scene)
            aiReleaseImport(scene);
        return status;
    }
    hr_status status = from_scene(scene, path, out, error);
    aiReleaseImport(scene);
    return status;
}
