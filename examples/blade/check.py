#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the three blades on a small mesh and holds them against the paper (2004, section 4.5, Table I).

Short by default: one revolution. --full: five revolutions on a finer mesh. The paper's own size (case*.toml as they are)
takes days.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measure import Report, Run, run, updates_off_prediction  # noqa: E402

RIGID_PERIOD = 2 * np.pi / 40.0
PAPER = {1: 0.1575, 2: 0.1595, 3: 0.1845}


def period(result: Run) -> float:
    """Mean time of a revolution: slope of the angle of the line from tip to tip."""
    h = result.history
    x = 7.2 + h["tip.displacement_x"] - h["other tip.displacement_x"]
    y = h["tip.displacement_y"] - h["other tip.displacement_y"]
    angle = np.unwrap(np.arctan2(y, x))
    return float(2 * np.pi / np.polyfit(h["time"], angle, 1)[0])


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--full", action="store_true")
    full = arguments.parse_args().full
    revolutions = 5 if full else 1
    report = Report(f"blade: {revolutions} revolutions on a small mesh, 2004 section 4.5")
    periods = {}
    for case in (1, 2, 3):
        result = run(HERE / f"case{case}.toml", f"case{case}", {
            "mesh.file": "small.geo" if not full else "medium.geo", "run.end_time": revolutions * RIGID_PERIOD,
            "integrator.courant": 0.3, "output.frames": 2, "output.history": 200 * revolutions,
            "integrator.residual": "false"})
        periods[case] = period(result)
        summary = result.summary
        print(f"case {case}: {summary['elements']} elements")
        report.figure("elements with another number of updates than predicted", updates_off_prediction(result), 0, 0)
        report.figure("period over rigid period, minus 1", periods[case] / RIGID_PERIOD - 1,
                      *((0.0005, 0.006) if case == 1 else (0, 0.3)), f"paper: {PAPER[case] / RIGID_PERIOD - 1:.4f}")
        report.figure("momentum error, linear", summary["linear_momentum"]["error"], 0, 1e-11)
        report.figure("momentum error, angular", summary["angular_momentum"]["error"], 0, 1e-11)
        report.figure("energy band", summary["energy"]["band"], 0, 0.01, "paper: nearly constant")
        report.figure("updates of Newmark / updates of AVI", summary["counted_speedup"], 1, paper="paper: 6.4, 6.4, 5.8")
    report.figure("T1 < T2 < T3", float(periods[1] < periods[2] < periods[3]), 1, 1)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
