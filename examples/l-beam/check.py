#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the L-shaped beam and holds it against the paper (2003, section 4.2). Short by default; --full: 100 ms."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measure import Report, run, updates_off_prediction  # noqa: E402


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--full", action="store_true")
    full = arguments.parse_args().full
    report = Report("L-shaped beam: 624 ten-node tetrahedra, 2003 section 4.2")
    result = run(HERE / "l-beam.toml", "l-beam", {"output.frames": 2} if full else
                 {"output.frames": 2, "output.history": 100, "run.end_time": 0.5e-3})
    summary = result.summary
    report.figure("elements with another number of updates than predicted", updates_off_prediction(result), 0, 0)
    report.figure("largest / smallest number of updates", summary["updates"]["max"] / summary["updates"]["min"], 5, 12,
                  "paper: 8.7")
    report.figure("updates of Newmark / updates of AVI", summary["counted_speedup"], 2.5, 3.5, "paper: 3")
    report.figure("momentum error, linear", summary["linear_momentum"]["error"], 0, 1e-12)
    report.figure("momentum error, angular", summary["angular_momentum"]["error"], 0, 1e-12)
    report.figure("energy band", summary["energy"]["band"], 0, 0.01, "paper: nearly constant")
    report.figure("energy drift", abs(summary["energy"]["drift"]), 0, 0.001)
    report.figure("worst accumulated residual / largest element energy", summary["energy_residual"]["ratio"], 0, 0.003,
                  "paper: < 0.0003, one element")
    report.figure("finite numbers in the history", float(np.isfinite(np.array(list(result.history.values()))).all()), 1, 1)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
