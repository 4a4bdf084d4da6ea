#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A crack in the middle of a plate: J by rings of nodes, from the energy, from the handbook; and under a sudden load.

--full: finer meshes. --draw: crack.png.
"""

from __future__ import annotations

import math
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measure import Report, Run, blank_picture, options, run  # noqa: E402

YOUNG, POISSON, DENSITY, STRESS, HALF, HALF_WIDTH = 1e9, 0.3, 1000.0, 1e6, 0.1, 0.5
RINGS = 8
FAST = math.sqrt(YOUNG * (1 - POISSON) / ((1 + POISSON) * (1 - 2 * POISSON) * DENSITY))  # of dilatational waves [m/s]
ARRIVES, ECHO = 1.0 / FAST, 2 * HALF / FAST  # [s]


def release(intensity: float | np.ndarray) -> float | np.ndarray:
    return intensity**2 * (1 - POISSON**2) / YOUNG


def handbook() -> float:
    """Of a long plate, after Tada (Tada, Paris, Irwin, The Stress Analysis of Cracks Handbook)."""
    ratio = HALF / HALF_WIDTH
    shape = math.sqrt(1 / math.cos(math.pi * ratio / 2)) * (1 - 0.025 * ratio**2 + 0.06 * ratio**4)
    return float(release(STRESS * math.sqrt(math.pi * HALF) * shape))


def freund(time: np.ndarray) -> np.ndarray:
    """Of a crack without end that two plane waves meet at once, from when they come (Freund, Dynamic Fracture Mechanics, 1990)."""
    return 2 * 2 * STRESS / (1 - POISSON) * np.sqrt(FAST * time * (1 - 2 * POISSON) / math.pi)


def case(name: str, **changes: float) -> Path:
    """The case with another half length of the crack, or other sizes of its mesh."""
    folder = Path(tempfile.mkdtemp(prefix="tempi-"))
    geometry = (HERE / "plate.geo").read_text(encoding="utf-8")
    for old, new in (("-0.1, 0, 0", f"-{changes.get('half', HALF)}, 0, 0"), ("= {0.1, 0, 0", f"= {{{changes.get('half', HALF)}, 0, 0"),
                     ("tip = 0.002", f"tip = {changes.get('tip', 0.002)}"), ("far = 0.04", f"far = {changes.get('far', 0.04)}")):
        assert geometry.count(old) == 1, old
        geometry = geometry.replace(old, new)
    (folder / "plate.geo").write_text(geometry, encoding="utf-8")
    text = (HERE / f"{name}.toml").read_text(encoding="utf-8")
    for sign in ("", "-"):
        text = text.replace(f"point = [{sign}0.1, 0]", f"point = [{sign}{changes.get('half', HALF)}, 0]")
    (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return folder / f"{name}.toml"


def rings(result: Run, tip: str = "tip") -> np.ndarray:
    return np.array([result.history[f"{tip}.J_{k}"] for k in range(1, RINGS + 1)])


def main() -> int:
    given = options(__doc__, ("draw",))
    report = Report("crack: J of a centre crack", HERE, given)
    size = {"tip": 0.001, "far": 0.02} if given.full else {}
    still = run(case("centre", **size), "centre", {})
    J = rings(still)[:, -1]
    report.figure("at rest: J_2 to J_8, mean over the handbook's", float(J[1:].mean() / handbook()), 0.98, 1.02, "1", scatter=1e-3)
    report.figure("at rest: K over the handbook's", float(math.sqrt(J[1:].mean() / handbook())), 0.95, 1.05, "1", scatter=1e-3)
    report.figure("at rest: spread of J_2 to J_8", float(np.ptp(J[1:]) / J[1:].mean()), 0, 0.05, "0", scatter=0.1)
    report.figure("at rest: J_1, of the tip's node alone, over their mean", float(J[0] / J[1:].mean()), 0.8, 1.0, "1")
    report.figure("at rest: the other tip's mean over this one's", float(rings(still, "other")[1:, -1].mean() / J[1:].mean()), 0.98, 1.02,
                  "1", scatter=2e-3)
    linear = run(case("centre", **size), "linear", {"mesh.order": 1})
    first = rings(linear)[:, -1]
    report.figure("at rest, 3-node triangles: J_2 to J_8, mean over the handbook's", float(first[1:].mean() / handbook()), 0.95, 1.02, "1",
                  scatter=5e-3)
    slice_ = run(HERE / "slice.toml", "slice", {})
    front = np.array([slice_.history[f"{tip}.J_{k}"][-1] for tip in ("tip", "other") for k in (2, 3, 4)])
    report.figure("in space: J_2 to J_4 of both fronts, mean over the handbook's", float(front.mean() / handbook()), 0.98, 1.02, "1", scatter=1e-2)
    report.figure("in space: spread of J_2 to J_4 of both fronts", float(np.ptp(front) / front.mean()), 0, 0.05, "0", scatter=0.5)
    energy = [run(case("centre", **size, half=HALF + by), f"half{by:+}", {}).history["total_energy"][-1] for by in (-0.005, 0.005)]
    report.figure("at rest: J over the energy's difference in the length", float(J[1:].mean() / ((energy[1] - energy[0]) / 0.02)), 0.98, 1.02,
                  "1", scatter=5e-3)

    struck = run(case("impact", **size), "impact", {})
    time = struck.history["time"] - ARRIVES
    window = (time > 0.2 * ECHO) & (time < ECHO)
    J = rings(struck)
    K = np.sqrt(J[4][window] / release(1.0))
    off = K / freund(time[window]) - 1
    report.figure("sudden load: K over Freund's, mean from 0.2 of the window on", float(1 + off.mean()), 0.95, 1.05, "1", scatter=5e-3)
    report.figure("sudden load: K off Freund's, most from 0.2 of the window on", float(np.abs(off).max()), 0, 0.05, "0", scatter=0.2)
    report.figure("sudden load: spread of J_2 to J_8, from 0.2 of the window on",
                  float((np.ptp(J[1:, window], axis=0) / J[1:, window].mean(axis=0)).max()), 0, 0.05, "0", scatter=0.3)
    report.figure("sudden load: updates of Newmark / updates of AVI", struck.summary["counted_speedup"], 3.0)
    report.figure("sudden load: energy unaccounted / reference", struck.summary["energy"]["band"], 0, 0.01, scatter=0.3)
    if given.draw:
        draw(struck, time)
    return report.close()


def draw(struck: Run, time: np.ndarray) -> None:
    figure = blank_picture(2.8)
    left, right = figure.subplots(1, 2)
    shown = np.linspace(0, ECHO, 200)
    J = rings(struck)
    left.plot(1e3 * shown, 1e-3 * freund(shown), color="#000000", lw=1.0, label="Freund")
    left.plot(1e3 * time, 1e-3 * np.sqrt(np.maximum(J[4], 0) / release(1.0)), color="#0072B2", label="$J_5$")
    left.axvline(1e3 * ECHO, color="#999999", lw=0.7)
    left.set(xlim=(-0.1, 0.19), xlabel="time since the waves came (ms)", ylabel="K (kPa √m)")
    left.legend()
    for k in (0, 1, 3, 7):
        right.plot(1e3 * time, J[k], label=f"$J_{k + 1}$", lw=1.0)
    right.set(xlim=(-0.1, 0.19), xlabel="time since the waves came (ms)", ylabel="J (J/m²)")
    right.legend()
    figure.savefig(HERE / "crack.png", dpi=200)


if __name__ == "__main__":
    sys.exit(main())
