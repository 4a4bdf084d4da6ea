#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets two equal bars meet by layers of contact and holds what they do against one-dimensional elasticity.

--full: a mesh of half the size. --draw: the picture of the README."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from crossings import crossings_of  # noqa: E402
from measure import Report, Run, blank_picture, options, run  # noqa: E402

SPEED, LENGTH, WAVE_SPEED = 0.1, 10.0, 1.0
DISTANCE, INNER = 0.02, 0.002


def meet(size: float, threads: int = 1) -> Run:
    return run(HERE / "bars.toml", f"bars-{size:g}-{threads}", {"mesh.size": size, "output.frames": 0})


def draw(result: Run) -> None:
    h = result.history
    figure = blank_picture(2.6)
    left, middle, right = figure.subplots(1, 3)
    for body, colour in (("left", "#0072B2"), ("right", "#D55E00")):
        left.plot(h["time"], h[f"{body}.linear_momentum_x"] / LENGTH, color=colour, label=f"{body} bar")
    middle.plot(h["time"], -h["contact_1.force_x"], color="black", lw=0.8)
    middle.axhline(SPEED, color="#999999", lw=0.8)
    right.plot(h["time"], 1e3 * h["contact_1.distance"], color="#0072B2", lw=0.8)
    twin = right.twinx()
    twin.plot(h["time"], h["contact_1.layers"], color="#D55E00", lw=0.8, drawstyle="steps-post")
    twin.set(ylabel="layers touched")
    left.set(xlabel="time (s)", ylabel="velocity (m/s)")
    middle.set(xlabel="time (s)", ylabel="contact force (N)")
    right.set(xlabel="time (s)", ylabel="smallest distance (mm)")
    left.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=2)
    figure.savefig(HERE / "bars.png", dpi=200)


def main() -> int:
    given = options(__doc__, ("draw",))
    report = Report("two bars by layers of contact", HERE, given)
    result = meet(0.125 if given.full else 0.25)
    h, s = result.history, result.summary
    touching = h["time"][h["contact_1.force"] > 0.0]
    report.figure("contact lasts until [s]", touching[-1], 19.6, 20.9, "20.5: 2 L / c after the gap of 0.1 m is closed", 0.02)
    report.figure("it lasts for [s]", touching[-1] - touching[0], 19.6, 20.4, "20: 2 L / c", 0.02)
    swapped = h["right.linear_momentum_x"][-1] / (SPEED * LENGTH)
    report.figure("velocity taken over from the other", swapped, 0.94, 1.0, "1 of a line")
    force = h["contact_1.force_x"][(h["time"] > 2.0) & (h["time"] < 18.0)]
    report.figure("mean force while they touch [N]", -float(np.mean(force)), 0.095, 0.105, "0.1: rho c v of the wave", 0.05)
    report.figure("smallest distance, over the first layer's [-]", s["measures"]["smallest_distance"] / DISTANCE, INNER / DISTANCE,
                  1.0)
    report.figure("energy band", s["energy"]["band"], 0, 1e-3)
    report.figure("energy drift", abs(s["energy"]["drift"]), 0, 3e-4, scatter=math.inf)  # what rounding leaves of contact
    report.figure("edges that pass through faces, in all frames", crossings_of(result), 0, 0)
    for momentum in ("linear", "angular"):
        report.figure(f"momentum error, {momentum}", s[f"{momentum}_momentum"]["error"], 0, 1e-12, "none")
    report.figure("strikes of layers", s["measures"]["contact_strikes"])
    if given.draw:
        draw(result)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
