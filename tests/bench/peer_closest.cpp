#include "tests/bench/peer_closest.h"

#include <GeomAPI_ProjectPointOnSurf.hxx>
#include <Geom_BSplineSurface.hxx>
#include <TColStd_Array1OfInteger.hxx>
#include <TColStd_Array1OfReal.hxx>
#include <TColStd_Array2OfReal.hxx>
#include <TColgp_Array2OfPnt.hxx>

#include <vector>

struct peer_surface {
    Handle(Geom_BSplineSurface) surface;
    GeomAPI_ProjectPointOnSurf projection;
};

static void group(const double *all, int n, std::vector<double> &knots, std::vector<int> &times)
{
    for (int i = 0; i < n; i++) {
        if (!knots.empty() && knots.back() == all[i]) {
            times.back()++;
        } else {
            knots.push_back(all[i]);
            times.push_back(1);
        }
    }
}

void *peer_surface_create(const int degree[2], const int count[2], const double *knots_u,
                          const double *knots_v, const double *points)
{
    TColgp_Array2OfPnt poles(1, count[0], 1, count[1]);
    TColStd_Array2OfReal weights(1, count[0], 1, count[1]);
    for (int i = 0; i < count[0]; i++)
        for (int j = 0; j < count[1]; j++) {
            const double *p = points + 4L * (i * count[1] + j);
            poles(i + 1, j + 1) = gp_Pnt(p[0] / p[3], p[1] / p[3], p[2] / p[3]);
            weights(i + 1, j + 1) = p[3];
        }
    const double *all[2] = {knots_u, knots_v};
    std::vector<double> knots[2];
    std::vector<int> times[2];
    for (int d = 0; d < 2; d++)
        group(all[d], count[d] + degree[d] + 1, knots[d], times[d]);
    TColStd_Array1OfReal ku(knots[0][0], 1, (int)knots[0].size());
    TColStd_Array1OfReal kv(knots[1][0], 1, (int)knots[1].size());
    TColStd_Array1OfInteger mu(times[0][0], 1, (int)times[0].size());
    TColStd_Array1OfInteger mv(times[1][0], 1, (int)times[1].size());
    peer_surface *s = new peer_surface;
    s->surface = new Geom_BSplineSurface(poles, weights, ku, kv, mu, mv, degree[0], degree[1]);
    double u0, u1, v0, v1;
    s->surface->Bounds(u0, u1, v0, v1);
    s->projection.Init(s->surface, u0, u1, v0, v1);
    return s;
}

void peer_surface_destroy(void *surface)
{
    delete static_cast<peer_surface *>(surface);
}

double peer_surface_distance(void *surface, double x, double y, double z)
{
    peer_surface *s = static_cast<peer_surface *>(surface);
    s->projection.Perform(gp_Pnt(x, y, z));
    return s->projection.NbPoints() > 0 ? s->projection.LowerDistance() : -1.0;
}
