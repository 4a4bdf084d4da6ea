#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Throws a cube at a wall by force-stepping and by Newmark and holds it against Gonzalez (2011), section 3.6.3.

--full: a finer grid too. --draw: the picture of the README."""

from __future__ import annotations

import math
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "spinning-cube")]
from measure import Report, Run, blank_picture, options, run  # noqa: E402
from cube_mesh import write_cube  # noqa: E402


def thrown(cells: int, end: float, grid: float | None, frames: int = 0) -> tuple[int, Run]:
    """Nodes of the cube, and its flight by force-stepping, or by Newmark at the thesis' 0.2 ns."""
    folder = Path(tempfile.mkdtemp(prefix="tempi-"))
    nodes, _ = write_cube(folder / "cube.msh", cells)
    text = (HERE / "impact.toml").read_text(encoding="utf-8")
    if grid is None:
        text = text.replace('method = "force-stepping"\ngrid = 5e-4', 'method = "newmark"\nstep = 2e-10')
    else:
        text = text.replace("grid = 5e-4", f"grid = {grid}")
    (folder / "impact.toml").write_text(text, encoding="utf-8")
    return nodes, run(folder / "impact.toml", "out", {"run.end_time": end, "output.frames": frames}, folder)


def draw(stepped: Run, newmark: Run) -> None:
    figure = blank_picture(2.6)
    left, right = figure.subplots(1, 2)
    for axis, colour in zip("xyz", ("#0072B2", "#D55E00", "#009E73")):
        left.plot(1e6 * stepped.history["time"], stepped.history[f"linear_momentum_{axis}"], color=colour, label=f"${axis}$")
        left.plot(1e6 * newmark.history["time"], newmark.history[f"linear_momentum_{axis}"], color="black", lw=0.5, ls="--")
    for name, colour in (("kinetic_energy", "#0072B2"), ("potential_energy", "#D55E00"), ("total_energy", "black")):
        right.plot(1e6 * stepped.history["time"], 1e-6 * stepped.history[name], color=colour, label=name.split("_", maxsplit=1)[0])
    left.set(xlabel="time (us)", ylabel="momentum (kg m/s); dashed: Newmark")
    right.set(xlabel="time (us)", ylabel="energy (MJ)")
    for panel in (left, right):
        panel.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=3)
    figure.savefig(HERE / "impact.png", dpi=200)


def main() -> int:
    given = options(__doc__, ("draw",))
    report = Report("oblique impact: Gonzalez (2011) 3.6.3", HERE, given)
    end = 40e-6
    nodes, stepped = thrown(2, end, 5e-4)
    _, newmark = thrown(2, end, None)
    measures, reference = stepped.summary["measures"], newmark.history
    report.figure("nodes", nodes, 71, 71, "71")
    grids, steps = (1e-3, 5e-4, 2.5e-4), []
    for grid in grids:
        steps.append(thrown(2, 10e-6, grid)[1].summary["measures"]["mean_step"])
    report.figure("mean step until 10 us [ns]", 1e9 * steps[1], 0.1, 0.4, "0.2")
    report.figure("mean step until 40 us [ns]", 1e9 * measures["mean_step"])
    report.figure("exponent of the mean step in the grid (5e-4, 2.5e-4)", math.log2(steps[1] / steps[2]), 0.9, 1.1, "1")
    report.figure("exponent of the mean step in the grid (1e-3, 5e-4)", math.log2(steps[0] / steps[1]), paper="1")
    sizes, steps = [], []
    for cells in (2, 3, 4):
        count, result = thrown(cells, 1.5e-6, 5e-4)
        sizes.append(count)
        steps.append(result.summary["measures"]["mean_step"])
    report.figure("exponent of the mean step in the nodes (71, 199, 429)", float(np.polyfit(np.log(sizes), np.log(steps), 1)[0]), -2.4, -1.6,
                  "-2")
    first = reference["linear_momentum_x"][0]
    report.figure("error of the stepped energy", abs(measures["level_error"]), 0, 1e-9, "none")
    for grid in (5e-4, 2.5e-4) if given.full else (5e-4,):
        history = stepped.history if grid == 5e-4 else thrown(2, end, grid)[1].history
        name = f"grid {grid:g}: "
        report.figure(name + "change of the momentum along the wall over it", float(np.abs(history["linear_momentum_x"] / first - 1).max()),
                      0, 0.01, "unperturbed", 0.5)
        for axis in "yz":
            change = reference[f"linear_momentum_{axis}"] - first
            apart = np.abs(history[f"linear_momentum_{axis}"] - reference[f"linear_momentum_{axis}"]).max() / np.abs(change).max()
            report.figure(f"{name}momentum along {axis} against Newmark, over its change", float(apart), 0, 0.12, "follows closely", 0.5)
    for name, history in (("Newmark", reference), ("force-stepping", stepped.history)):
        moved = np.nonzero(np.abs(history["linear_momentum_y"] - first) > 1e-3 * first)[0][0]
        limits = (0.95, 1.05 + 1e6 * history["time"][1]) if name == "Newmark" else (0.5, 1.05)
        report.figure(f"{name}: first contact [us]", 1e6 * history["time"][moved], *limits, "1, of the cube at [0, 0.1]^3")
    report.figure("Newmark: band of its energy", newmark.summary["energy"]["band"], 0, 0.02, "tight", 0.3)
    report.figure("steps a second, 213 coordinates", measures["events"] / stepped.summary["wall_time"], scatter=math.inf)
    if given.draw:
        draw(stepped, newmark)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
