#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Drapes a cloth over a sphere, in contact with it and with itself: nothing passes through, and the books balance.

--full: triangles of two fifths of the size. --draw: the picture of the README."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import numpy as np
from PIL import Image

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from crossings import crossings  # noqa: E402
from measure import Report, Run, VtuFile, options, run  # noqa: E402
from pictures import von_mises  # noqa: E402
from style import STYLE  # noqa: E402

RADIUS, DISTANCE = 0.25, 5e-3


def depth_in_sphere(vtu: VtuFile) -> float:
    """How far the nearest point of any triangle is within the sphere [m]; negative: outside."""
    points = vtu.places
    a, b, c = (points[vtu.array("Cells", "connectivity").reshape(-1, 3)[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    area = np.einsum("ij,ij->i", normal, normal)
    parts = [np.einsum("ij,ij->i", normal, np.cross(x, y)) / area for x, y in ((b, c), (c, a), (a, b))]
    inside = np.min(parts, axis=0) > 0  # the centre's foot lies within
    least = np.abs(np.einsum("ij,ij->i", normal, a)) / np.sqrt(area)
    distance = np.where(inside, least, np.inf)
    for x, y in ((a, b), (b, c), (c, a)):
        e = y - x
        s = np.clip(-np.einsum("ij,ij->i", x, e) / np.einsum("ij,ij->i", e, e), 0, 1)
        distance = np.minimum(distance, np.linalg.norm(x + s[:, None] * e, axis=1))
    return float(RADIUS - distance.min())


def lowest_corner(result: Run) -> float:
    return float(VtuFile(result.frames[-1][1]).places[:, 2].min())


def main() -> int:
    given = options(__doc__, ("draw",))
    report = Report("a cloth over a sphere", HERE, given)
    settings = {"mesh.size": 0.025} if given.full else {"mesh.size": 0.06, "run.end_time": 0.6}
    result = run(HERE / "cloth.toml", f"cloth-{given.full}", settings)
    h, s = result.history, result.summary
    measures = s["measures"]
    frames = [VtuFile(path) for _, path in result.frames]
    report.figure("edges that pass through faces, in all frames", sum(crossings(f) for f in frames), 0, 0)
    report.figure("deepest point within the sphere [mm]", 1e3 * max(depth_in_sphere(f) for f in frames), high=-5e-4 * 1e3)
    report.figure("smallest distance over the inner one", measures["smallest_distance"] / (0.1 * DISTANCE), 1.0, scatter=0.5)
    balance = h["total_energy"] - h["total_energy"][0] - h["external_work"] - h["damping_work"]
    given_up = np.abs(h["damping_work"]).max()
    report.figure("energy unaccounted for, of what friction and air took", float(np.abs(balance).max() / given_up), 0, 0.004, "", 1)
    report.figure("work of friction over all dissipation", measures["friction_work"] / h["damping_work"][-1], 0.1, 0.9, "", 0.2)
    report.figure("lowest corner [m]", lowest_corner(result), -0.45, -0.2, "", 0.2)
    report.figure("strikes of layers", measures["contact_strikes"], scatter=0.2)
    report.figure("triangles", int(len(frames[0].array("Cells", "types"))))
    matplotlib.rcParams.update(STYLE)
    if given.draw and (figure := von_mises(result)):
        figure.savefig(picture := HERE / "cloth.png", dpi=200)
        Image.open(picture).convert("RGB").quantize(128).save(picture, optimize=True)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
