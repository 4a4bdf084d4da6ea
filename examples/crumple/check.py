#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Six walls close on a cloth of 30 by 30 cm until it fits into a cube of 7.6 cm, and a sphere on sheets of 10 by 10 cm.

--full: cells of 6 mm instead of 15, layers from 1.2 mm on; in the sphere, as the case stands, 24 sheets of 2.5 mm
instead of 6 of 6.2 (20 minutes). --draw: the picture of the README."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from crossings import crossings_of  # noqa: E402
from measure import Report, Run, VtuFile, blank_picture, lit, options, run  # noqa: E402
from mesh import Mesh  # noqa: E402

START, SPEED = 0.17, 0.4  # of the walls: from the middle [m], towards it [m/s]


def draw(result: Run) -> None:
    figure = blank_picture(2.6)
    last = result.frames[-1][0]
    for k, part in enumerate((0, 0.5, 0.8, 1)):
        t, path = min(result.frames, key=lambda frame: abs(frame[0] - part * last))
        vtu = VtuFile(path)
        corners = 1e3 * vtu.places[Mesh(vtu).faces[:, :3]]
        ax = figure.add_subplot(1, 4, k + 1, projection="3d")
        ax.add_collection3d(Poly3DCollection(corners, facecolors=lit(corners), edgecolor="none"))
        room = 1e3 * max(START - SPEED * t, 0.06)
        ax.set(xlim=(-room, room), ylim=(-room, room), zlim=(-room, room), box_aspect=(1, 1, 1), title=f"{1e3 * t:.0f} ms")
        ax.axis("off")
    figure.savefig(HERE / "crumple.png", dpi=200)


def in_sphere(report: Report, full: bool) -> None:
    n, sheets = (40, 24) if full else (16, 6)
    distance = 0.06 / n
    with tempfile.TemporaryDirectory() as folder:
        geometry = Path(folder) / "sphere.geo"
        text = (HERE / "sphere.geo").read_text(encoding="utf-8").replace("n = 40;", f"n = {n};").replace("sheets = 24;", f"sheets = {sheets};")
        geometry.write_text(text, encoding="utf-8")
        settings = {"mesh.file": f'"{geometry}"', "contact.0.distance": distance}
        result = run(HERE / "sphere.toml", f"sphere-{full}", settings)
    h, s = result.history, result.summary
    report.figure("in a sphere that shrinks: triangles", len(Mesh(VtuFile(result.frames[0][1])).faces))
    report.figure("in a sphere: edges that pass through faces, in all frames", crossings_of(result), 0, 0)
    report.figure("in a sphere: smallest distance, over that at which layers begin", s["measures"]["smallest_distance"] / distance, 0.1, 1, scatter=0.5)
    report.figure("in a sphere: pairs that push each other, at most", int(h["contact_1.pairs"].max()), scatter=0.5)
    balance = h["total_energy"] - h["total_energy"][0] - h["external_work"] - h["damping_work"]
    report.figure("in a sphere: energy unaccounted for, of its work", float(np.abs(balance).max() / h["external_work"][-1]), 0, 0.002, scatter=1)


def main() -> int:
    given = options(__doc__, ("draw",))
    report = Report("a cloth is crumpled by six walls", HERE, given)
    result = run(HERE / "crumple.toml", f"crumple-{given.full}", {"mesh.size": 0.006, "contact.0.distance": 1.2e-3} if given.full else {})
    h, s = result.history, result.summary
    distance = 1.2e-3 if given.full else 3e-3
    report.figure("triangles", len(Mesh(VtuFile(result.frames[0][1])).faces))
    report.figure("edges that pass through faces, in all frames", crossings_of(result), 0, 0)
    nearest = min(START - SPEED * t - float(np.abs(VtuFile(path).places).max()) for t, path in result.frames)
    report.figure("nearest to a wall, in all frames, over the distance at which layers begin", nearest / distance, 0.1, 1, scatter=0.5)
    report.figure("smallest distance of all, over the same", s["measures"]["smallest_distance"] / distance, 0.1, 1, scatter=0.5)
    report.figure("pairs that push each other, at most", int(h["contact_1.pairs"].max()), scatter=0.3)
    report.figure("strikes of layers", s["measures"]["contact_strikes"], scatter=0.5)
    report.figure("pairs at a vertex, at most", s["measures"]["pairs_at_a_vertex"], scatter=0.5)
    balance = h["total_energy"] - h["total_energy"][0] - h["external_work"] - h["damping_work"]
    report.figure("energy unaccounted for, of the work of the walls", float(np.abs(balance).max() / h["external_work"][-1]), 0, 0.002, scatter=1)
    in_sphere(report, given.full)
    if given.draw:
        draw(result)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
