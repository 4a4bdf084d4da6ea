#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Throws a block of gel through a slit between two rods that is three quarters as wide.

--full: cells of half the size. --draw: the pictures of the README, one of which moves."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from PIL import Image

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from crossings import crossings_of  # noqa: E402
from measure import Report, Run, VtuFile, blank_picture, options, run  # noqa: E402
from mesh import Mesh  # noqa: E402

RODS, RADIUS, DISTANCE = (np.array([0.035, 0.0]), np.array([-0.035, 0.0])), 0.02, 1e-3


def sides(vtu: VtuFile) -> np.ndarray:
    """The corners of the faces of the surface, seen along the rods: (faces, 3, 2)."""
    return vtu.places[Mesh(vtu).faces[:, :3]][:, :, [0, 2]]


def nearest(faces: np.ndarray) -> float:
    """The distance of the nearest point of any face to an axis of the rods [m]."""
    least = np.inf
    for axis in RODS:
        p = faces - axis
        around = [p[:, k, 0] * p[:, (k + 1) % 3, 1] - p[:, k, 1] * p[:, (k + 1) % 3, 0] for k in range(3)]
        if (np.min(around, axis=0) > 0).any() or (np.max(around, axis=0) < 0).any():
            return 0.0  # the axis passes through a face
        for k in range(3):
            a, e = p[:, k], p[:, (k + 1) % 3] - p[:, k]
            s = np.clip(-np.einsum("ij,ij->i", a, e) / np.maximum(np.einsum("ij,ij->i", e, e), 1e-300), 0, 1)
            least = min(least, np.linalg.norm(a + s[:, None] * e, axis=1).min())
    return float(least)


def draw(result: Run) -> None:
    figure = blank_picture(2.2)
    times = (0.0, 0.008, 0.016, 0.024, 0.034)
    for ax, at in zip(figure.subplots(1, len(times)), times):
        t, path = min(result.frames, key=lambda frame: abs(frame[0] - at))
        ax.add_collection(PolyCollection(1e3 * sides(VtuFile(path)), facecolor="#56B4E9", edgecolor="#0072B2", lw=0.1, alpha=0.3))
        for axis in RODS:
            ax.add_patch(Circle(1e3 * axis, 1e3 * RADIUS, color="#999999"))
        ax.set(xlim=(-40, 40), ylim=(-100, 90), aspect="equal", title=f"{1e3 * t:.0f} ms")
        ax.axis("off")
    figure.savefig(HERE / "slit.png", dpi=200)


def animate(result: Run) -> None:
    """slit.gif: 20 pictures a second, 25 times slower than life."""
    pictures = []
    for t, path in result.frames:
        figure = Figure(figsize=(2.2, 3.6), dpi=100)
        canvas = FigureCanvasAgg(figure)
        ax = figure.add_axes((0, 0, 1, 0.94), aspect="equal", xlim=(-50, 50), ylim=(-95, 90), title=f"{1e3 * t:.1f} ms")
        ax.axis("off")
        ax.add_collection(PolyCollection(1e3 * sides(VtuFile(path)), facecolor="#56B4E9", edgecolor="#0072B2", lw=0.2, alpha=0.3))
        for axis in RODS:
            ax.add_patch(Circle(1e3 * axis, 1e3 * RADIUS, color="#999999"))
        canvas.draw()
        pictures.append(Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB").quantize(32))
    pictures[0].save(HERE / "slit.gif", save_all=True, append_images=pictures[1:], duration=50, loop=0, optimize=True)



def main() -> int:
    given = options(__doc__, ("draw",))
    report = Report("a block of gel through a slit", HERE, given)
    result = run(HERE / "slit.toml", f"slit-{given.full}", {} if given.full else {"mesh.size": 0.01})
    h, s = result.history, result.summary
    frames = [VtuFile(path) for _, path in result.frames]
    report.figure("highest point at the end [mm]", 1e3 * float(frames[-1].places[:, 2].max()), high=-1e3 * RADIUS)
    report.figure("nearest to a rod's surface, in all frames [mm]", 1e3 * (min(nearest(sides(f)) for f in frames) - RADIUS),
                  1e3 * 0.1 * DISTANCE, scatter=0.5)
    report.figure("edges that pass through faces, in all frames", crossings_of(result), 0, 0)
    report.figure("momentum that is left", float(h["linear_momentum_z"][-1] / h["linear_momentum_z"][0]), 0.78, 0.9, "", 0.1)
    impulse = float(np.sum(0.5 * (h["contact_1.force_z"][1:] + h["contact_1.force_z"][:-1]) * np.diff(h["time"])))
    change = float(h["linear_momentum_z"][-1] - h["linear_momentum_z"][0])
    report.figure("the rods' force over time, of the change of momentum", impulse / change, 0.99, 1.01)
    balance = h["total_energy"] - h["total_energy"][0] - h["external_work"] - h["damping_work"]
    report.figure("energy unaccounted for, of what it had", float(np.abs(balance).max() / h["kinetic_energy"][0]), 0, 0.03, "", 0.5)
    report.figure("taken by viscosity, of what it had", float(-h["damping_work"][-1] / h["kinetic_energy"][0]), 0.2, 0.35, "", 0.2)
    report.figure("strikes of layers", s["measures"]["contact_strikes"], scatter=0.2)
    if given.draw:
        draw(result)
        animate(result)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
