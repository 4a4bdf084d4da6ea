#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A spherical shell meets a plate: momenta, energy after the impact, and whether anything ever passed through.

--full: triangles of half the size. --draw: the picture of the README."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from crossings import crossings, crossings_of  # noqa: E402
from measure import Report, Run, VtuFile, blank_picture, options, run  # noqa: E402


class Lowered(VtuFile):
    """A frame whose ball has been moved into the plate: a control that must be found."""

    @property
    def places(self) -> np.ndarray:
        points = super().places.copy()
        points[points[:, 2] > 0.01, 2] -= 0.05
        return points


def draw(result: Run) -> None:
    h = result.history
    figure = blank_picture(2.6)
    left, middle, right = figure.subplots(1, 3)
    for name, colour in (("kinetic", "#0072B2"), ("potential", "#D55E00"), ("total", "black")):
        left.plot(1e3 * h["time"], 1e-3 * h[f"{name}_energy"], color=colour, label=name, lw=0.8)
    middle.plot(1e3 * h["time"], 1e6 * (h["total_energy"] / h["total_energy"][0] - 1), color="black", lw=0.5)
    right.plot(1e3 * h["time"], 1e-3 * h["contact_1.force"], color="#D55E00", lw=0.8)
    left.set(xlabel="time (ms)", ylabel="energy (kJ)")
    middle.set(xlabel="time (ms)", ylabel="change of total energy (ppm)")
    right.set(xlabel="time (ms)", ylabel="contact force (kN)", xlim=(0, 2.5))
    left.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=3)
    figure.savefig(HERE / "energy.png", dpi=200)


def main() -> int:
    given = options(__doc__, ("draw",))
    report = Report("a spherical shell and a plate", HERE, given)
    result = run(HERE / "sphere-plate.toml", f"sphere-plate-{given.full}", {"mesh.size": 0.015 if given.full else 0.03})
    h, s = result.history, result.summary
    touching = h["time"][h["contact_1.force"] > 0.0]
    lasts = touching[-1] - touching[0]
    after = h["time"] > touching[-1]
    span = h["time"][-1] - touching[-1]
    energy = h["total_energy"] / h["total_energy"][0]
    slope = np.polyfit(h["time"][after], energy[after], 1)[0]
    report.figure("they touch for [ms]", 1e3 * lasts, 1.2, 2.0, "", 0.05)
    report.figure("durations of it that follow", span / lasts, 5, 8, "", 0.05)
    report.figure("total energy, least over first", float(energy.min()), 0.98, 1.02)
    report.figure("total energy, largest over first", float(energy.max()), 0.98, 1.02)
    report.figure("drift after the impact, of the kinetic energy at first", abs(slope) * span, 0, 0.01, "no long-term drift", 0.5)
    for momentum in ("linear", "angular"):
        report.figure(f"momentum error, {momentum}", s[f"{momentum}_momentum"]["error"], 0, 1e-12, "none")
    report.figure("smallest distance over the inner one", s["measures"]["smallest_distance"] / 4e-4, 1.0)
    report.figure("edges that pass through faces, in all frames", crossings_of(result), 0, 0)
    moved = crossings(Lowered(result.frames[0][1]))
    report.figure("the same with the ball put into the plate: a control", moved, 10)
    report.figure("strikes of layers", s["measures"]["contact_strikes"], scatter=0.05)
    report.figure("triangles", int(len(VtuFile(result.frames[0][1]).array("Cells", "types"))))
    if given.draw:
        draw(result)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
