/* FCL's exact distance between two triangle meshes, for conservative advancement. */
#include <fcl/fcl.h>

#include "tests/bench/peer_ccd_bodies.h"

using model_type = fcl::BVHModel<fcl::OBBRSSd>;

struct peer_mesh {
    std::shared_ptr<model_type> model;
};

static std::shared_ptr<model_type> build(const double *vertices, int vertex_count,
                                         const int *triangles, int triangle_count)
{
    std::vector<fcl::Vector3d> points;
    std::vector<fcl::Triangle> faces;
    for (int i = 0; i < vertex_count; i++)
        points.emplace_back(vertices[3 * i], vertices[3 * i + 1], vertices[3 * i + 2]);
    for (int i = 0; i < triangle_count; i++)
        faces.emplace_back(triangles[3 * i], triangles[3 * i + 1], triangles[3 * i + 2]);
    auto model = std::make_shared<model_type>();
    model->beginModel();
    model->addSubModel(points, faces);
    model->endModel();
    return model;
}

peer_mesh *peer_mesh_create(const double *vertices, int vertex_count, const int *triangles,
                            int triangle_count)
{
    return new peer_mesh{build(vertices, vertex_count, triangles, triangle_count)};
}

void peer_mesh_destroy(peer_mesh *m)
{
    delete m;
}

double peer_mesh_distance(const peer_mesh *a, const peer_mesh *b, const double rotation[9],
                          const double origin[3])
{
    fcl::Transform3d here = fcl::Transform3d::Identity(), there = fcl::Transform3d::Identity();
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            there.linear()(i, j) = rotation[3 * i + j];
        there.translation()(i) = origin[i];
    }
    fcl::DistanceRequestd request;
    fcl::DistanceResultd result;
    return fcl::distance(a->model.get(), here, b->model.get(), there, request, result);
}
