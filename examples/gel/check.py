#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets two balls of gel collide by asynchronous energy-stepping and holds them against Gonzalez (2011), section 4.5.1.

--full: some 34,000 tetrahedra (default some 1000). --draw: the picture of the README."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measure import Report, Run, blank_picture, frame, options, run  # noqa: E402

BALLS = ("target", "incoming")


def collide(radius: float, full: bool, frames: int = 1) -> Run:
    """Of the incoming ball: 25 mm as the target, or 50 mm."""
    folder = Path(tempfile.mkdtemp(prefix="tempi-"))
    geometry = (HERE / "gel.geo").read_text(encoding="utf-8").replace("incoming = 0.025;", f"incoming = {radius};")
    if not full:
        geometry = geometry.replace("cells = 9.4;", "cells = 2.5;")
    (folder / "gel.geo").write_text(geometry, encoding="utf-8")
    (folder / "gel.toml").write_text((HERE / "gel.toml").read_text(encoding="utf-8"), encoding="utf-8")
    return run(folder / "gel.toml", "out", {"output.frames": frames}, folder)


def touching(result: Run) -> tuple[int, int]:
    """The samples between which they touch: while their momenta change."""
    momentum = result.history["target.linear_momentum_x"]
    changes = np.nonzero(np.abs(np.diff(momentum)) > 1e-9 * np.abs(momentum).max())[0]
    return int(changes[0]), int(changes[-1]) + 1


def force(result: Run) -> np.ndarray:
    """On the target, from the momentum it is given between two samples (4.44)."""
    return np.diff(result.history["target.linear_momentum_x"]) / np.diff(result.history["time"])


def hold(report: Report, name: str, result: Run) -> None:
    history, (first, last) = result.history, touching(result)
    report.figure(f"{name}: error of the level energy", abs(result.summary["measures"]["level_error"]), 0, 1e-10, "none")
    for momentum in ("linear", "angular"):
        report.figure(f"{name}: momentum error, {momentum}", result.summary[f"{momentum}_momentum"]["error"], 0, 1e-10, "none")
    local = [history[f"{ball}.kinetic_energy"] + history[f"{ball}.level_energy"] for ball in BALLS]
    stray = max(float(np.ptp(part)) for energy in local for part in (energy[: first + 1], energy[last:]))
    report.figure(f"{name}: stray of each ball's own energy before and after", stray / sum(energy[0] for energy in local), 0, 1e-10, "none")
    report.figure(f"{name}: they touch for [ms]", 1e3 * (history["time"][last] - history["time"][first]), scatter=0.3)
    report.figure(f"{name}: largest force, over 0.2 ms [N]", float(np.abs(np.add.reduceat(force(result), range(0, 900, 4)) / 4).max()), scatter=0.3)
    given, taken = (history[f"{ball}.linear_momentum_x"][-1] - history[f"{ball}.linear_momentum_x"][0] for ball in BALLS)
    report.figure(f"{name}: momentum given and taken, their difference over it", abs(given + taken) / abs(given), 0, 1e-10, "none")


def mean_steps(result: Run) -> tuple[float, float]:
    """Of the target and of the incoming ball [s]."""
    last = frame(result)
    step, group = last.array("CellData", "step"), last.array("CellData", "group")
    number = {name: int(key) for key, name in result.summary["groups"].items()}
    target, incoming = (float(step[group == number[ball]].mean()) for ball in BALLS)
    return target, incoming


def draw(result: Run) -> None:
    figure = blank_picture(2.6)
    left, right = figure.subplots(1, 2)
    time = 1e3 * result.history["time"]
    for ball, colour in zip(BALLS, ("#D55E00", "#0072B2")):
        left.plot(time, result.history[f"{ball}.kinetic_energy"] + result.history[f"{ball}.level_energy"], color=colour, label=ball)
    left.plot(time, result.history["total_energy"], color="black", lw=0.7)
    smooth = np.add.reduceat(-force(result), range(0, 900, 4)) / 4
    right.plot(time[:-1:4], smooth, color="black", lw=0.8)
    left.set(xlabel="time (ms)", ylabel="energy of each, and of all (J)")
    right.set(xlabel="time (ms)", ylabel="force between them (N)")
    left.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=2)
    figure.savefig(HERE / "gel.png", dpi=200)


def main() -> int:
    given = options(__doc__, ("draw",))
    report = Report("balls of gel: Gonzalez (2011) 4.5.1", HERE, given)
    equal = collide(0.025, given.full)
    hold(report, "equal balls", equal)
    if given.full:  # of small balls rounding decides it: the README says how
        ratio = mean_steps(equal)
        report.figure("equal balls: mean step of the target over that of the incoming ball", ratio[0] / ratio[1], 0.8, 1.25,
                      "equal histograms", 0.1)
        report.figure("tetrahedra of both", equal.summary["elements"] - 1, 32000, 36000, "34,080")
        unequal = collide(0.050, True)
        hold(report, "25 and 50 mm", unequal)
        ratio = mean_steps(unequal)
        report.figure("25 and 50 mm: larger over smaller mean step of the balls", max(ratio) / min(ratio), paper="unequal",
                      scatter=0.2)
    if given.draw:
        draw(equal)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
