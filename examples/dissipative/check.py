#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the damped chain and holds it against the paper (2004, section 2.6, Fig. 3). --draw: energy.png."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measure import Report, Run, blank_picture, options, run  # noqa: E402

STEP, END, DRAG = 0.5, 200.0, 0.01
DAMPERS = {"drag": {}, "dashpots": {"damping.0.type": "kelvin-voigt", "damping.0.coefficient": 0.001}}
NAMES = {"newmark": "Newmark", "trapezoidal": "trapezoidal rule", "midpoint": "midpoint rule", "rk4": "Runge-Kutta 4"}


def chain(method: str, step: float, damper: str) -> Run:
    return run(HERE / "dissipative.toml", f"{method}-{step}-{damper}",
               {"integrator.method": method, "integrator.step": step, "run.end_time": END, **DAMPERS[damper]})


def rate(result: Run) -> float:
    """Of the energy's decay: the slope of its logarithm."""
    return -float(np.polyfit(result.history["time"], np.log(result.history["total_energy"]), 1)[0])


def energy_left(method: str) -> float:
    """At the end, from the normal modes and what the method makes of each; of the midpoint rule exactly, to first order in the
    drag."""
    places = np.arange(1, 17)
    k = np.pi * places / 17
    omega = 2 * np.sin(k / 2)
    energy = (np.sin(np.outer(k, places)) @ np.sin(12.9898 * places * places)) ** 2
    if method == "midpoint":  # velocities are smaller at the middle of a step, so that it damps too little
        factor = np.exp(-DRAG * END / (1 + (omega * STEP / 2) ** 2))
    else:
        z = STEP * (-DRAG / 2 + 1j * np.sqrt(omega**2 - DRAG**2 / 4))
        factor = np.abs(1 + z + z**2 / 2 + z**3 / 6 + z**4 / 24) ** (2 * END / STEP)
    return float((factor * energy).sum() / energy.sum())


def main() -> int:
    given = options(__doc__, ("draw",))
    draw = given.draw
    report = Report(f"dissipative: 2004 Fig. 3, chain of 16, step {STEP}", HERE, given)
    for damper in DAMPERS:
        exact = chain("rk4", 0.02, damper)
        if damper == "drag":
            report.figure("drag: rate of the reference / exact - 1", rate(exact) / DRAG - 1, -5e-4, 5e-4)
        off = {m: rate(chain(m, STEP, damper)) / rate(exact) - 1 for m in NAMES}
        for method, name in NAMES.items():
            variational = method in ("newmark", "trapezoidal")
            report.figure(f"{damper}: error of the rate, {name}", off[method], *((-0.05, 0.05) if variational else ()),
                          paper="decays too fast" if method == "rk4" else "")
        report.figure(f"{damper}: error of Newmark / RK4's", abs(off["newmark"] / off["rk4"]), 0, 0.5)
    for method in ("rk4", "midpoint"):
        energy = chain(method, STEP, "drag").summary["energy"]
        report.figure(f"drag: energy left by the {NAMES[method]} / as its modes say - 1",
                      energy["final"] / energy["initial"] / energy_left(method) - 1, -0.01, 0.01)
    for method, name in NAMES.items():
        history = chain(method, STEP, "drag").history
        total, work = history["total_energy"], history["damping_work"]
        report.figure(f"drag: energy lost and not booked as the damper's work / energy, {name}",
                      float(abs(total[0] - total[-1] + work[-1]) / total[0]), *((0, 1e-12) if method == "midpoint" else ()))
    if draw:
        picture()
    return report.close()


def picture() -> None:
    figure = blank_picture(2.9)
    colours = {"newmark": "#0072B2", "midpoint": "#009E73", "rk4": "#D55E00"}
    for ax, damper in zip(figure.subplots(1, 2, sharey=True), DAMPERS):
        for method, colour in colours.items():
            history = chain(method, STEP, damper).history
            ax.semilogy(history["time"], history["total_energy"], color=colour, lw=0.8, label=NAMES[method])
        history = chain("rk4", 0.02, damper).history
        ax.semilogy(history["time"], history["total_energy"], "--", color="black", lw=0.8, label="reference, step 0.02")
        ax.set(title=f"{damper}, step {STEP}", xlabel="time")
    figure.axes[0].set_ylabel("energy")
    figure.axes[0].legend(loc="lower left")
    figure.savefig(HERE / "energy.png", dpi=200)


if __name__ == "__main__":
    sys.exit(main())
