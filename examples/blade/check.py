#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the three blades and holds them against the paper (2004, section 4.5, Tables I and II).

Short by default: one revolution on a small mesh. --full: the paper's size and times, an hour and a half on two cores.
--draw, with --full: cases.png (Figs 9 to 11), updates.png (12), energy.png (13) and residual.png (18).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measure import Report, Run, blank_picture, draw_residual, frame, options, run, updates_off_prediction  # noqa: E402
from matplotlib.colors import Normalize  # noqa: E402
from panels import add_colour_bar, draw_frame, paint  # noqa: E402
from style import UPDATES_MAP  # noqa: E402
from vtu import VtuFile  # noqa: E402

RIGID_PERIOD = 2 * np.pi / 40.0
PAPER = {1: "0.1575 +- 0.0005", 2: "0.1595 +- 0.0005", 3: "0.1845 +- 0.0005"}
LIMITS = {1: (0.1567, 0.1583), 2: (0.1585, 0.1605), 3: (0.1815, 0.1875)}  # of periods at full size
SMALL = {1: (0.1570, 0.1590), 2: (0.1580, 0.1605), 3: (0.1815, 0.1900)}   # of the first revolutions on a small mesh
SAVINGS = {1: "6.37", 2: "6.37", 3: "5.80"}
FEW_REVOLUTIONS = 3 * 0.1845


def angle(result: Run) -> np.ndarray:
    """Of the line from tip to tip."""
    h = result.history
    x = 14.4 + h["tip.displacement_x"] - h["other tip.displacement_x"]
    y = h["tip.displacement_y"] - h["other tip.displacement_y"]
    return np.unwrap(np.arctan2(y, x))


def period(result: Run) -> float:
    """Mean time of a revolution."""
    return float(2 * np.pi / np.polyfit(result.history["time"], angle(result), 1)[0])


def figures(report: Report, name: str, result: Run, case: int, limits: tuple[float, float], saving: float) -> None:
    summary = result.summary
    report.figure(f"{name}: period [s]", period(result), *limits, PAPER[case])
    report.figure(f"{name}: revolutions", angle(result)[-1] / (2 * np.pi), paper="about 150" if case == 3 else "-")
    report.figure(f"{name}: elements with another number of updates than predicted", updates_off_prediction(result), 0, 0)
    report.figure(f"{name}: updates, most of an element", summary["updates"]["max"])
    report.figure(f"{name}: updates, fewest", summary["updates"]["min"])
    report.figure(f"{name}: updates of Newmark / updates of AVI", summary["counted_speedup"], saving, paper=SAVINGS[case])
    report.figure(f"{name}: momentum error, linear", summary["linear_momentum"]["error"], 0, 1e-11)
    report.figure(f"{name}: momentum error, angular", summary["angular_momentum"]["error"], 0, 1e-11)
    report.figure(f"{name}: energy band", summary["energy"]["band"], 0, 0.01, "nearly constant")
    report.figure(f"{name}: energy drift", abs(summary["energy"]["drift"]), 0, 0.002)


def watched() -> Path:
    """Case 3 with the residual of one element followed."""
    text = (HERE / "case3.toml").read_text(encoding="utf-8").replace('"blade.geo"', f'"{HERE / "blade.geo"}"')
    text = text.replace("[integrator]", '[[probe]]\nname = "one"\npoint = [4.1, 0.05, 0.0]\nresidual = true\n\n[integrator]\ncourant = 0.1\nresidual = true')
    path = Path(tempfile.mkdtemp(prefix="tempi-")) / "case3.toml"
    path.write_text(text, encoding="utf-8")
    return path


def main() -> int:
    given = options(__doc__, ("draw",))
    report = Report(f"blade: {'the paper' if given.full else 'one revolution on a small mesh'}, 2004 section 4.5", HERE, given)
    runs = {}
    for case in (1, 2, 3):
        small = {"mesh.file": "small.geo", "run.end_time": RIGID_PERIOD, "output.frames": 2, "output.history": 200}
        runs[case] = run(HERE / f"case{case}.toml", f"case{case}", {} if given.full else small)
        figures(report, f"case {case}", runs[case], case, *((LIMITS[case], 1.4) if given.full else (SMALL[case], 1.0)))
    report.figure("T1 < T2 < T3", float(period(runs[1]) < period(runs[2]) < period(runs[3])), 1, 1)
    if given.full:
        slow = run(watched(), "watched", {"run.end_time": FEW_REVOLUTIONS, "output.frames": 2, "output.history": 4000})
        figures(report, "case 3, 3 revolutions", slow, 3, LIMITS[3], 1.4)
        followed = slow.history["one.accumulated_residual"] / slow.history["one.energy"].max()
        report.figure("accumulated residual of the element drawn / its largest energy", float(np.abs(followed).max()), 0, 0.01,
                      "negligible")
        if given.draw:
            snapshots(runs)
            updates(runs[3])
            energy(runs[3])
            draw_residual(slow, FEW_REVOLUTIONS, HERE / "residual.png")
    return report.close()


def snapshots(runs: dict[int, Run]) -> None:
    """The paper's Figs 9 to 11: the three blades at four times, seen from above the plane of rotation."""
    figure = blank_picture(5.4)
    a, b = np.radians(25), np.radians(35)
    right = np.array([np.cos(a), np.sin(a), 0.0])
    viewer = np.array([np.sin(a) * np.cos(b), -np.cos(a) * np.cos(b), np.sin(b)])
    view = np.array([right, np.cross(viewer, right), viewer])
    axes = figure.subplots(3, 4)
    for row, (case, result) in zip(axes, runs.items()):
        last = len(result.frames) - 1
        for ax, number in zip(row, (round(0.004 * last) or 1, round(0.05 * last), last // 2, last)):
            time, path = result.frames[number]
            drawing = draw_frame(result, VtuFile(path), view)
            paint(ax, drawing, np.zeros(drawing.owner.max() + 1), Normalize(-0.3, 1), UPDATES_MAP, 1.6)
            ax.set(xlim=(-8.5, 8.5), ylim=(-6.5, 6.5), aspect="equal")
            ax.set_axis_off()
            ax.set_title(f"case {case}, {time:.3g} s", fontsize=8)
    figure.savefig(HERE / "cases.png", dpi=200)


def updates(result: Run) -> None:
    """Fig. 12: how often each element was updated."""
    figure = blank_picture(1.7)
    ax = figure.subplots()
    vtu = VtuFile(result.frames[0][1])
    drawing = draw_frame(result, vtu)
    values = np.log10(frame(result).array("CellData", "updates"))
    norm = Normalize(values.min(), values.max())
    paint(ax, drawing, values, norm, UPDATES_MAP, 6.0)
    ax.autoscale_view()
    ax.set_aspect("equal")
    ax.set_axis_off()
    add_colour_bar(ax, norm, UPDATES_MAP, "log$_{10}$ (updates per element)", orientation="horizontal", fraction=0.1)
    figure.savefig(HERE / "updates.png", dpi=200)


def energy(result: Run) -> None:
    """Fig. 13: total energy over revolutions; beside it its change."""
    figure = blank_picture(2.4)
    total, turns = result.history["total_energy"], angle(result) / (2 * np.pi)
    whole, change = figure.subplots(1, 2)
    whole.plot(turns, 1e-6 * total, lw=0.6, color="#0072B2")
    whole.set(xlabel="revolutions", ylabel="energy (MJ)", ylim=(0, 1.2e-6 * total.max()))
    change.plot(turns, 1e6 * (total / total[0] - 1), lw=0.4, color="#0072B2")
    change.set(xlabel="revolutions", ylabel="change of energy ($10^{-6}$)")
    figure.savefig(HERE / "energy.png", dpi=200)


if __name__ == "__main__":
    sys.exit(main())
