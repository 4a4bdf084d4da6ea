#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs frozen argon by Verlet and holds it against Gonzalez (2011), section 2.5.1. --full: 100 ns (default 2 ns)."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measure import Report, Run, options, run  # noqa: E402

EPSILON = 119.8 * 1.380658e-23  # [J]


def verlet(femtoseconds: float, end: float) -> Run:
    return run(HERE / "argon.toml", f"{femtoseconds}", {"integrator.step": femtoseconds * 1e-15, "run.end_time": end,
                                                        "output.frames": 0, "output.history": 2000,
                                                        "run.energy_tolerance": 0})  # to see where it leads


def change(result: Run) -> float:
    """Largest change of energy over the energy; infinite where it left all bounds."""
    total = result.history["total_energy"]
    return float(np.nan_to_num(np.abs(total / total[0] - 1).max(), nan=np.inf))


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
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
