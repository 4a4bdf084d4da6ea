#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Five elastic balls in a row hand on a push by layers of contact: the last one takes it all.

--draw: the picture of the README."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from crossings import crossings_of  # noqa: E402
from measure import Report, Run, blank_picture, options, run  # noqa: E402

SPEED, YOUNG, POISSON, DENSITY, RADIUS = 0.5, 1e7, 0.3, 1000.0, 0.025
BALLS = [f"ball {i}" for i in range(1, 6)]
COLOURS = ["#0072B2", "#56B4E9", "#009E73", "#E69F00", "#D55E00"]


def velocity(h: dict[str, np.ndarray], ball: str) -> np.ndarray:
    """Of its centre of mass, over that of the first ball at first."""
    return h[f"{ball}.linear_momentum_x"] / h[f"{BALLS[0]}.linear_momentum_x"][0]


def hertz_duration() -> float:
    """Of two equal balls: 2.87 (m*^2 / (R* E*^2 v))^(1/5)."""
    mass = 0.5 * DENSITY * 4 / 3 * np.pi * RADIUS**3
    stiffness = YOUNG / (2 * (1 - POISSON**2))
    return float(2.868 * (mass**2 / (0.5 * RADIUS * stiffness**2 * SPEED)) ** 0.2)


def mean_touch(h: dict[str, np.ndarray]) -> float:
    """The mean time from first to last force over the impacts, which follow each other."""
    on = np.concatenate(([0], (h["contact_1.force"] > 0).astype(int), [0]))
    begin, end = np.flatnonzero(np.diff(on) == 1), np.flatnonzero(np.diff(on) == -1)
    lasting = np.array([h["time"][min(e, len(h["time"]) - 1)] - h["time"][b] for b, e in zip(begin, end)])
    return float(lasting[lasting > 0.3 * lasting.max()].mean())


def draw(result: Run) -> None:
    h = result.history
    figure = blank_picture(2.4)
    left, right = figure.subplots(1, 2)
    for ball, colour in zip(BALLS, COLOURS):
        left.plot(1e3 * h["time"], velocity(h, ball), color=colour, label=ball)
    right.plot(1e3 * h["time"], h["contact_1.force"], color="black", lw=0.8)
    left.set(xlabel="time (ms)", ylabel="velocity over the first")
    right.set(xlabel="time (ms)", ylabel="contact force (N)")
    left.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=5, columnspacing=0.8, handlelength=1)
    figure.savefig(HERE / "cradle.png", dpi=200)


def main() -> int:
    given = options(__doc__, ("draw",))
    report = Report("five balls in a row", HERE, given)
    result = run(HERE / "cradle.toml", f"cradle-{given.full}", {})
    h, s = result.history, result.summary
    report.figure("velocity of the last ball, over that of the first", float(velocity(h, BALLS[-1])[-1]), 0.985, 1.0, "1 of points")
    others = max(abs(float(velocity(h, ball)[-1])) for ball in BALLS[:-1])
    report.figure("largest velocity left to the others", others, 0, 0.015, "0 of points", 0.2)
    vibration = sum(float(h[f"{ball}.vibrational_energy"][-1]) for ball in BALLS) / float(h["total_energy"][0])
    report.figure("vibration left, of the energy", vibration, 0, 0.004, "", 0.1)
    report.figure("an impact lasts, over Hertz' duration", mean_touch(h) / hertz_duration(), 0.84, 1.0)
    report.figure("energy band", s["energy"]["band"], 0, 0.002, "", 0.1)
    for momentum in ("linear", "angular"):
        report.figure(f"momentum error, {momentum}", s[f"{momentum}_momentum"]["error"], 0, 1e-12, "none")
    report.figure("edges that pass through faces, in all frames", crossings_of(result), 0, 0)
    report.figure("strikes of layers", s["measures"]["contact_strikes"], scatter=0.05)
    if given.draw:
        draw(result)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
