#!/usr/bin/env python3
"""Makes a spatial body of a planar one: its curves extruded to walls, and caps that fan out from the
middle to each curve. All patches are exact.
usage: make-prism.py PLANAR.json HALF_HEIGHT > PRISM.json"""
import json
import sys


def main():
    body = json.load(open(sys.argv[1]))
    half = float(sys.argv[2])
    corners = body["vertices"]
    middle = [sum(p[k] for p in corners) / len(corners) for k in range(2)]
    patches = []
    for curve in body["curves"]:
        w = curve["weights"]
        points = curve["points"]
        walls = [[[p[0], p[1], -half], [p[0], p[1], half]] for p in points]
        patches.append({"degree": [curve["degree"], 1], "points": walls, "weights": [[x, x] for x in w]})
        for z in (-half, half):
            fan = [[[p[0], p[1], z], [middle[0], middle[1], z]] for p in points]
            patches.append({"degree": [curve["degree"], 1], "points": fan, "weights": [[x, x] for x in w]})
    json.dump({"kind": "body", "patches": patches}, sys.stdout, indent=1)
    sys.stdout.write("\n")


main()
