#!/usr/bin/env python3
"""usage: convert-surfaces.py SOURCE OUT

Makes the shipped bodies (config/bodies/*.json) from public surface data. SOURCE holds the folders
gismo (G+Smo XML), nurbsjl ("nurbs mesh" .dat) and geomdl (.cpt, .cptw) as their projects publish them.
"""
import json
import pathlib
import re
import sys
import xml.etree.ElementTree as tree

GISMO = "gismo/gismo, filedata/surfaces, Mozilla Public License 2.0"
NURBSJL = "HoBeZwe/NURBS.jl, test/assets, MIT licence, Copyright (c) 2022 Bernd Hofmann"
GEOMDL = "orbingol/geomdl-examples, MIT licence, Copyright (c) 2016-2019 Onur Rauf Bingol"


def numbers(text):
    return [float(x) for x in text.split()]


def patch(degree, knots, count, points, weights):
    """points and weights are given with u running fastest, as points[u][v] in the body."""
    nu, nv = count
    out = {
        "degree": degree,
        "knots": knots,
        "points": [[points[j * nu + i] for j in range(nv)] for i in range(nu)],
    }
    if any(w != weights[0] for w in weights):
        out["weights"] = [[weights[j * nu + i] for j in range(nv)] for i in range(nu)]
    return out


def gismo(path):
    text = re.sub(r"<!--.*?-->", "", path.read_text(), flags=re.S).lstrip()
    patches = []
    for geometry in tree.fromstring(text).iter("Geometry"):
        vectors = list(geometry.iter("KnotVector"))
        degree = [int(k.get("degree")) for k in vectors]
        knots = [numbers(k.text) for k in vectors]
        count = [len(k) - d - 1 for k, d in zip(knots, degree)]
        flat = numbers(geometry.find("coefs").text)
        points = [flat[3 * i : 3 * i + 3] for i in range(len(flat) // 3)]
        stated = geometry.find("Basis/weights")
        weights = numbers(stated.text) if stated is not None else [1.0] * len(points)
        assert len(points) == len(weights) == count[0] * count[1]
        patches.append(patch(degree, knots, count, points, weights))
    return patches


def nurbsjl(path):
    lines = path.read_text().splitlines()
    patches = []
    for i, line in enumerate(lines):
        if not line.startswith("PATCH"):
            continue
        degree = [int(x) for x in lines[i + 1].split()]
        count = [int(x) for x in lines[i + 2].split()]
        knots = [numbers(lines[i + 3]), numbers(lines[i + 4])]
        x, y, z, w = (numbers(lines[i + k]) for k in range(5, 9))
        points = [[a / d, b / d, c / d] for a, b, c, d in zip(x, y, z, w)]
        patches.append(patch(degree, knots, count, points, w))
    return patches


def geomdl(path, degree, knots):
    rows = [[numbers(p.replace(",", " ")) for p in line.split(";")] for line in path.read_text().split()]
    weighted = len(rows[0][0]) == 4
    weights = [[p[3] if weighted else 1.0 for p in row] for row in rows]
    points = [[[c / w for c in p[:3]] for p, w in zip(row, ws)] for row, ws in zip(rows, weights)]
    out = {"degree": degree, "knots": knots, "points": points}
    if weighted:
        out["weights"] = weights
    return [out]


def uniform(degree, count):
    inner = count - degree
    return [0.0] * (degree + 1) + [i / inner for i in range(1, inner)] + [1.0] * (degree + 1)


def write(folder, name, kind, source, patches, **promises):
    head = {"kind": kind, "name": name, "source": source, **promises}
    text = json.dumps(head, indent=1)[:-2] + ',\n "patches": [\n'
    items = []
    for p in patches:
        rows = ",\n    ".join(json.dumps(r) for r in p["points"])
        item = f'  {{"degree": {json.dumps(p["degree"])},\n   "knots": {json.dumps(p["knots"])},\n   "points": [\n    {rows}]'
        if "weights" in p:
            item += ',\n   "weights": [\n    ' + ",\n    ".join(json.dumps(r) for r in p["weights"]) + "]"
        items.append(item + "}")
    (folder / (name + ".json")).write_text(text + ",\n".join(items) + "\n ]\n}\n")


def main():
    source, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    g = source / "gismo"
    write(out, "egg", "body", GISMO, gismo(g / "egg.xml"))
    write(out, "quarter-sphere", "patches", GISMO, gismo(g / "quarter_sphere.xml"), convex=True)
    write(out, "cylinder", "patches", GISMO, gismo(g / "cylinder.xml"), convex=True)
    write(out, "roof", "patches", GISMO, gismo(g / "scordelis_lo_roof.xml"), convex=True)
    write(out, "saddle", "patches", GISMO, gismo(g / "simple.xml"))
    write(out, "teapot", "patches", GISMO, gismo(g / "teapot.xml"))
    write(out, "sphere-six", "body", NURBSJL, nurbsjl(source / "nurbsjl/sphere.dat"))
    quarter = [0, 0, 0, 0.25, 0.25, 0.5, 0.5, 0.75, 0.75, 1, 1, 1]
    write(out, "tube", "patches", GEOMDL,
          geomdl(source / "geomdl/ex_cylinder.cptw", [1, 2], [[0, 0, 1, 1], quarter]), convex=True)
    waves = [0, 0, 0, 0, 1, 2, 3, 3, 3, 3]
    write(out, "waves", "patches", GEOMDL,
          geomdl(source / "geomdl/ex_surface01.cpt", [3, 3], [waves, waves]))
    write(out, "hills", "patches", GEOMDL,
          geomdl(source / "geomdl/ex_surface02.cpt", [3, 3], [uniform(3, 6), uniform(3, 6)]))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main()
