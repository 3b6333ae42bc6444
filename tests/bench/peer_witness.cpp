#include "tests/bench/peer_witness.h"

#include <cmath>
#include <memory>

#include <Extrema_GenLocateExtPS.hxx>
#include <GeomAPI_ExtremaSurfaceSurface.hxx>
#include <GeomAdaptor_Surface.hxx>
#include <Geom_BSplineSurface.hxx>
#include <TColStd_Array1OfInteger.hxx>
#include <TColStd_Array1OfReal.hxx>
#include <TColStd_Array2OfReal.hxx>
#include <TColgp_Array2OfPnt.hxx>
#include <gp_Trsf.hxx>

#include <fcl/geometry/shape/ellipsoid.h>
#include <fcl/narrowphase/distance.h>

struct peer_surface {
    Handle(Geom_BSplineSurface) rest, placed;
    std::unique_ptr<GeomAdaptor_Surface> adaptor;
    std::unique_ptr<Extrema_GenLocateExtPS> locate;
};

/* Flat knots to distinct ones with multiplicities. */
static void split_knots(const double *flat, int n, TColStd_Array1OfReal &knots,
                        TColStd_Array1OfInteger &multiplicities)
{
    int k = 0;
    for (int i = 0; i < n; i++) {
        if (i > 0 && flat[i] == flat[i - 1]) {
            multiplicities(k)++;
            continue;
        }
        k++;
        knots(k) = flat[i];
        multiplicities(k) = 1;
    }
}

static int distinct(const double *flat, int n)
{
    int k = 1;
    for (int i = 1; i < n; i++)
        k += flat[i] != flat[i - 1];
    return k;
}

peer_surface *peer_surface_make(const int degree[2], const int count[2], const double *knots_u,
                                const double *knots_v, const double *points)
{
    TColgp_Array2OfPnt poles(1, count[0], 1, count[1]);
    TColStd_Array2OfReal weights(1, count[0], 1, count[1]);
    for (int i = 0; i < count[0]; i++)
        for (int j = 0; j < count[1]; j++) {
            const double *p = points + 4 * (i * count[1] + j);
            weights(i + 1, j + 1) = p[3];
            poles(i + 1, j + 1) = gp_Pnt(p[0] / p[3], p[1] / p[3], p[2] / p[3]);
        }
    int nu = count[0] + degree[0] + 1, nv = count[1] + degree[1] + 1;
    int du = distinct(knots_u, nu), dv = distinct(knots_v, nv);
    TColStd_Array1OfReal ku(1, du), kv(1, dv);
    TColStd_Array1OfInteger mu(1, du), mv(1, dv);
    split_knots(knots_u, nu, ku, mu);
    split_knots(knots_v, nv, kv, mv);
    auto *s = new peer_surface;
    s->rest = new Geom_BSplineSurface(poles, weights, ku, kv, mu, mv, degree[0], degree[1]);
    s->placed = s->rest;
    s->adaptor = std::make_unique<GeomAdaptor_Surface>(s->rest);
    s->locate = std::make_unique<Extrema_GenLocateExtPS>(*s->adaptor);
    return s;
}

void peer_surface_free(peer_surface *s)
{
    delete s;
}

double peer_project(peer_surface *s, const double point[3], double uv[2])
{
    s->locate->Perform(gp_Pnt(point[0], point[1], point[2]), uv[0], uv[1]);
    if (!s->locate->IsDone())
        return -1;
    s->locate->Point().Parameter(uv[0], uv[1]);
    return std::sqrt(s->locate->SquareDistance());
}

void peer_surface_place(peer_surface *s, const double p[12])
{
    gp_Trsf t;
    t.SetValues(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11]);
    s->placed = Handle(Geom_BSplineSurface)::DownCast(s->rest->Transformed(t));
}

double peer_extrema(peer_surface *a, peer_surface *b)
{
    GeomAPI_ExtremaSurfaceSurface e(a->placed, b->placed);
    return e.NbExtrema() > 0 ? e.LowerDistance() : -1;
}

struct peer_ellipsoids {
    fcl::Ellipsoidd a, b;
    fcl::Transform3d pose_a, pose_b;
    fcl::DistanceRequestd request;
    peer_ellipsoids(const double *x, const double *y)
        : a(x[0], x[1], x[2]), b(y[0], y[1], y[2]), pose_a(fcl::Transform3d::Identity()),
          pose_b(fcl::Transform3d::Identity())
    {
    }
};

peer_ellipsoids *peer_ellipsoids_make(const double a[3], const double b[3], int is_libccd,
                                      double tolerance)
{
    auto *e = new peer_ellipsoids(a, b);
    e->request.gjk_solver_type = is_libccd ? fcl::GST_LIBCCD : fcl::GST_INDEP;
    e->request.distance_tolerance = tolerance;
    return e;
}

void peer_ellipsoids_free(peer_ellipsoids *e)
{
    delete e;
}

void peer_ellipsoids_place(peer_ellipsoids *e, const double p[12])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            e->pose_b.linear()(i, j) = p[4 * i + j];
        e->pose_b.translation()[i] = p[4 * i + 3];
    }
}

double peer_ellipsoids_distance(peer_ellipsoids *e)
{
    fcl::DistanceResultd result;
    return fcl::distance(&e->a, e->pose_a, &e->b, e->pose_b, e->request, result);
}
