#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the lattices and holds them against the paper (2004, section 1, Figs 1 and 2): heat is the mean kinetic energy.

Short by default: Fig. 1 to T = 1e4, Fig. 2 for two end times. --full: 1e5 and three. --draw: heat.png and cost.png.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measure import Report, Run, blank_picture, options, run  # noqa: E402

VI1, RK4, VI4 = "symplectic-euler-a", "rk4", "lobatto"
NAMES = {VI1: "VI1, symplectic Euler", RK4: "Runge-Kutta 4", VI4: "VI4, Lobatto"}
COLOURS = {VI1: "#0072B2", RK4: "#D55E00", VI4: "#009E73"}
ATOMS = 16
STEPS = (0.05, 0.1, 0.2)  # of Fig. 1
ROWS = 0.8                # time between rows: a multiple of every step, below half a period of the fastest vibration


def heat(result: Run) -> float:
    """Mean of the kinetic energy over the run, by the trapezium rule."""
    time, kinetic = result.history["time"], result.history["kinetic_energy"]
    return float(((kinetic[1:] + kinetic[:-1]) / 2 * np.diff(time)).sum() / time[-1])


class HarmonicChain:
    """Exact means of the kinetic energy of harmonic.toml, from its normal modes."""

    def __init__(self) -> None:
        places = np.arange(1, ATOMS + 1)
        k = np.pi * places / (ATOMS + 1)
        modes = np.sqrt(2 / (ATOMS + 1)) * np.sin(np.outer(k, places))
        self.omega = 2 * np.sin(k / 2)
        self.energy = (modes @ (0.2 * np.sin(12.9898 * places * places))) ** 2 / 2  # at rest in its places
        self.mean = float(self.energy.sum() / 2)

    def mean_until(self, time: float) -> float:
        x = 2 * self.omega * time
        return float((self.energy / 2 * (1 + np.sin(x) / x)).sum())

    def floor(self, time: float) -> float:
        return abs(self.mean_until(time) / self.mean - 1)


def nonlinear(report: Report, end: float, draw: bool) -> None:
    def lattice(method: str, h: float, between: float = ROWS) -> Run:
        rows = round(end / between)
        return run(HERE / "heat.toml", f"{method}-{h}", {"integrator.method": method, "integrator.step": h,
                                                         "run.end_time": rows * between, "output.history": rows})

    def figure(name: str, value: float, *limits: float, paper: str = "") -> None:
        report.figure(name, value, *limits, paper=paper, scatter=math.inf)  # chaotic: another machine, another path

    runs = {(m, h): lattice(m, h) for m in (VI1, RK4) for h in STEPS}
    reference = heat(lattice("newmark", 0.04))
    off = {key: abs(heat(result) / reference - 1) for key, result in runs.items()}
    wander = 1e-3 * (1e5 / end) ** 0.5  # of the slope: the energy is a bounded signal, as good as random
    for h in STEPS:
        figure(f"VI1, step {h}: error of the heat", off[VI1, h], 0, 0.05)
        figure(f"VI1, step {h}: drift of energy", abs(runs[VI1, h].summary["energy"]["drift"]), 0, wander, paper="none")
    for h in STEPS:
        total = runs[RK4, h].history["total_energy"]
        hundredths = total[1:].reshape(100, -1).mean(axis=1)
        figure(f"RK4, step {h}: error of the heat", off[RK4, h])
        figure(f"RK4, step {h}: energy lost / energy", float(1 - total[-1] / total[0]), 1e-3, 1, paper="dissipates")
        figure(f"RK4, step {h}: its largest change over a hundredth of the run", float(np.diff(hundredths).max() / total[0]),
                      -1, 0, paper="falls throughout")
    h = STEPS[-1]
    figure(f"RK4, step {h}: largest gain of energy between rows / energy", float(np.diff(total).max() / total[0]))
    figure(f"RK4, step {h}: error of the heat over VI1's", off[RK4, h] / off[VI1, h], 5)
    if end >= 1e5:  # towards the largest step of VI1: 0.4 is too long; as h^2 from 0.2: 0.056, paths wander by 0.005
        figure("VI1, step 0.3: error of the heat", abs(heat(lattice(VI1, 0.3, 0.9)) / reference - 1), 0, 0.07)
        figure("RK4, step 0.3: error of the heat", abs(heat(lattice(RK4, 0.3, 0.9)) / reference - 1))
    if draw:
        heat_picture(runs, reference)


class Curve:
    """Errors of the heat of one method over its force evaluations, from the largest step to the smallest."""

    def __init__(self, chain: HarmonicChain, method: str, end: float) -> None:
        points = []
        for halvings in range({VI1: 8, RK4: 5, VI4: 4}[method] + (2 if end > 1e3 else 0)):  # the floor falls as 1 / T
            h = (4 / 3 if method == VI4 else 0.8) / 2**halvings  # every end is a multiple of both
            result = run(HERE / "harmonic.toml", f"{method}-{h}-{end}", {
                "integrator.method": method, "integrator.step": h, "run.end_time": end,
                "output.history": round(end / max(h, 0.1)), "run.energy_tolerance": 0,
                **({"integrator.order": 4} if method == VI4 else {})})
            measured = heat(result)
            points.append((result.summary["measures"]["force_evaluations"], abs(measured / chain.mean - 1),
                           abs(measured / chain.mean_until(end) - 1)))
        self.evaluations, self.total, self.discretisation = np.array(points).T

    def cost(self, errors: np.ndarray, wanted: float) -> float:
        """Where the curve goes below `wanted` for good, on straight lines between its points, logarithms on both axes."""
        above = np.nonzero(errors > wanted)[0]
        if len(above) == 0:
            return float(self.evaluations[0])  # or less
        i = above[-1]
        if i + 1 == len(errors):
            return np.inf
        part = np.log(errors[i] / wanted) / np.log(errors[i] / errors[i + 1])
        return float(self.evaluations[i] * (self.evaluations[i + 1] / self.evaluations[i]) ** part)


def harmonic(report: Report, ends: tuple[float, ...], draw: bool) -> None:
    chain = HarmonicChain()
    curves = {(m, end): Curve(chain, m, end) for end in ends for m in NAMES}
    for end in ends:
        report.figure(f"T = {end:g}: floor", chain.floor(end))
        for method, name in NAMES.items():
            report.figure(f"T = {end:g}: {name}, error at the smallest step / floor",
                          curves[method, end].total[-1] / chain.floor(end), 0.95, 1.05, "reached")
        vi1, rk4, vi4 = (curves[m, end] for m in NAMES)
        for name, curve in (("VI1", vi1), ("VI4", vi4)):
            report.figure(f"T = {end:g}, 5 % error: force evaluations, {name} / RK4",
                          curve.cost(curve.total, 0.05) / rk4.cost(rk4.total, 0.05), 0, 1, "cheaper")
        precise = 0.05 * chain.floor(end)
        report.figure(f"T = {end:g}, floor within 5 %: force evaluations, VI1 / RK4",
                      vi1.cost(vi1.discretisation, precise) / rk4.cost(rk4.discretisation, precise), 1, paper="RK4 cheaper")
        report.figure(f"T = {end:g}, floor within 5 %: force evaluations, VI4 / RK4",
                      vi4.cost(vi4.discretisation, precise) / rk4.cost(rk4.discretisation, precise), 0, 1, "VI4 always wins")
    if draw:
        cost_picture(curves, ends, chain)


def axes(columns: int):
    figure = blank_picture(2.9)
    return figure, figure.subplots(1, columns, sharey=True)


def heat_picture(runs: dict[tuple[str, float], Run], reference: float) -> None:
    figure, panels = axes(2)
    for ax, method in zip(panels, (VI1, RK4)):
        for h, style in zip(STEPS, (":", "--", "-")):
            time, kinetic = (runs[method, h].history[name] for name in ("time", "kinetic_energy"))
            shown = np.unique(np.geomspace(20 / ROWS, len(time) - 1, 400).astype(int))  # evenly along the logarithmic axis
            mean = np.cumsum((kinetic[1:] + kinetic[:-1]) / 2)[shown - 1] / shown
            ax.semilogx(time[shown], mean, style, color=COLOURS[method], label=f"step {h}")
        ax.axhline(reference, color="black", lw=0.6)
        ax.set(title=NAMES[method], xlabel="T", ylim=(0, 1.5 * reference))
        ax.legend(loc="lower left")
    panels[0].set_ylabel("mean kinetic energy until T")
    figure.savefig(HERE / "heat.png", dpi=200)


def cost_picture(curves: dict[tuple[str, float], Curve], ends: tuple[float, ...], chain: HarmonicChain) -> None:
    figure, panels = axes(len(ends))
    for ax, end in zip(panels, ends):
        for method, name in NAMES.items():
            curve = curves[method, end]
            ax.loglog(curve.evaluations, curve.total, "o-", ms=3, color=COLOURS[method], label=name)
        ax.axhline(chain.floor(end), color="black", lw=0.6, ls="--")
        ax.set(title=f"T = {end:g}", xlabel="force evaluations", ylim=(3e-5, 2))
    panels[0].set_ylabel("relative error of the heat")
    panels[0].legend(loc="lower left")
    figure.savefig(HERE / "cost.png", dpi=200)


def main() -> int:
    given = options(__doc__, ("draw",))
    report = Report("lattice: heat of 16 atoms, 2004 Figs 1 and 2", HERE, given)
    nonlinear(report, 1e5 if given.full else 1e4, given.draw)
    harmonic(report, (40.0, 320.0, 3000.0) if given.full else (40.0, 320.0), given.draw)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
