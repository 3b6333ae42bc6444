#!/usr/bin/env python3
"""Makes config/bodies/blob.json: radius 24 mm * (1 + 0.12 sin 5x cos(4y + 1) sin(6z + 0.5)) over the
directions (x, y, z), as six spline patches (degree 5) over the faces of a cube. Each patch interpolates exact
points (not-a-knot splines), so neighbours share their border curves exactly.
usage: make-blob.py POINTS > blob.json; prints the largest radial error on stderr."""
import json
import math
import sys


def radius(d):
    x, y, z = d
    return 0.024 * (1 + 0.12 * math.sin(5 * x) * math.cos(4 * y + 1) * math.sin(6 * z + 0.5))


FACES = [((1, 0, 0), (0, 1, 0), (0, 0, 1)), ((-1, 0, 0), (0, 0, 1), (0, 1, 0)),
         ((0, 1, 0), (0, 0, 1), (1, 0, 0)), ((0, -1, 0), (1, 0, 0), (0, 0, 1)),
         ((0, 0, 1), (1, 0, 0), (0, 1, 0)), ((0, 0, -1), (0, 1, 0), (1, 0, 0))]


def point(face, u, v):
    n, a, b = face
    s, t = math.tan(math.pi / 4 * (2 * u - 1)), math.tan(math.pi / 4 * (2 * v - 1))
    d = [n[k] + s * a[k] + t * b[k] for k in range(3)]
    length = math.sqrt(sum(c * c for c in d))
    d = [c / length for c in d]
    r = radius(d)
    return [r * c for c in d]


def basis(knots, i, p, x):
    if p == 0:
        return 1.0 if knots[i] <= x < knots[i + 1] else 0.0
    value = 0.0
    if knots[i + p] > knots[i]:
        value += (x - knots[i]) / (knots[i + p] - knots[i]) * basis(knots, i, p - 1, x)
    if knots[i + p + 1] > knots[i + 1]:
        value += (knots[i + p + 1] - x) / (knots[i + p + 1] - knots[i + 1]) * basis(knots, i + 1, p - 1, x)
    return value


DEGREE = 5


def row(knots, n, x):
    if x >= 1.0:
        return [0.0] * (n - 1) + [1.0]
    return [basis(knots, i, DEGREE, x) for i in range(n)]


def invert(m):
    n = len(m)
    a = [list(r) + [1.0 if i == j else 0.0 for j in range(n)] for i, r in enumerate(m)]
    for c in range(n):
        p = max(range(c, n), key=lambda i: abs(a[i][c]))
        a[c], a[p] = a[p], a[c]
        q = a[c][c]
        a[c] = [x / q for x in a[c]]
        for i in range(n):
            if i != c and a[i][c] != 0.0:
                f = a[i][c]
                a[i] = [x - f * y for x, y in zip(a[i], a[c])]
    return [r[n:] for r in a]


def multiply(a, b):
    columns = list(zip(*b))
    return [[sum(x * y for x, y in zip(r, c)) for c in columns] for r in a]


def main():
    n = int(sys.argv[1])
    # closer at the ends, where an interpolating spline errs most; symmetric, so that borders agree
    sites = [0.4 * i / (n - 1) + 0.3 * (1 - math.cos(math.pi * i / (n - 1))) for i in range(n)]
    sites = [0.5 * (x + 1 - y) for x, y in zip(sites, reversed(sites))]
    sites[0], sites[-1] = 0.0, 1.0
    half = (DEGREE + 1) // 2
    knots = [0.0] * (DEGREE + 1) + sites[half:n - half] + [1.0] * (DEGREE + 1)
    inverse = invert([row(knots, n, x) for x in sites])
    across = [list(c) for c in zip(*inverse)]
    patches, worst = [], 0.0
    middles = [(sites[i] + sites[i + 1]) / 2 for i in range(n - 1)]
    rows = [row(knots, n, x) for x in middles]
    for face in FACES:
        data = [[point(face, u, v) for v in sites] for u in sites]
        control = []
        for k in range(3):
            control.append(multiply(multiply(inverse, [[p[k] for p in r] for r in data]), across))
        points = [[[float("%.11g" % control[k][i][j]) for k in range(3)] for j in range(n)] for i in range(n)]
        patches.append({"degree": [DEGREE, DEGREE], "knots": [knots, knots], "points": points})
        for bu in rows:
            for bv in rows:
                p = [sum(bu[i] * sum(bv[j] * points[i][j][k] for j in range(n) if bv[j]) for i in range(n) if bu[i])
                     for k in range(3)]
                length = math.sqrt(sum(c * c for c in p))
                worst = max(worst, abs(length - radius([c / length for c in p])))
    json.dump({"kind": "body", "name": "blob", "convex": False, "patches": patches}, sys.stdout, separators=(",", ":"))
    sys.stdout.write("\n")
    sys.stderr.write("largest radial error %.3g m\n" % worst)


main()
