#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the block and holds it against the paper (2003, section 4.1). 

Short by default: 1 ms at full size, and many periods on a coarse mesh with larger steps. --full: everything at full size.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measure import Report, Run, frame, mean_period, run, updates_off_prediction  # noqa: E402


def difference(a: Run, b: Run) -> float:
    """Relative L2 difference of the last displacements, weighted with the nodal masses."""
    u, w = frame(a).array("PointData", "displacement"), frame(b).array("PointData", "displacement")
    mass = frame(a).array("PointData", "mass")[:, None]
    return float(np.sqrt((mass * (u - w) ** 2).sum() / (mass * w**2).sum()))


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--full", action="store_true")
    full = arguments.parse_args().full
    case = HERE / "block.toml"
    few = {"output.frames": 4}
    quick = {} if full else {"integrator.courant": 0.2, "mesh.file": "coarse.geo"}
    report = Report("block: 380 six-node triangles, 2003 section 4.1")

    paper = run(case, "paper", {**few, "run.end_time": 40e-3 if full else 1e-3, "output.history": 4000 if full else 100})
    report.figure("elements with another number of updates than predicted", updates_off_prediction(paper), 0, 0)
    report.figure("ratio of largest to smallest step", paper.summary["step"]["max"] / paper.summary["step"]["min"], 28, 36,
                  "paper: 32.1")
    report.figure("worst accumulated residual / largest element energy", paper.summary["energy_residual"]["ratio"], 0, 0.01,
                  "paper: < 0.003, one element")

    long = paper if full else run(case, "long", {**few, **quick, "run.end_time": 16e-3, "output.history": 1600})
    history = long.history
    report.figure("period [s]", mean_period(history["time"], history["tip.displacement_x"]), 1.8e-3, 2.1e-3, "paper: 2.0e-3")
    report.figure("energy band", long.summary["energy"]["band"], 0, 0.01, "paper: nearly constant")
    report.figure("energy drift", abs(long.summary["energy"]["drift"]), 0, 0.001)
    report.figure("momentum error, linear", long.summary["linear_momentum"]["error"], 0, 1e-12)
    report.figure("momentum error, angular", long.summary["angular_momentum"]["error"], 0, 1e-12)
    report.figure("updates of Newmark / updates of AVI", long.summary["counted_speedup"], 1, paper="paper: 1.74, other mesh")

    compared = {**few, **quick, "run.end_time": 16e-3, "output.history": 100, "integrator.residual": "false"}
    avi = run(case, "avi", compared)
    newmark = run(case, "newmark", {**compared, "integrator.method": "newmark"})
    report.figure("AVI against Newmark after 8 periods, L2", difference(avi, newmark), 0, 0.02, "paper: in lockstep")
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
