#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets an elastic ball meet a rigid plane, and two balls each other, by layers of contact and holds them against Hertz.

--full: a finer mesh, more samples. --draw: the picture of the README."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from crossings import crossings_of  # noqa: E402
from measure import Report, Run, VtuFile, blank_picture, options, run  # noqa: E402

RADIUS, YOUNG, POISSON, SPEED = 0.05, 1e7, 0.3, 0.5
MODULUS = YOUNG / (1.0 - POISSON**2)  # the plane is rigid
DISTANCE = 1e-4  # at which layers begin [m]


def hertz(mass: float, radius: float = RADIUS, modulus: float = MODULUS) -> tuple[float, float, float]:
    """Largest approach [m], largest force [N], duration [s]; of two bodies the reduced mass, radius and modulus."""
    depth = (15.0 * mass * SPEED**2 / (16.0 * modulus * math.sqrt(radius))) ** 0.4
    return depth, 4.0 / 3.0 * modulus * math.sqrt(radius) * depth**1.5, 2.87 * (mass**2 / (radius * modulus**2 * SPEED)) ** 0.2


def touching(h: Run) -> np.ndarray:
    return h.history["time"][h.history["contact_1.force"] > 0.0]


def largest_force(h: dict[str, np.ndarray], momentum: str) -> float:
    """By what a row's time changes the momentum: nodes bounce on layers faster than that."""
    return float(np.max(np.gradient(h[momentum], h["time"])))


def draw(result: Run, mass: float) -> None:
    depth, force, duration = hertz(mass)
    h = result.history
    touching = np.nonzero(h["contact_1.force"] > 0.0)[0]
    first = h["time"][touching[0]]
    # m x'' = -F (x / depth)^(3/2), from the first touch
    step, x, v, line = duration / 20000, 0.0, SPEED, []
    for k in range(21000):
        v -= step * force * (max(x, 0.0) / depth) ** 1.5 / mass
        x += step * v
        line.append((1e3 * k * step, force * (max(x, 0.0) / depth) ** 1.5))
    figure = blank_picture(2.6)
    left, right = figure.subplots(1, 2)
    t = 1e3 * (h["time"] - first)
    left.plot(*zip(*line), color="#999999", label="Hertz")
    left.plot(t, h["contact_1.force_z"], color="#0072B2", lw=0.9, label="layers of contact")
    left.set(xlabel="time since the first touch (ms)", ylabel="force (N)", xlim=(-0.5, 9))
    left.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=2)
    right.plot(t, 1e3 * h["contact_1.distance"], color="#0072B2", lw=0.9)
    right.set(xlabel="time since the first touch (ms)", ylabel="smallest distance (mm)", xlim=(-0.5, 9))
    figure.savefig(HERE / "hertz.png", dpi=200)


def main() -> int:
    given = options(__doc__, ("draw",))
    report = Report("a ball on a plane, and two balls: Hertz", HERE, given)
    settings: dict[str, object] = {"output.history": 900} if given.full else {"mesh.order": 1}
    result = run(HERE / "hertz.toml", "hertz", settings)
    h, s = result.history, result.summary
    mass = -h["linear_momentum_z"][0] / SPEED
    _, force, duration = hertz(mass)
    within = 0.03 if given.full else 0.08
    touches = touching(result)
    report.figure("largest force over that of Hertz", largest_force(h, "linear_momentum_z") / force, 1 - within, 1 + within, "1", 0.03)
    report.figure("duration over that of Hertz", (touches[-1] - touches[0]) / duration, 1 - within, 1 + within, "1", 0.03)
    report.figure("speed afterwards over that before", h["linear_momentum_z"][-1] / (mass * SPEED), 0.99, 1.0, "1", 0.01)
    report.figure("energy band", s["energy"]["band"], 0, 3e-3)
    lowest = min(float(VtuFile(path).places[:, 2].min()) for _, path in result.frames)
    report.figure("lowest point above the plane, in all frames, over the distance at which layers begin", lowest / DISTANCE, 0.1, scatter=0.3)
    report.figure("elements", s["elements"])

    both = run(HERE / "two.toml", "two", settings)
    h, s = both.history, both.summary
    ball = 0.5 * mass  # reduced
    _, force, duration = hertz(ball, 0.5 * RADIUS, 0.5 * MODULUS)
    touches = touching(both)
    upwards = h["upper.linear_momentum_z"]
    report.figure("two balls: largest force over that of Hertz", largest_force(h, "upper.linear_momentum_z") / force, 1 - within, 1 + within, "1", 0.03)
    report.figure("two balls: duration over that of Hertz", (touches[-1] - touches[0]) / duration, 1 - within, 1 + within, "1", 0.03)
    report.figure("two balls: velocity taken over from the other", -upwards[-1] / upwards[0], 0.99, 1.0, "1", 0.01)
    report.figure("two balls: error of the linear momentum", s["linear_momentum"]["error"], 0, 1e-12)
    report.figure("two balls: energy band", s["energy"]["band"], 0, 3e-3)
    report.figure("two balls: edges that pass through faces, in all frames", crossings_of(both), 0, 0)
    report.figure("two balls: elements", s["elements"])
    if given.draw:
        draw(result, mass)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
