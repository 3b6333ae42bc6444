/* haptic-import: surfaces of a STEP, IGES or BREP file into a body file (haptic-body(5)). A program
 * of its own, so that the server never links OpenCASCADE. Every patch it writes is exact: analytic
 * faces become rational patches, splines stay what they are. A face that no rectangle of
 * parameters describes is refused by name; planar faces are the exception, they are cut into
 * sectors around their middle.
 *
 * usage: haptic-import PART OUT.json      exit 0, or 2 with a message on standard error */
#include <BRepAdaptor_Surface.hxx>
#include <BRepGProp.hxx>
#include <BRepTools.hxx>
#include <BRepTools_WireExplorer.hxx>
#include <BRep_Builder.hxx>
#include <BRep_Tool.hxx>
#include <GProp_GProps.hxx>
#include <Geom2d_Curve.hxx>
#include <GeomAPI_ProjectPointOnCurve.hxx>
#include <GeomAPI_ProjectPointOnSurf.hxx>
#include <GeomConvert.hxx>
#include <GeomLib_IsPlanarSurface.hxx>
#include <Geom_BSplineCurve.hxx>
#include <Geom_BSplineSurface.hxx>
#include <Geom_RectangularTrimmedSurface.hxx>
#include <Geom_TrimmedCurve.hxx>
#include <IGESControl_Reader.hxx>
#include <Message.hxx>
#include <Message_Messenger.hxx>
#include <STEPControl_Reader.hxx>
#include <Standard_Failure.hxx>
#include <TopExp.hxx>
#include <TopExp_Explorer.hxx>
#include <TopTools_IndexedDataMapOfShapeListOfShape.hxx>
#include <TopTools_ListOfShape.hxx>
#include <TopoDS.hxx>
#include <TopoDS_Edge.hxx>
#include <TopoDS_Face.hxx>
#include <gp_Pln.hxx>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{

constexpr int DEGREE_MAX = 7;

struct refusal : std::runtime_error {
    using std::runtime_error::runtime_error;
};

[[noreturn]] __attribute__((format(printf, 1, 2))) void refuse(const char *format, ...)
{
    char text[600];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    throw refusal(text);
}

/* What is written: control points [u][v] and their weights. */
struct patch {
    int degree[2];
    std::vector<double> knots[2];
    std::vector<std::vector<gp_Pnt>> points;
    std::vector<std::vector<double>> weights;
};

struct rectangle {
    double low[2], high[2];
};

const char *type_name(GeomAbs_SurfaceType type)
{
    switch (type) {
    case GeomAbs_Plane:
        return "plane";
    case GeomAbs_Cylinder:
        return "cylinder";
    case GeomAbs_Cone:
        return "cone";
    case GeomAbs_Sphere:
        return "sphere";
    case GeomAbs_Torus:
        return "torus";
    case GeomAbs_BezierSurface:
        return "Bezier surface";
    case GeomAbs_BSplineSurface:
        return "B-spline surface";
    case GeomAbs_SurfaceOfRevolution:
        return "surface of revolution";
    case GeomAbs_SurfaceOfExtrusion:
        return "surface of extrusion";
    case GeomAbs_OffsetSurface:
        return "offset surface";
    default:
        return "surface of another kind";
    }
}

/* --- reading ------------------------------------------------------------------------------------
 */

std::string ending(const std::string &path)
{
    size_t dot = path.rfind('.');
    std::string end = dot == std::string::npos ? "" : path.substr(dot + 1);
    std::transform(end.begin(), end.end(), end.begin(), [](unsigned char c) { return tolower(c); });
    return end;
}

TopoDS_Shape read_part(const std::string &path)
{
    std::unique_ptr<FILE, int (*)(FILE *)> file(fopen(path.c_str(), "rb"), fclose);
    if (!file)
        refuse("expected a STEP, IGES or BREP file, found none to read");
    std::string end = ending(path);
    TopoDS_Shape shape;
    if (end == "step" || end == "stp") {
        STEPControl_Reader reader;
        if (reader.ReadFile(path.c_str()) != IFSelect_RetDone)
            refuse("expected a STEP file, found something else");
        reader.TransferRoots();
        shape = reader.OneShape();
    } else if (end == "iges" || end == "igs") {
        IGESControl_Reader reader;
        if (reader.ReadFile(path.c_str()) != IFSelect_RetDone)
            refuse("expected an IGES file, found something else");
        reader.TransferRoots();
        shape = reader.OneShape();
    } else if (end == "brep" || end == "brp") {
        BRep_Builder builder;
        if (!BRepTools::Read(shape, path.c_str(), builder))
            refuse("expected a BREP file, found something else");
    } else {
        refuse("expected .step, .stp, .iges, .igs, .brep or .brp, found \"%s\"", end.c_str());
    }
    if (shape.IsNull())
        refuse("expected a shape, found none");
    return shape;
}

/* --- faces that are rectangles of their parameters -----------------------------------------------
 */

std::vector<gp_Pnt2d> border_points(const TopoDS_Edge &edge, const TopoDS_Face &face)
{
    double first, last;
    std::vector<gp_Pnt2d> out;
    Handle(Geom2d_Curve) curve = BRep_Tool::CurveOnSurface(edge, face, first, last);
    for (int i = 0; !curve.IsNull() && i <= 16; i++)
        out.push_back(curve->Value(first + (last - first) * i / 16));
    return out;
}

bool near(double a, double b, double range)
{
    return std::fabs(a - b) <= 1e-7 * range;
}

/* The smallest rectangle around the border; true if every edge runs along one of its sides. */
bool find_rectangle(const TopoDS_Face &face, const Handle(Geom_Surface) & surface, rectangle &r)
{
    std::vector<std::vector<gp_Pnt2d>> edges;
    r = {{HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL}};
    for (TopExp_Explorer at(face, TopAbs_EDGE); at.More(); at.Next()) {
        edges.push_back(border_points(TopoDS::Edge(at.Current()), face));
        if (edges.back().empty())
            return false;
        for (const gp_Pnt2d &p : edges.back())
            for (int d = 0; d < 2; d++) {
                double x = d ? p.Y() : p.X();
                r.low[d] = std::min(r.low[d], x);
                r.high[d] = std::max(r.high[d], x);
            }
    }
    double bounds[4];
    surface->Bounds(bounds[0], bounds[1], bounds[2], bounds[3]);
    if (edges.empty()) /* no border at all: the whole surface */
        r = {{bounds[0], bounds[2]}, {bounds[1], bounds[3]}};
    double range[2] = {r.high[0] - r.low[0], r.high[1] - r.low[1]};
    for (int d = 0; d < 2; d++) {
        if (!(range[d] > 0) || range[d] > 1e50)
            return false;
        /* A border on the surface's own limit is that limit, or a pole would not close. */
        r.low[d] = near(r.low[d], bounds[2 * d], range[d]) ? bounds[2 * d] : r.low[d];
        r.high[d] = near(r.high[d], bounds[2 * d + 1], range[d]) ? bounds[2 * d + 1] : r.high[d];
    }
    for (const auto &edge : edges) {
        bool on[4] = {true, true, true, true};
        for (const gp_Pnt2d &p : edge) {
            on[0] = on[0] && near(p.X(), r.low[0], range[0]);
            on[1] = on[1] && near(p.X(), r.high[0], range[0]);
            on[2] = on[2] && near(p.Y(), r.low[1], range[1]);
            on[3] = on[3] && near(p.Y(), r.high[1], range[1]);
        }
        if (!on[0] && !on[1] && !on[2] && !on[3])
            return false;
    }
    return true;
}

patch from_spline(const Handle(Geom_BSplineSurface) & given)
{
    Handle(Geom_BSplineSurface) s = Handle(Geom_BSplineSurface)::DownCast(given->Copy());
    if (s->IsUPeriodic())
        s->SetUNotPeriodic();
    if (s->IsVPeriodic())
        s->SetVNotPeriodic();
    patch p;
    p.degree[0] = s->UDegree();
    p.degree[1] = s->VDegree();
    if (p.degree[0] > DEGREE_MAX || p.degree[1] > DEGREE_MAX)
        refuse("expected degrees up to %d, found %d and %d", DEGREE_MAX, p.degree[0], p.degree[1]);
    for (int i = 1; i <= s->NbUKnots(); i++)
        p.knots[0].insert(p.knots[0].end(), s->UMultiplicity(i), s->UKnot(i));
    for (int i = 1; i <= s->NbVKnots(); i++)
        p.knots[1].insert(p.knots[1].end(), s->VMultiplicity(i), s->VKnot(i));
    for (int i = 1; i <= s->NbUPoles(); i++) {
        p.points.emplace_back();
        p.weights.emplace_back();
        for (int j = 1; j <= s->NbVPoles(); j++) {
            p.points.back().push_back(s->Pole(i, j));
            p.weights.back().push_back(s->Weight(i, j));
        }
    }
    return p;
}

/* Points of the patch must lie on the surface that it stands for: OpenCASCADE approximates the
 * kinds of surfaces that no rational patch equals. */
void prove_exact(const Handle(Geom_Surface) & surface, const Handle(Geom_BSplineSurface) & spline)
{
    double u0, u1, v0, v1, size = 0, worst = 0;
    spline->Bounds(u0, u1, v0, v1);
    gp_Pnt corner = spline->Value(u0, v0);
    for (int i = 0; i <= 8; i++)
        for (int j = 0; j <= 8; j++) {
            gp_Pnt p =
                spline->Value(u0 + (u1 - u0) * (i + 0.37) / 9, v0 + (v1 - v0) * (j + 0.61) / 9);
            GeomAPI_ProjectPointOnSurf foot(p, surface);
            size = std::max(size, corner.Distance(p));
            worst = std::max(worst, foot.NbPoints() > 0 ? foot.LowerDistance() : 0.0);
        }
    if (worst > 1e-9 * size)
        refuse("expected a surface that a rational patch equals, found one %g away from its patch",
               worst);
}

Handle(Geom_BSplineSurface) to_spline(const Handle(Geom_Surface) & surface, const rectangle &r)
{
    Handle(Geom_Surface) part =
        new Geom_RectangularTrimmedSurface(surface, r.low[0], r.high[0], r.low[1], r.high[1]);
    Handle(Geom_BSplineSurface) spline = GeomConvert::SurfaceToBSplineSurface(part);
    prove_exact(surface, spline);
    return spline;
}

/* --- planar faces: sectors around the middle
 * ------------------------------------------------------ */

using face_map = TopTools_IndexedDataMapOfShapeListOfShape;

/* The curve has the ends of the edge and passes its inner points, in either direction. */
bool runs_along(const Handle(Geom_BSplineCurve) & c, const Handle(Geom_Curve) & edge, double first,
                double last)
{
    gp_Pnt ends[2] = {edge->Value(first), edge->Value(last)};
    double low = c->FirstParameter(), high = c->LastParameter();
    gp_Pnt start = c->Value(low), stop = c->Value(high);
    double size = start.Distance(c->Value(low + 0.4 * (high - low)));
    bool is_same = start.Distance(ends[0]) < 1e-6 * size && stop.Distance(ends[1]) < 1e-6 * size;
    bool is_back = start.Distance(ends[1]) < 1e-6 * size && stop.Distance(ends[0]) < 1e-6 * size;
    if (!is_same && !is_back)
        return false;
    for (int i = 1; i < 8; i++) {
        GeomAPI_ProjectPointOnCurve foot(edge->Value(first + (last - first) * i / 8), c);
        if (foot.NbPoints() < 1 || foot.LowerDistance() > 1e-6 * size)
            return false;
    }
    return true;
}

/* The border as its neighbour's patch has it, so that both sides of the seam are parametrised
 * alike; null if no neighbour is a rectangle with this border. */
Handle(Geom_BSplineCurve)
    neighbour_border(const TopoDS_Edge &edge, const TopoDS_Face &face, const face_map &owners)
{
    if (!owners.Contains(edge))
        return {};
    double first, last;
    Handle(Geom_Curve) curve = BRep_Tool::Curve(edge, first, last);
    for (const TopoDS_Shape &other : owners.FindFromKey(edge)) {
        TopoDS_Face neighbour = TopoDS::Face(other);
        Handle(Geom_Surface) surface = BRep_Tool::Surface(neighbour);
        rectangle r;
        if (neighbour.IsSame(face) || GeomLib_IsPlanarSurface(surface, 1e-9).IsPlanar() ||
            !find_rectangle(neighbour, surface, r))
            continue;
        Handle(Geom_BSplineSurface) s = to_spline(surface, r);
        double u0, u1, v0, v1;
        s->Bounds(u0, u1, v0, v1);
        Handle(Geom_Curve) sides[4] = {s->UIso(u0), s->UIso(u1), s->VIso(v0), s->VIso(v1)};
        for (const Handle(Geom_Curve) & side : sides) {
            Handle(Geom_BSplineCurve) c = Handle(Geom_BSplineCurve)::DownCast(side);
            if (!c.IsNull() && runs_along(c, curve, first, last))
                return c;
        }
    }
    return {};
}

Handle(Geom_BSplineCurve) own_border(const TopoDS_Edge &edge)
{
    double first, last;
    Handle(Geom_Curve) curve = BRep_Tool::Curve(edge, first, last);
    Handle(Geom_Curve) part = new Geom_TrimmedCurve(curve, first, last);
    return GeomConvert::CurveToBSplineCurve(part);
}

/* The patch between the middle (v = 0) and a border curve (v = 1): a cone over the curve, flat. */
patch sector(const gp_Pnt &middle, const Handle(Geom_BSplineCurve) & given)
{
    Handle(Geom_BSplineCurve) c = Handle(Geom_BSplineCurve)::DownCast(given->Copy());
    if (c->IsPeriodic())
        c->SetNotPeriodic();
    if (c->Degree() > DEGREE_MAX)
        refuse("expected a border of degree up to %d, found %d", DEGREE_MAX, c->Degree());
    patch p;
    p.degree[0] = c->Degree();
    p.degree[1] = 1;
    p.knots[1] = {0, 0, 1, 1};
    for (int i = 1; i <= c->NbKnots(); i++)
        p.knots[0].insert(p.knots[0].end(), c->Multiplicity(i), c->Knot(i));
    for (int i = 1; i <= c->NbPoles(); i++) {
        p.points.push_back({middle, c->Pole(i)});
        p.weights.push_back({c->Weight(i), c->Weight(i)});
    }
    return p;
}

/* Every border point must be seen from the middle, or the sectors would overlap. */
void prove_star_shaped(const gp_Pnt &middle, const gp_Dir &normal,
                       const std::vector<Handle(Geom_BSplineCurve)> &borders)
{
    for (const auto &c : borders) {
        double direction = 0; /* a border may be stored either way, but must not turn back */
        for (int i = 1; i < 32; i++) {
            gp_Pnt p;
            gp_Vec along;
            double t = c->FirstParameter() + (c->LastParameter() - c->FirstParameter()) * i / 32;
            c->D1(t, p, along);
            double side = gp_Vec(middle, p).Crossed(along).Dot(gp_Vec(normal));
            direction = direction == 0 ? side : direction;
            if (side * direction <= 0 ||
                std::fabs(side) < 1e-6 * middle.Distance(p) * along.Magnitude())
                refuse("expected a planar face that is seen whole from its middle");
        }
    }
}

std::vector<patch> from_plane(const TopoDS_Face &face, const gp_Dir &normal, const face_map &owners)
{
    int wires = 0;
    for (TopExp_Explorer at(face, TopAbs_WIRE); at.More(); at.Next())
        wires++;
    if (wires != 1)
        refuse("expected a planar face without holes, found %d borders", wires);
    GProp_GProps properties;
    BRepGProp::SurfaceProperties(face, properties);
    gp_Pnt middle = properties.CentreOfMass();
    std::vector<Handle(Geom_BSplineCurve)> borders;
    for (TopExp_Explorer at(face, TopAbs_EDGE); at.More(); at.Next()) {
        TopoDS_Edge edge = TopoDS::Edge(at.Current());
        if (BRep_Tool::Degenerated(edge))
            continue;
        Handle(Geom_BSplineCurve) c = neighbour_border(edge, face, owners);
        borders.push_back(c.IsNull() ? own_border(edge) : c);
    }
    prove_star_shaped(middle, normal, borders);
    std::vector<patch> out;
    for (const auto &c : borders)
        out.push_back(sector(middle, c));
    return out;
}

/* --- all of it
 * ------------------------------------------------------------------------------------ */

std::vector<patch> from_face(const TopoDS_Face &face, const face_map &owners)
{
    Handle(Geom_Surface) surface = BRep_Tool::Surface(face);
    rectangle r;
    if (find_rectangle(face, surface, r))
        return {from_spline(to_spline(surface, r))};
    /* Exporters write planes as splines too. */
    GeomLib_IsPlanarSurface plane(surface, 1e-9);
    if (plane.IsPlanar())
        return from_plane(face, plane.Plan().Axis().Direction(), owners);
    refuse("expected a face that is a rectangle of its parameters, found one trimmed otherwise");
}

void print_row(FILE *out, const std::vector<double> &row)
{
    for (size_t i = 0; i < row.size(); i++)
        fprintf(out, "%s%.17g", i ? ", " : "[", row[i]);
    fputs("]", out);
}

void print_patch(FILE *out, const patch &p)
{
    fprintf(out, "  {\"degree\": [%d, %d],\n   \"knots\": [", p.degree[0], p.degree[1]);
    print_row(out, p.knots[0]);
    fputs(", ", out);
    print_row(out, p.knots[1]);
    fputs("],\n   \"points\": [\n", out);
    for (size_t i = 0; i < p.points.size(); i++) {
        fputs("    [", out);
        for (size_t j = 0; j < p.points[i].size(); j++)
            fprintf(out, "%s[%.17g, %.17g, %.17g]", j ? ", " : "", p.points[i][j].X(),
                    p.points[i][j].Y(), p.points[i][j].Z());
        fputs(i + 1 < p.points.size() ? "],\n" : "]],\n", out);
    }
    fputs("   \"weights\": [\n", out);
    for (size_t i = 0; i < p.weights.size(); i++) {
        fputs("    ", out);
        print_row(out, p.weights[i]);
        fputs(i + 1 < p.weights.size() ? ",\n" : "]}", out);
    }
}

void write_body(const std::string &path, const std::vector<patch> &patches)
{
    std::unique_ptr<FILE, int (*)(FILE *)> out(fopen(path.c_str(), "w"), fclose);
    if (!out)
        refuse("expected to write %s, could not", path.c_str());
    fputs("{\n \"kind\": \"patches\",\n \"patches\": [\n", out.get());
    for (size_t i = 0; i < patches.size(); i++) {
        print_patch(out.get(), patches[i]);
        fputs(i + 1 < patches.size() ? ",\n" : "\n", out.get());
    }
    fputs(" ]\n}\n", out.get());
    if (fflush(out.get()) != 0 || ferror(out.get()))
        refuse("expected to write %s, could not", path.c_str());
}

void convert(const std::string &in, const std::string &out)
{
    TopoDS_Shape shape = read_part(in);
    face_map owners;
    TopExp::MapShapesAndAncestors(shape, TopAbs_EDGE, TopAbs_FACE, owners);
    std::vector<patch> patches;
    int number = 0;
    for (TopExp_Explorer at(shape, TopAbs_FACE); at.More(); at.Next(), number++) {
        TopoDS_Face face = TopoDS::Face(at.Current());
        try {
            for (patch &p : from_face(face, owners))
                patches.push_back(std::move(p));
        } catch (const refusal &why) {
            refuse("face %d (%s): %s", number, type_name(BRepAdaptor_Surface(face).GetType()),
                   why.what());
        } catch (const Standard_Failure &why) {
            refuse("face %d (%s): OpenCASCADE failed: %s", number,
                   type_name(BRepAdaptor_Surface(face).GetType()), why.GetMessageString());
        }
    }
    if (patches.empty())
        refuse("expected faces, found none");
    write_body(out, patches);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 3) {
        fputs("usage: haptic-import PART.step|.iges|.brep OUT.json\n", stderr);
        return 2;
    }
    Message::DefaultMessenger()->ChangePrinters().Clear();
    try {
        convert(argv[1], argv[2]);
        return 0;
    } catch (const refusal &why) {
        fprintf(stderr, "%s: %s\n", argv[1], why.what());
    } catch (const Standard_Failure &why) {
        fprintf(stderr, "%s: OpenCASCADE failed: %s\n", argv[1], why.GetMessageString());
    } catch (const std::exception &why) {
        fprintf(stderr, "%s: %s\n", argv[1], why.what());
    }
    return 2;
}
