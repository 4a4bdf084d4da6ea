#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets two balls collide by energy-stepping and holds what they do against Gonzalez (2011), section 2.5.2.2.

--full: smaller energy steps too. --draw: the picture of the README."""

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

SPEED = 5.0


class Collision:
    """What the balls have at the end, and when they touched: while their momenta change."""

    def __init__(self, result: Run) -> None:
        h = self.history = result.history
        self.mass = h["incoming.linear_momentum_x"][0] / -SPEED
        self.struck = h["target.linear_momentum_x"][-1] / self.mass
        self.restitution = abs(self.struck - h["incoming.linear_momentum_x"][-1] / self.mass) / SPEED
        changes = np.nonzero(np.abs(np.diff(h["target.linear_momentum_x"])) > 1e-9 * self.mass)[0]
        self.first, self.last = changes[0], changes[-1] + 1
        self.duration = h["time"][self.last] - h["time"][self.first]

    def local_error(self) -> float:
        """How far the energy of a ball, T + k h, strays while nobody touches it, over that of both."""
        h, worst = self.history, 0.0
        energies = {b: h[f"{b}.kinetic_energy"] + h[f"{b}.level_energy"] for b in ("target", "incoming")}
        for energy in energies.values():
            for part in (energy[: self.first + 1], energy[self.last:]):
                worst = max(worst, float(np.ptp(part)))
        return worst / sum(energy[0] for energy in energies.values())


def collide(method: str, energy_step: float, frames: int = 0) -> Run:
    return run(HERE / "balls.toml", f"{method}-{energy_step:g}",
               {"integrator.method": f'"{method}"', "integrator.energy_step": energy_step, "output.frames": frames})


def newmark(step: float) -> Run:
    folder = Path(tempfile.mkdtemp(prefix="tempi-"))
    (folder / "balls.geo").write_text((HERE / "balls.geo").read_text(encoding="utf-8"), encoding="utf-8")
    head, tail = (HERE / "balls.toml").read_text(encoding="utf-8").split("[integrator]")
    case = folder / "newmark.toml"
    case.write_text(f'{head}[integrator]\nmethod = "newmark"\nstep = {step}\n[run]{tail.split("[run]")[1]}', encoding="utf-8")
    with contextlib.suppress(subprocess.CalledProcessError):
        run(case, "newmark", {"output.frames": 0}, folder)
    return read_run(folder / "newmark")


def draw(result: Run) -> None:
    figure = blank_picture(2.6)
    left, right = figure.subplots(1, 2)
    h = result.history
    mass = Collision(result).mass
    for body, colour in (("incoming", "#0072B2"), ("target", "#D55E00")):
        left.plot(h["time"], h[f"{body}.linear_momentum_x"] / mass, color=colour, label=body)
        right.plot(h["time"], 1e-3 * (h[f"{body}.kinetic_energy"] + h[f"{body}.level_energy"]), color=colour)
    right.plot(h["time"], 1e-3 * h["total_energy"], color="black", lw=0.7)
    left.set(xlabel="time (s)", ylabel="velocity along $x$ (m/s)")
    right.set(xlabel="time (s)", ylabel="energy of each, and of all (kJ)")
    left.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=2)
    figure.savefig(HERE / "balls.png", dpi=200)


def main() -> int:
    given = options(__doc__, ("draw",))
    report = Report("two balls: Gonzalez (2011) 2.5.2.2", HERE, given)
    shown = None
    for method in ("async-energy-stepping", "energy-stepping"):
        for energy_step in (1e3, 100.0, 30.0) if given.full else (1e3,) if method == "energy-stepping" else (1e3, 100.0):
            result = collide(method, energy_step)
            found, name = Collision(result), f"{method}, {energy_step:g} J"
            as_digest = energy_step < 1e3
            # Six energy steps within 10 %, both methods: 0.896 to 0.949 at 100 J, 0.933 to 0.976 at 30 J.
            least = {1e3: 0.7, 100.0: 0.88, 30.0: 0.92}[energy_step]
            report.figure(f"{name}: velocity of the struck ball", -found.struck, *((4.6, 5.0) if as_digest else (4.3, 5.0)),
                          "4.91", 0.06)
            report.figure(f"{name}: ratio of relative velocities", found.restitution, least, 1.0, "0.964", 0.1)
            report.figure(f"{name}: contact lasts [s]", found.duration, 0.035, 0.08, "0.0476", 0.25)
            report.figure(f"{name}: error of the level energy", abs(result.summary["measures"]["level_error"]), 0, 1e-10, "none")
            for momentum in ("linear", "angular"):
                report.figure(f"{name}: momentum error, {momentum}", result.summary[f"{momentum}_momentum"]["error"], 0, 1e-10,
                              "none")
            if method.startswith("async"):
                report.figure(f"{name}: stray of each ball's own energy before and after", found.local_error(), 0, 1e-10)
                shown = result
    report.figure("they touch first at [s]", Collision(shown).history["time"][Collision(shown).first], 0.095, 0.11, "~0.1", 0.02)
    stopped = newmark(3e-5)
    report.figure("Newmark at 3e-5 s: stopped by the guard on energy at [s]", stopped.summary["reached_time"], paper="bounded",
                  scatter=math.inf)
    if given.draw:
        draw(shown)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
