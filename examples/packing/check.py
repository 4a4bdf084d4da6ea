#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Grains of many sizes fall into a box and come to rest.

--full: 100,000 grains instead of 1000. --draw: packing.png. --grains: writes grains.csv anew.
"""

from __future__ import annotations

import math
import sys
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.collections import EllipseCollection

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measure import Report, Run, VtuFile, blank_picture, options, run  # noqa: E402

RADIUS, DENSITY, GRAVITY, APART = 1e-3, 2500.0, 9.81, 2.3e-3


def grains(count: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Places and radii, 0.9 to 1.1 mm, of grains above each other in a box of this width, and the width [m]."""
    random = np.random.default_rng(1)
    side = round((count / 2) ** (1 / 3))
    index = np.arange(count)
    x = np.stack([index % side, index // side % side, index // side**2], axis=1) + 0.5
    x = APART * (x + random.uniform(-0.05, 0.05, x.shape))
    return x.round(7), (RADIUS * random.uniform(0.9, 1.1, count)).round(7), side * APART


def write(path: Path, x: np.ndarray, radius: np.ndarray) -> None:
    rows = [f"{4 / 3 * math.pi * DENSITY * r**3:.6g},{r:g},{p[0]:g},{p[1]:g},{p[2]:g}\n" for p, r in zip(x, radius)]
    path.write_text("mass,radius,x,y,z\n" + "".join(rows), encoding="utf-8")


def touching(x: np.ndarray, radius: np.ndarray) -> int:
    """How many pairs of spheres overlap: by cells as wide as the largest sphere."""
    width = 2 * radius.max()
    cell = np.floor((x - x.min(axis=0)) / width).astype(int)
    members: dict[tuple[int, int, int], list[int]] = {}
    for i, key in enumerate(map(tuple, cell)):
        members.setdefault(key, []).append(i)
    pairs = 0
    for (a, b, c), here in members.items():
        near = [j for da in (-1, 0, 1) for db in (-1, 0, 1) for dc in (-1, 0, 1) for j in members.get((a + da, b + db, c + dc), [])]
        gap = np.linalg.norm(x[near][None] - x[here][:, None], axis=2) - radius[near][None] - radius[here][:, None]
        pairs += int(np.count_nonzero(gap < 0)) - len(here)  # not with itself
    return pairs // 2


def draw(result: Run, radius: np.ndarray, width: float) -> None:
    figure = blank_picture(3.0)
    frames = [result.frames[k] for k in (0, len(result.frames) // 6, -1)]
    axes = figure.subplots(1, 3)
    for ax, (t, path) in zip(axes, frames):
        vtu = VtuFile(path)
        x = vtu.places
        front = np.argsort(-x[:, 1])
        speed = np.linalg.norm(vtu.array("PointData", "velocity"), axis=1)
        size = 2e3 * radius[front]
        balls = EllipseCollection(size, size, 0, units="xy", offsets=1e3 * x[front][:, [0, 2]], transOffset=ax.transData,
                                  array=speed[front], cmap="viridis", edgecolor="black", lw=0.2, clim=(0, 0.3))
        ax.add_collection(balls)
        ax.set(xlim=(0, 1e3 * width), ylim=(0, 1e3 * VtuFile(result.frames[0][1]).places[:, 2].max() + 2), aspect="equal", title=f"{1e3 * t:.0f} ms")
        ax.axis("off")
    figure.colorbar(balls, ax=axes, label="speed (m/s)", shrink=0.8)
    figure.savefig(HERE / "packing.png", dpi=200)


def settle(report: Report, prefix: str, name: str, settings: dict[str, object], x: np.ndarray, radius: np.ndarray, width: float, unaccounted: float) -> Run:
    """Runs until the grains are at rest, and looks how they lie; `prefix`: of the figures' names."""
    result = run(HERE / "packing.toml", name, settings | {"integrator.residual": "true"})
    h, s = result.history, result.summary
    place = VtuFile(result.frames[-1][1]).places
    mass = 4 / 3 * math.pi * DENSITY * radius**3

    def figure(what: str, value: float, *limits: object, **more: object) -> None:
        report.figure(prefix + what, value, *limits, **more)

    figure("grains", len(place))
    lost = float(-h["damping_work"][-1])
    # How soon the last grains lie still is chance: 2e-8 to 5e-5 in twelve runs with safety from 0.18 to 0.21.
    figure("energy of motion in the end, of what fell", float(h["kinetic_energy"][-1]) / lost, 0, 1e-4, scatter=99)
    figure("taken, of the work of gravity", lost / float(h["external_work"][-1]), 0.98, 1.02)
    balance = h["total_energy"] - h["total_energy"][0] - h["external_work"] - h["damping_work"]
    figure("energy unaccounted for, of what was dissipated", float(np.abs(balance).max()) / lost, 0, unaccounted, scatter=1)
    figure("ledger of the energy of motion, kick by kick: what is left open, of what was dissipated", float(np.abs(h["ledger_error"]).max()) / lost, 0, 1e-10, scatter=99)
    pushed = float(h["linear_momentum_z"][-1])  # gravity's impulse is known: the rest came from floor and drag
    figure("momentum left, of gravity's impulse", abs(pushed) / float(mass.sum() * GRAVITY * s["end_time"]), 0, 1e-4, scatter=99)
    inner = (place[:, 2] > 3 * RADIUS) & (place[:, 2] < 0.8 * place[:, 2].max())
    low, high = place[inner, 2].min(), place[inner, 2].max()
    fraction = float((4 / 3 * math.pi * radius[inner] ** 3).sum() / (width**2 * (high - low)))
    figure("volume filled, walls included", fraction, 0.5, 0.66, "random: 0.60 to 0.64", 0.03)
    figure("pairs that touch, per grain", touching(place, radius) / len(x), 2.5, 3.6, "3, stiff and without friction", 0.05)
    beyond = np.maximum(radius - place[:, :2].min(axis=1), place[:, :2].max(axis=1) + radius - width)
    figure("farthest below the floor or beyond a wall [radii]", float(np.maximum(radius - place[:, 2], beyond).max() / RADIUS), -1, 0.1, scatter=1)
    return result


def main() -> int:
    given = options(__doc__, ("draw", "grains"))
    count = 100_000 if given.full else 1000
    x, radius, width = grains(count)
    if given.grains:
        write(HERE / "grains.csv", *grains(1000)[:2])
    report = Report("packing: grains in a box", HERE, given)
    settings: dict[str, object] = {}
    if given.full:
        file = Path(tempfile.mkdtemp(prefix="tempi-")) / "grains.csv"
        write(file, x, radius)
        settings = {"run.end_time": 0.8, "particles.file": f'"{file}"', "wall.3.point": [width, 0, 0], "wall.4.point": [0, width, 0]}
    result = settle(report, "", f"packing-{count}", settings, x, radius, width, 3e-3)
    bounces = {"potential.0.restitution": 0.5, "damping.0.coefficient": 0.0, "integrator.safety": 0.1}
    settle(report, "by impacts: ", f"packing-impacts-{count}", settings | bounces, x, radius, width, 4e-3)
    if given.draw:
        draw(result, radius, width)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
