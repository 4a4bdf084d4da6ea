#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs frozen argon by Verlet and by energy-stepping and holds both against Gonzalez (2011), section 2.5.1.

--full: 100 ns (default 2 ns by Verlet, 10 ns by energy-stepping)."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measure import Report, Run, options, run  # noqa: E402
from style import Array  # noqa: E402  (our own)

EPSILON = 119.8 * 1.380658e-23  # [J]
NEAR = (0.93, 0.97, 1.0, 1.03, 1.07)


def verlet(femtoseconds: float, end: float) -> Run:
    return run(HERE / "argon.toml", f"{femtoseconds}", {"integrator.step": femtoseconds * 1e-15, "run.end_time": end,
                                                        "output.frames": 0, "output.history": 2000,
                                                        "run.energy_tolerance": 0})  # to see where it leads


def change(result: Run) -> float:
    """Largest change of energy over the energy; infinite where it left all bounds."""
    total = result.history["total_energy"]
    return float(np.nan_to_num(np.abs(total / total[0] - 1).max(), nan=np.inf))


def stepped(part: float, end: float) -> Run:
    """With an energy step of |E_0| / part."""
    return run(HERE / "stepping.toml", f"stepping {part:g}",
               {"integrator.energy_step": 10.51925 * EPSILON / part, "run.end_time": end})


def paths(result: Run) -> Array:
    """(rows, components): places in nm, velocities in nm/ns."""
    columns = [f"a{i}.{what}_{c}" for what in ("displacement", "velocity") for i in range(1, 8) for c in "xy"]
    start = np.loadtxt(HERE / "argon.csv", delimiter=",", skiprows=2)[:, 1:3].ravel()
    values = np.array([result.history[name] for name in columns]).T
    values[:, :14] += start
    return values * np.repeat([1e9, 1.0], 14)


def norm(values: Array, time: Array) -> float:
    """H^1(0, T), eq. (2.86)."""
    return float(np.sqrt(np.trapz((values**2).sum(axis=1), time * 1e9)))


def energy_stepping(report: Report, full: bool) -> None:
    # Of five energy steps near each: one run in nine or so keeps an atom away from the others for long (38 fs at E_0/100).
    for part, paper in ((100, 56.98), (60, 87.56), (30, 124.88)):
        found = [(factor, stepped(part * factor, 100e-9 if full else 10e-9).summary) for factor in NEAR]
        step = np.median([factor * summary["measures"]["mean_step"] for factor, summary in found])
        name = f"E_0/{part}: "
        report.figure(name + "mean step (fs)", float(1e15 * step), 0.75 * paper, 1.25 * paper, f"{paper}", scatter=math.inf)
        report.figure(name + "error of the level energy", max(abs(summary["measures"]["level_error"]) for _, summary in found), 0, 1e-11, "none")
        for momentum in ("linear", "angular"):
            report.figure(name + f"momentum error, {momentum}", max(summary[f"{momentum}_momentum"]["error"] for _, summary in found), 0,
                          1e-11, "none")
    parts = np.array([100.0, 200.0, 400.0, 800.0, 1600.0, 3200.0])
    runs = [stepped(part, 1e-9) for part in parts]
    for name, low, high, paper in (("mean_step", 0.8, 1.2, "1"), ("longest_step", 0.25, 0.75, "1/2")):
        found = [result.summary["measures"][name] for result in runs]
        report.figure(f"exponent of the {name.replace('_', ' ')}", exponent(parts, found), low, high, paper, scatter=math.inf)
    # Errors, averaged over five energy steps near each: a single one is a matter of chance.
    for end, name, low, paper in ((50e-12, "H1 error (2.87), 50 ps", 0.2, "1/2, over 1 ns"),
                                  (5e-12, "H1 norm of the difference, 5 ps", 0.3, "-")):
        true, time = reference(end)
        errors = []
        for part in parts:
            found = [paths(stepped(part * factor, end)) for factor in NEAR]
            errors.append(float(np.mean([abs(norm(x, time) / norm(true, time) - 1) if "2.87" in name
                                         else norm(x - true, time) / norm(true, time) for x in found])))
        report.figure(f"exponent of the {name}", exponent(parts, errors), low, 0.9, paper, scatter=math.inf)


def force_stepping(report: Report, full: bool) -> None:
    end = 10e-9 if full else 0.2e-9
    for grid, paper in ((0.020, 3.12), (0.005, 0.80)):
        result = run(HERE / "force.toml", f"force {grid}", {"run.end_time": end, "integrator.grid": grid * 1e-9})
        measures, name = result.summary["measures"], f"force-stepping, grid {grid} nm: "
        report.figure(name + "mean step (fs)", 1e15 * measures["mean_step"], 0.95 * paper, 1.05 * paper, f"{paper}", 0.04)
        report.figure(name + "error of the stepped energy", abs(measures["level_error"]), 0, 1e-10, "none")
        report.figure(name + "momentum error, linear", result.summary["linear_momentum"]["error"], 0, 1e-10, "none")
    grids = np.array([0.04, 0.02, 0.01, 0.005])
    runs = [run(HERE / "force.toml", f"force {grid} short", {"run.end_time": 0.1e-9, "integrator.grid": grid * 1e-9})
            for grid in grids]
    for name, low, high, paper in (("mean_step", 0.85, 1.15, "1"), ("longest_step", 0.85, 1.15, "1")):
        found = [result.summary["measures"][name] for result in runs]
        report.figure(f"force-stepping: exponent of the {name.replace('_', ' ')}", -exponent(grids, found), low, high, paper,
                      scatter=math.inf)


def exponent(parts: Array, values: list[float]) -> float:
    return float(-np.polyfit(np.log(parts), np.log(values), 1)[0])


def reference(end: float) -> tuple[Array, Array]:
    """Paths and times of Verlet at a step beyond need."""
    probes = ", ".join(f"{{name = 'a{i}', particles = [{i - 1}]}}" for i in range(1, 8))
    result = run(HERE / "argon.toml", f"reference {end:g}", {"integrator.step": 2e-16, "run.end_time": end,
                                                            "probe": f"[{probes}]", "output.frames": 0,
                                                            "output.history": 1000})
    return paths(result), result.history["time"]


def main() -> int:
    given = options(__doc__)
    end = 100e-9 if given.full else 2e-9
    report = Report("argon: seven atoms, Gonzalez (2011) 2.5.1", HERE, given)
    fine = verlet(10, end)
    report.figure("energy / epsilon", fine.summary["energy"]["initial"] / EPSILON, -10.5203, -10.5182, "-10.519")
    report.figure("10 fs: change of energy", change(fine), 0, 2e-3, scatter=math.inf)
    report.figure("10 fs: momentum error, linear", fine.summary["linear_momentum"]["error"], 0, 1e-11)
    report.figure("10 fs: momentum error, angular", fine.summary["angular_momentum"]["error"], 0, 1e-11)
    report.figure("56.98 fs: change of energy", change(verlet(56.98, end)), 0, 0.1, "good", scatter=math.inf)
    report.figure("87.56 fs, 100 ns: change of energy", change(verlet(87.56, 100e-9)), 0.5, paper="unstable", scatter=math.inf)
    report.figure("124.88 fs: change of energy", change(verlet(124.88, end)), 0.5, paper="blows up", scatter=math.inf)
    energy_stepping(report, given.full)
    force_stepping(report, given.full)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
