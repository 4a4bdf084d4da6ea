#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Domains with substeps of their own: the split oscillator and the mesh of springs of Gates, Matous, Heath (2008).

--draw: split.png, of the oscillator's phase error and the springs' errors.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measure import Report, Run, blank_picture, mean_period, options, run  # noqa: E402
from vtu import VtuFile  # noqa: E402

RATIOS = {"1:1": (1, 1), "8:1": (8, 1), "1:8": (1, 8)}  # substeps of the stiff and of the soft domain


# Of the paper, to t = 100 and with a rest length it does not give: relative errors in %.
TABLE_1 = {
    (alpha, ratio): dict(zip((0.01, 0.005, 0.0025, 0.00125), values))
    for (alpha, ratio), values in {
        (0.0, "1:1"): ("1.3", "0.42", "0.11", "0.027"), (0.0, "8:1"): ("0.50", "0.13", "0.032", "0.0088"),
        (0.0, "1:8"): ("1.2", "0.39", "0.10", "0.025"), (0.5, "1:1"): ("2.0", "0.84", "0.22", "0.056"),
        (0.5, "8:1"): ("0.92", "0.23", "0.059", "0.015"), (0.5, "1:8"): ("1.7", "0.79", "0.21", "0.053"),
    }.items()
}


def exact_period() -> float:
    """4 q'' = -48 tanh q from q = 1, by quadrature."""
    s = (np.arange(20000) + 0.5) * 0.5 * math.pi / 20000
    q = np.cos(s)
    speed = np.sqrt(24 * np.log(np.cosh(1) / np.cosh(q)))
    return 4 * float(np.sum(np.sin(s) / speed)) * 0.5 * math.pi / 20000


def oscillator(alpha: float, ratio: str, step: float, end: float) -> Run:
    a, b = RATIOS[ratio]
    return run(HERE / "split.toml", f"split-{alpha}-{a}-{b}-{step}", {
        "domain.0.alpha": alpha, "domain.1.alpha": alpha, "domain.0.substeps": a, "domain.1.substeps": b,
        "integrator.step": step, "run.end_time": end, "output.history": round(end / step)})


def period_error(result: Run) -> float:
    history = result.history
    return mean_period(history["time"], history["mass.displacement_x"]) / exact_period() - 1


def band_ratio(result: Run) -> float:
    """Of the total energy: its band in the last tenth of the run over that in the first."""
    total = result.history["kinetic_energy"] + result.history["potential_energy"]
    tenth = len(total) // 10
    return float(np.ptp(total[-tenth:]) / np.ptp(total[:tenth]))


def springs(alpha: float, ratio: str, step: float, end: float = 10) -> Run:
    a, b = RATIOS[ratio]
    return run(HERE / "springs.toml", f"springs-{alpha}-{a}-{b}-{step}", {
        "domain.0.alpha": alpha, "domain.1.alpha": alpha, "domain.0.substeps": a, "domain.1.substeps": b,
        "integrator.step": step, "run.end_time": end})


def error(result: Run, reference: Run) -> float:
    """Of the displacements, in the norm of L2 over time and nodes, relative."""
    off = size = 0.0
    for (_, here), (_, there) in zip(result.frames, reference.frames):
        u, v = (VtuFile(f).array("PointData", "displacement") for f in (here, there))
        off, size = off + float(((u - v) ** 2).sum()), size + float((v**2).sum())
    return math.sqrt(off / size)


def main() -> int:
    given = options(__doc__, ("draw",))
    report = Report("split oscillator and mesh of springs: 2008 paper, Figs 5 to 18, Table I", HERE, given)
    end = 2000 if given.full else 200
    for alpha in (0.0, 0.5):
        errors = {}
        for ratio in RATIOS:
            result = oscillator(alpha, ratio, 0.1, end)
            errors[ratio] = abs(period_error(result))
            report.figure(f"oscillator, alpha {alpha:g}, {ratio}: error of the mean period, step 0.1", errors[ratio], 0, 0.01,
                          "below 1 %")
            report.figure(f"oscillator, alpha {alpha:g}, {ratio}: band of the energy at the end / at the start", band_ratio(result),
                          0.98, 1.02, "1")
        report.figure(f"oscillator, alpha {alpha:g}: error of 8:1 / that of 1:1", errors["8:1"] / errors["1:1"], 0.25, 0.65,
                      "about half")
    steps = (0.01, 0.005, 0.0025, 0.00125) if given.full else (0.005,)
    reference = springs(0.0, "1:1", 0.0002 if given.full else 0.0005)
    found: dict[tuple[float, str], list[float]] = {}
    for alpha in (0.0, 0.5):
        for ratio in RATIOS:
            found[alpha, ratio] = [error(springs(alpha, ratio, step), reference) for step in steps]
            for step, e in zip(steps, found[alpha, ratio]):
                report.figure(f"springs, alpha {alpha:g}, {ratio}: error, step {step:g} (%)", 100 * e,
                              paper=TABLE_1[alpha, ratio][step], scatter=0.1)
        k = steps.index(0.005)
        base = found[alpha, "1:1"][k]
        report.figure(f"springs, alpha {alpha:g}: error of 8:1 / that of 1:1, step 0.005", found[alpha, "8:1"][k] / base, 0.2, 0.5,
                      "0.31" if alpha == 0 else "0.27", 0.1)
        report.figure(f"springs, alpha {alpha:g}: error of 1:8 / that of 1:1, step 0.005", found[alpha, "1:8"][k] / base, 0.8, 1.2,
                      "0.93" if alpha == 0 else "0.94", 0.1)
        if len(steps) > 1:
            order = math.log2(found[alpha, "8:1"][-2] / found[alpha, "8:1"][-1])
            report.figure(f"springs, alpha {alpha:g}, 8:1: order of the positions", order, 1.75, 2.25, "2")
    if given.draw:
        picture()
    return report.close()


def picture() -> None:
    figure = blank_picture(2.8)
    one, many = figure.subplots(1, 2)
    exact = np.array([0.0125, 0.025, 0.05, 0.1])
    for alpha, colour in ((0.0, "#0072B2"), (0.5, "#D55E00")):
        for ratio, line in (("1:1", "-"), ("8:1", "--"), ("1:8", ":")):
            errors = [100 * abs(period_error(oscillator(alpha, ratio, float(h), 100))) for h in exact]
            one.loglog(exact, errors, line, color=colour, marker=".", label=f"$\\alpha$ = {alpha:g}, {ratio}")
    one.set(xlabel="system step", ylabel="error of the period (%)", title="split oscillator")
    one.legend()
    reference = springs(0.0, "1:1", 0.0005)
    steps = np.array([0.0025, 0.005, 0.01, 0.02])
    for alpha, colour in ((0.0, "#0072B2"), (0.5, "#D55E00")):
        for ratio, line in (("1:1", "-"), ("8:1", "--"), ("1:8", ":")):
            errors = [100 * error(springs(alpha, ratio, float(h)), reference) for h in steps]
            many.loglog(steps, errors, line, color=colour, marker=".")
    many.set(xlabel="system step", ylabel="error of the displacements (%)", title="mesh of springs")
    for ax, steps_shown in ((one, exact), (many, steps)):
        ax.set_xticks(steps_shown, [f"{h:g}" for h in steps_shown])
        ax.set_xticks([], minor=True)
    figure.savefig(HERE / "split.png", dpi=200)


if __name__ == "__main__":
    sys.exit(main())
