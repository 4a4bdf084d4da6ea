#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the spinning cube by energy-stepping and by Newmark and holds it against Gonzalez (2011), section 2.5.2.1.

--full: to t = 80 with three energy steps (default 10, with one). --draw: the picture of the README."""

from __future__ import annotations

import contextlib
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
from measure import Report, Run, blank_picture, options, run  # noqa: E402
from cube_mesh import write_cube  # noqa: E402
from read import read_run  # noqa: E402

PAPER = {1e-5: 0.0082, 3e-5: 0.0204, 6e-5: 0.0381}  # energy step: mean step, taken for Newmark too


class Cube:
    def __init__(self, end: float) -> None:
        self.folder, self.end = Path(tempfile.mkdtemp(prefix="tempi-")), end
        self.nodes, self.cells = write_cube(self.folder / "cube.msh", 8)
        (self.folder / "cube.toml").write_text((HERE / "cube.toml").read_text(encoding="utf-8"), encoding="utf-8")

    def stepped(self, energy_step: float, frames: int = 0) -> Run:
        return run(self.folder / "cube.toml", f"stepping-{energy_step:g}",
                   {"run.end_time": self.end, "integrator.energy_step": energy_step, "output.frames": frames,
                    "output.history": int(10 * self.end)}, self.folder)

    def newmark(self, step: float) -> Path:
        """The folder of its results, whether it reached the end or not."""
        text = (HERE / "cube.toml").read_text(encoding="utf-8")
        head, tail = text.split("[integrator]")
        case = self.folder / f"newmark-{step:g}.toml"
        case.write_text(f'{head}[integrator]\nmethod = "newmark"\nstep = {step}\nresidual = false\n[run]{tail.split("[run]")[1]}', encoding="utf-8")
        name = f"newmark-{step:g}"
        with contextlib.suppress(subprocess.CalledProcessError):
            run(case, name, {"run.end_time": self.end, "output.frames": 0, "output.history": int(10 * self.end)}, self.folder)
        return self.folder / name


def figures_of(report: Report, name: str, result: Run) -> None:
    report.figure(f"{name}: error of the level energy", abs(result.summary["measures"]["level_error"]), 0, 1e-10, "none")
    for momentum in ("linear", "angular"):
        report.figure(f"{name}: momentum error, {momentum}", result.summary[f"{momentum}_momentum"]["error"], 0, 1e-10, "none")


def draw(runs: list[tuple[str, Run]]) -> None:
    figure = blank_picture(2.6)
    left, right = figure.subplots(1, 2)
    for (name, result), colour in zip(runs, ("#0072B2", "#D55E00")):
        history = result.history
        left.plot(history["time"], history["corner.displacement_x"], lw=0.7, color=colour, label=name)
        right.plot(history["time"], 1e3 * (history["total_energy"] - history["total_energy"][0]), lw=0.7, color=colour)
    left.set(xlabel="time (s)", ylabel="displacement $x$ of (0.5, 1, 1)")
    right.set(xlabel="time (s)", ylabel="change of energy (mJ)")
    left.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=2)
    figure.savefig(HERE / "cube.png", dpi=200)


def main() -> int:
    given = options(__doc__, ("draw",))
    report = Report("spinning cube: Gonzalez (2011) 2.5.2.1", HERE, given)
    cube = Cube(80.0 if given.full else 10.0)
    report.figure("nodes", cube.nodes, 2969, 2969, "2969")
    report.figure("tetrahedra", cube.cells, 12288, 12288, "12,288")
    fine = cube.stepped(1e-5)
    report.figure("energy step 1e-5: mean step [s]", fine.summary["measures"]["mean_step"],
                  *((0.85 * 0.0082, 1.15 * 0.0082) if given.full else (0.005, 0.0095)), "0.0082, to t = 80", 0.1)
    figures_of(report, "energy step 1e-5", fine)
    for energy_step in (3e-5, 6e-5) if given.full else ():
        coarse = cube.stepped(energy_step)
        report.figure(f"energy step {energy_step:g}: mean step [s]", coarse.summary["measures"]["mean_step"],
                      paper=f"{PAPER[energy_step]}", scatter=math.inf)
        figures_of(report, f"energy step {energy_step:g}", coarse)
    reference = read_run(cube.newmark(1e-3))
    shown = fine.history["time"] <= 20
    apart = np.abs(fine.history["corner.displacement_x"] - reference.history["corner.displacement_x"])[shown].max()
    report.figure("x of (0.5, 1, 1) against Newmark at 1e-3, until t = 20 [edge]", float(apart), 0, 0.05, "converged", 0.2)
    stopped = read_run(cube.newmark(0.0381))
    report.figure("Newmark at 0.0381: stopped, its step being unsafe, at [s]", stopped.summary["reached_time"], 0, 9.9,
                  "blows up", 0.1)
    if given.full:
        good = read_run(cube.newmark(0.0082))
        report.figure("Newmark at 0.0082: reached [s]", good.summary["reached_time"], 80, 80, "no blow-up")
        report.figure("Newmark at 0.0082: drift of its energy over E_ref", good.summary["energy"]["drift"], -0.1, 0.1,
                      "drifts", 0.1)
    if given.draw:
        draw([("energy-stepping, 1e-5", fine), ("Newmark, 0.001", reference)])
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
