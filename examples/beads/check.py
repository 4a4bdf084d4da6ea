#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sends a wave through a chain of beads and holds it against Gonzalez (2011), section 4.5.2 and Table 4.1.

--full: ten beads, both energy steps, Newmark (minutes; default: three coarse beads). --draw: the picture of the
README."""

from __future__ import annotations

import contextlib
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measure import Report, Run, blank_picture, options, run  # noqa: E402
from read import read_run  # noqa: E402

SYNCHRONOUS, ASYNCHRONOUS = "energy-stepping", "async-energy-stepping"
PAPER = {(ASYNCHRONOUS, 1e-6): 1.0, (SYNCHRONOUS, 1e-6): 2.5, (ASYNCHRONOUS, 1e-7): 1.8, (SYNCHRONOUS, 1e-7): 5.2}


class Chain:
    def __init__(self, count: int, size: float, end: float) -> None:
        self.count, self.end, self.folder = count, end, Path(tempfile.mkdtemp(prefix="tempi-"))
        geometry = (HERE / "beads.geo").read_text(encoding="utf-8")
        geometry = geometry.replace("count = 10;", f"count = {count};").replace("size = 0.96e-3;", f"size = {size};")
        (self.folder / "beads.geo").write_text(geometry, encoding="utf-8")
        head, *sections = (HERE / "beads.toml").read_text(encoding="utf-8").split("[[")
        kept = [s for s in sections if not any(f'bead{k}"' in s for k in range(count + 1, 11))]
        self.text = "[[".join([head, *kept])

    def run(self, method: str, key: str, value: float, turn: int = 0) -> Run:
        """Its results, whether it reached the end or not; on one thread. Other turns start by a rounding faster."""
        name = f"{method}-{value:g}-{turn}"
        case = self.folder / f"{name}.toml"
        case.write_text(self.text.replace(f'method = "{ASYNCHRONOUS}"', f'method = "{method}"').replace(
            "energy_step = 1e-6", f"{key} = {value}").replace("0.44", f"{0.44 * (1 + 1e-13 * turn)!r}"), encoding="utf-8")
        with contextlib.suppress(subprocess.CalledProcessError):
            return run(case, name, {"run.end_time": self.end, "output.frames": 0}, self.folder, threads=1)
        return read_run(self.folder / name)

    def energies(self, result: Run) -> np.ndarray:
        return np.array([result.history[f"bead{k}.kinetic_energy"] for k in range(1, self.count + 1)])


def kept(report: Report, name: str, result: Run) -> None:
    report.figure(f"{name}: error of the level energy", abs(result.summary["measures"]["level_error"]), 0, 1e-10, "none")
    for momentum in ("linear", "angular"):
        report.figure(f"{name}: momentum error, {momentum}", result.summary[f"{momentum}_momentum"]["error"], 0, 1e-10, "none")
    report.figure(f"{name}: mean step [us]", 1e6 * result.summary["measures"]["mean_step"], scatter=math.inf)


def draw(chain: Chain, result: Run) -> None:
    figure = blank_picture(2.6)
    left, right = figure.subplots(1, 2)
    time = 1e6 * result.history["time"]
    for k in range(1, chain.count + 1):
        left.plot(time, result.history[f"bead{k}.linear_momentum_z"], lw=0.8, label=str(k))
        right.plot(time, 1e6 * result.history[f"bead{k}.vibrational_energy"], lw=0.8)
    left.set(xlabel="time (us)", ylabel="momentum of each bead (kg m/s)")
    right.set(xlabel="time (us)", ylabel="vibrational energy of each (uJ)")
    left.legend(title="bead", ncols=2)
    figure.savefig(HERE / "beads.png", dpi=200)


def main() -> int:
    given = options(__doc__, ("draw",))
    report = Report("chain of beads: Gonzalez (2011) 4.5.2", HERE, given)
    chain = Chain(10, 0.96e-3, 40e-6) if given.full else Chain(3, 1.6e-3, 20e-6)
    runs = {}
    for method, energy_step in PAPER if given.full else list(PAPER)[:2]:
        result = runs[method, energy_step] = chain.run(method, "energy_step", energy_step)
        kept(report, f"{method}, {energy_step:g} J", result)
    first = runs[ASYNCHRONOUS, 1e-6]
    for (method, energy_step), result in list(runs.items())[1:]:
        ratio = result.summary["wall_time"] / first.summary["wall_time"]
        # Three coarse beads run a second, half of it for contacts, which both have: no ratio of wall times to hold anybody to.
        limit = (2.5, math.inf) if given.full and (method, energy_step) == (SYNCHRONOUS, 1e-6) else (-math.inf, math.inf)
        report.figure(f"wall time of {method}, {energy_step:g} J, over that of the asynchronous, 1e-06 J", ratio, *limit,
                      f"~{PAPER[method, energy_step]}", math.inf)
    looked = {method: runs[method, 1e-6].summary["measures"]["terms_looked_at"] for method in (SYNCHRONOUS, ASYNCHRONOUS)}
    report.figure("tetrahedra and contacts looked at by energy-stepping, 1e-06 J, over those by the asynchronous",
                  looked[SYNCHRONOUS] / looked[ASYNCHRONOUS], 2.5, scatter=math.inf)
    if given.full:
        fine = chain.energies(runs[ASYNCHRONOUS, 1e-7])

        def stray(result: Run) -> float:
            return float(np.sqrt(np.mean((chain.energies(result) - fine) ** 2)) / fine[0, 0])

        turns = [[chain.run(*which, turn) for which in ((SYNCHRONOUS, "energy_step", 1e-6), (ASYNCHRONOUS, "energy_step", 5e-7))]
                 for turn in range(1, 4)]
        report.figure("wall time of energy-stepping, 1e-06 J, over that of the asynchronous, 5e-07 J, about as accurate; median of 3",
                      float(np.median([of[0].summary["wall_time"] / of[1].summary["wall_time"] for of in turns])), 5, paper="-", scatter=math.inf)
        means = [float(np.mean([stray(of[k]) for of in turns])) for k in (0, 1)]
        for which, result in runs.items():
            if which != (ASYNCHRONOUS, 1e-7):
                report.figure(f"rms of the beads' kinetic energies, {which[0]}, {which[1]:g} J, against the fine asynchronous run, "
                              "over that of the striker", stray(result), paper="asynchronous nearer", scatter=math.inf)
        report.figure("the same, mean of the 3 runs timed: energy-stepping, 1e-06 J", means[0], scatter=math.inf)
        report.figure("that of the asynchronous, 5e-07 J, over it", means[1] / means[0], 0, 1.15, scatter=math.inf)
        stopped = chain.run("newmark", "step", 1e-10)
        report.figure("Newmark at 1e-4 us: stopped at [us]", 1e6 * stopped.summary["reached_time"], paper="blows up", scatter=math.inf)
        report.figure("Newmark at 1e-4 us: wall time until then, over its share of that of the asynchronous",
                      stopped.summary["wall_time"] / stopped.summary["reached_time"] * chain.end / first.summary["wall_time"],
                      paper="~25", scatter=math.inf)
    history = first.history
    vibrating = sum(history[f"bead{k}.vibrational_energy"] for k in range(1, chain.count + 1))
    report.figure("vibrational energy at the end, over that of the striker", float(vibrating[-1] / history["bead1.kinetic_energy"][0]),
                  0.005, 1, "accumulates", math.inf)
    if given.draw:
        draw(chain, first)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
