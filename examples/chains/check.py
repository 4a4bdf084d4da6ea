#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Chains of unequal beads, and a compressed one: what a wave loses where heavy and light beads take turns, tapered rows
beside the impacts of two, normal modes of a compressed row.

--draw: chains.png. --beads: writes the beads of the three cases.
"""

from __future__ import annotations

import math
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measure import Report, Run, blank_picture, mean_period, options, run  # noqa: E402

YOUNG, POISSON, DENSITY = 213e9, 0.3, 7780.0
TAPER, THROWN, LARGEST, COUNT = 0.08, 0.5, 0.005, 20
SPACING, OVERLAP = 0.009519, 1e-6


def sphere(radius: float) -> float:
    return DENSITY * 4 / 3 * math.pi * radius**3


def dimer(ratio: float) -> str:
    rows = [f"{1.0 if k % 2 == 0 else ratio!r},{k},0,{1e-3 if k == 0 else 0.0},0" for k in range(92)]
    return "\n".join(["mass,x,y,vx,vy", *rows]) + "\n"


def tapered(gap: float, taper: float = TAPER) -> str:
    rows, x = [], 0.0
    for k in range(COUNT):
        r = LARGEST * (1 - taper) ** k
        rows.append(f"{sphere(r)!r},{x!r},0,{THROWN if k == 0 else 0.0},0,{r!r}")
        x += r + gap + r * (1 - taper)
    return "\n".join(["mass,x,y,vx,vy,radius", *rows]) + "\n"


def compressed() -> str:
    r = 0.5 * (SPACING + OVERLAP)
    return "\n".join(["mass,x,y,vx,vy,radius", *(f"{sphere(r)!r},{k * SPACING!r},0,0,0,{r!r}" for k in range(33))]) + "\n"


def with_beads(case: str, beads: str, name: str) -> Run:
    """A case with other beads."""
    place = Path(tempfile.mkdtemp(prefix="tempi-"))
    (place / f"{case}.csv").write_text(beads, encoding="utf-8")
    (place / f"{case}.toml").write_text((HERE / f"{case}.toml").read_text(encoding="utf-8"), encoding="utf-8")
    return run(place / f"{case}.toml", name, {})


def passed_on(ratio: float) -> float:
    """Of the speed of heavy bead 20, what heavy bead 40 has."""
    history = with_beads("dimer", dimer(ratio), f"dimer-{ratio}").history
    return float(history["far.velocity_x"].max() / history["near.velocity_x"].max())


def main() -> int:
    given = options(__doc__, ("draw", "beads"))
    if given.beads:
        for name, beads in {"dimer": dimer(0.3428), "tapered": tapered(1e-4), "compressed": compressed()}.items():
            (HERE / f"{name}.csv").write_text(beads, encoding="utf-8")
        return 0
    report = Report("chains: unequal beads, and compressed ones", HERE, given)
    ratios = [0.0615, 0.0901, 0.12, 0.1548, 0.2, 0.24, 0.28, 0.33, 0.3428, 0.355, 0.4, 0.45, 0.5, 0.59, 0.7, 0.85, 1.0]
    asked = ratios if given.full or given.draw else [0.0901, 0.1548, 0.33, 0.3428, 0.355, 0.59]
    kept = {ratio: passed_on(ratio) for ratio in asked}
    report.figure("dimer of 0.59: speed that 20 heavy beads leave", kept[0.59], 0.57, 0.61)
    for ratio in (0.3428, 0.1548, 0.0901):
        report.figure(f"dimer of {ratio}: the same", kept[ratio], 1 - 2e-4, 1 + 2e-4, "1", scatter=math.inf)
    a, b, _ = np.polyfit([0.33, 0.3428, 0.355], [kept[r] for r in (0.33, 0.3428, 0.355)], 2)
    report.figure("dimer: ratio of masses that leaves most", float(-b / (2 * a)), 0.3428 - 0.002, 0.3428 + 0.002, "0.3428")

    apart = run(HERE / "tapered.toml", "tapered", {})
    mass_ratio = (1 - TAPER) ** 3
    of_impacts = THROWN * (2 / (1 + mass_ratio)) ** (COUNT - 1)
    last = float(apart.history["last.velocity_x"].max())
    report.figure("tapered, 0.1 mm apart: speed of the last bead over that of 19 impacts of two", last / of_impacts, 1 - 1e-5, 1 + 1e-5, "1", scatter=math.inf)
    report.figure("tapered: error of the linear momentum", apart.summary["linear_momentum"]["error"], 0, 1e-12, scatter=9)
    touching = with_beads("tapered", tapered(0.0), "touching")
    gained = float(touching.history["last.velocity_x"].max()) / of_impacts
    report.figure("tapered, touching: the same", gained, 0.77, 0.81)

    stiffness = math.sqrt(0.5 * (SPACING + OVERLAP) / 2) * 4 / 3 * YOUNG / (2 * (1 - POISSON**2))
    frequency = math.sqrt(1.5 * stiffness * math.sqrt(OVERLAP) / sphere(0.5 * (SPACING + OVERLAP)))
    for mode in (1, 31):
        swinging = run(HERE / "compressed.toml", f"mode-{mode}", {"constants.mode": mode})
        period = mean_period(swinging.history["time"], swinging.history["bead.displacement_x"])
        exact = math.pi / (frequency * math.sin(0.5 * math.pi * mode / 32))
        report.figure(f"compressed: period of mode {mode} of 31 over the exact one", period / exact, 1 - 2e-4, 1 + 2e-4, "1")
    if given.draw:
        draw(kept, apart, touching)
    return report.close()


def draw(kept: dict[float, float], apart: Run, touching: Run) -> None:
    figure = blank_picture(2.6)
    left, right = figure.subplots(1, 2)
    ratios = sorted(kept)
    left.plot(ratios, [kept[r] for r in ratios], "o-", ms=3, lw=0.8, color="#0072B2")
    for ratio in (0.3428, 0.1548, 0.0901):
        left.axvline(ratio, color="black", lw=0.5, ls=":")
    left.set(xlabel="mass of the light beads over that of the heavy ones", ylabel="speed left by 20 heavy beads")
    for result, name, colour in ((apart, "0.1 mm apart", "#0072B2"), (touching, "touching", "#D55E00")):
        right.plot(1e3 * result.history["time"], result.history["last.velocity_x"], lw=1, label=name, color=colour)
    right.legend(frameon=False)
    right.set(xlabel="time (ms)", ylabel="speed of the last bead (m/s)")
    figure.savefig(HERE / "chains.png", dpi=200)


if __name__ == "__main__":
    sys.exit(main())
