/* What the tests ask of OpenCASCADE:
 *   occt_tool make KIND OUT.step|.iges|.brep    a part (kinds below)
 *   occt_tool project BODY.json < points.csv    the global distance of each point, one per line
 * The projection looks at the inside of every patch and along all its sides. */
#include <BRepAlgoAPI_Cut.hxx>
#include <BRepBuilderAPI_MakeFace.hxx>
#include <BRepBuilderAPI_NurbsConvert.hxx>
#include <BRepPrimAPI_MakeBox.hxx>
#include <BRepPrimAPI_MakeCone.hxx>
#include <BRepPrimAPI_MakeCylinder.hxx>
#include <BRepPrimAPI_MakeSphere.hxx>
#include <BRepPrimAPI_MakeTorus.hxx>
#include <BRepTools.hxx>
#include <GeomAPI_ProjectPointOnCurve.hxx>
#include <GeomAPI_ProjectPointOnSurf.hxx>
#include <Geom_BSplineSurface.hxx>
#include <IGESControl_Writer.hxx>
#include <Message.hxx>
#include <Message_Messenger.hxx>
#include <STEPControl_Writer.hxx>
#include <TColStd_Array1OfInteger.hxx>
#include <TColStd_Array1OfReal.hxx>
#include <TColStd_Array2OfReal.hxx>
#include <TColgp_Array2OfPnt.hxx>
#include <jansson.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

static TopoDS_Shape make(const std::string &kind)
{
    if (kind == "sphere")
        return BRepPrimAPI_MakeSphere(gp_Pnt(1, 2, 3), 25).Shape();
    if (kind == "torus")
        return BRepPrimAPI_MakeTorus(40, 12).Shape();
    if (kind == "box")
        return BRepPrimAPI_MakeBox(gp_Pnt(-10, -20, -30), gp_Pnt(10, 20, 30)).Shape();
    if (kind == "can")
        return BRepPrimAPI_MakeCylinder(10, 40).Shape();
    if (kind == "spline-can") /* the same, every face a spline */
        return BRepBuilderAPI_NurbsConvert(BRepPrimAPI_MakeCylinder(10, 40).Shape()).Shape();
    if (kind == "cone")
        return BRepPrimAPI_MakeCone(20, 5, 30).Shape();
    if (kind == "drilled") /* a plane with a hole, and a sphere's remains */
        return BRepAlgoAPI_Cut(
                   BRepPrimAPI_MakeBox(20, 20, 20).Shape(),
                   BRepPrimAPI_MakeCylinder(gp_Ax2(gp_Pnt(10, 10, -5), gp_Dir(0, 0, 1)), 4, 40)
                       .Shape())
            .Shape();
    if (kind == "bitten") /* a sphere trimmed by another: no rectangle of its parameters */
        return BRepAlgoAPI_Cut(BRepPrimAPI_MakeSphere(gp_Pnt(0, 0, 0), 20).Shape(),
                               BRepPrimAPI_MakeSphere(gp_Pnt(15, 5, 8), 12).Shape())
            .Shape();
    return {};
}

static bool write(const TopoDS_Shape &shape, const std::string &path)
{
    if (path.find(".step") != std::string::npos) {
        STEPControl_Writer writer;
        writer.Transfer(shape, STEPControl_AsIs);
        return writer.Write(path.c_str()) == IFSelect_RetDone;
    }
    if (path.find(".iges") != std::string::npos) {
        IGESControl_Writer writer("MM", 1);
        writer.AddShape(shape);
        writer.ComputeModel();
        return writer.Write(path.c_str());
    }
    return BRepTools::Write(shape, path.c_str());
}

/* Distinct knots and how often each comes. */
static void group(const json_t *list, std::vector<double> &knots, std::vector<int> &times)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        double x = json_number_value(json_array_get(list, i));
        if (!knots.empty() && knots.back() == x) {
            times.back()++;
        } else {
            knots.push_back(x);
            times.push_back(1);
        }
    }
}

static Handle(Geom_BSplineSurface) read_patch(const json_t *patch)
{
    const json_t *rows = json_object_get(patch, "points");
    const json_t *weights = json_object_get(patch, "weights");
    const json_t *degree = json_object_get(patch, "degree");
    int nu = (int)json_array_size(rows), nv = (int)json_array_size(json_array_get(rows, 0));
    int p[2];
    TColgp_Array2OfPnt poles(1, nu, 1, nv);
    TColStd_Array2OfReal w(1, nu, 1, nv);
    for (int i = 0; i < nu; i++)
        for (int j = 0; j < nv; j++) {
            const json_t *q = json_array_get(json_array_get(rows, i), j);
            double x[3];
            for (int c = 0; c < 3; c++)
                x[c] = json_number_value(json_array_get(q, c));
            poles(i + 1, j + 1) = gp_Pnt(x[0], x[1], x[2]);
            w(i + 1, j + 1) =
                weights ? json_number_value(json_array_get(json_array_get(weights, i), j)) : 1.0;
        }
    std::vector<double> knots[2];
    std::vector<int> times[2];
    for (int d = 0; d < 2; d++) {
        p[d] = (int)json_integer_value(json_array_get(degree, d));
        const json_t *stated = json_array_get(json_object_get(patch, "knots"), d);
        if (stated) {
            group(stated, knots[d], times[d]);
        } else {
            knots[d] = {0, 1};
            times[d] = {p[d] + 1, p[d] + 1};
        }
    }
    TColStd_Array1OfReal ku(1, (int)knots[0].size()), kv(1, (int)knots[1].size());
    TColStd_Array1OfInteger mu(1, (int)knots[0].size()), mv(1, (int)knots[1].size());
    for (size_t i = 0; i < knots[0].size(); i++) {
        ku((int)i + 1) = knots[0][i];
        mu((int)i + 1) = times[0][i];
    }
    for (size_t i = 0; i < knots[1].size(); i++) {
        kv((int)i + 1) = knots[1][i];
        mv((int)i + 1) = times[1][i];
    }
    return new Geom_BSplineSurface(poles, w, ku, kv, mu, mv, p[0], p[1]);
}

static double distance(const std::vector<Handle(Geom_BSplineSurface)> &patches, const gp_Pnt &q)
{
    double best = HUGE_VAL;
    for (const auto &s : patches) {
        double u0, u1, v0, v1;
        s->Bounds(u0, u1, v0, v1);
        for (int k = 0; k < 4; k++)
            best = std::min(best, q.Distance(s->Value(k / 2 ? u1 : u0, k % 2 ? v1 : v0)));
        GeomAPI_ProjectPointOnSurf inside(q, s);
        if (inside.NbPoints() > 0)
            best = std::min(best, inside.LowerDistance());
        Handle(Geom_Curve) sides[4] = {s->UIso(u0), s->UIso(u1), s->VIso(v0), s->VIso(v1)};
        for (const auto &c : sides) {
            GeomAPI_ProjectPointOnCurve along(q, c);
            if (along.NbPoints() > 0)
                best = std::min(best, along.LowerDistance());
        }
    }
    return best;
}

static int project(const char *path)
{
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);
    if (!root)
        return 2;
    std::vector<Handle(Geom_BSplineSurface)> patches;
    const json_t *list = json_object_get(root, "patches");
    if (!list)
        patches.push_back(read_patch(root));
    for (size_t i = 0; i < json_array_size(list); i++)
        patches.push_back(read_patch(json_array_get(list, i)));
    double x, y, z;
    while (scanf("%lf,%lf,%lf", &x, &y, &z) == 3)
        printf("%.17g\n", distance(patches, gp_Pnt(x, y, z)));
    json_decref(root);
    return 0;
}

int main(int argc, char **argv)
{
    Message::DefaultMessenger()->ChangePrinters().Clear();
    if (argc == 4 && strcmp(argv[1], "make") == 0) {
        TopoDS_Shape shape = make(argv[2]);
        return !shape.IsNull() && write(shape, argv[3]) ? 0 : 2;
    }
    if (argc == 3 && strcmp(argv[1], "project") == 0)
        return project(argv[2]);
    return 2;
}
