#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the L-shaped beam and holds it against the paper (2003, section 4.2). Short by default; --full: 100 ms.

--draw, with --full: residual.png (Fig. 14).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measure import Report, draw_residual, options, run, updates_off_prediction  # noqa: E402


def main() -> int:
    given = options(__doc__, ("draw",))
    full = given.full
    report = Report("L-shaped beam: 624 ten-node tetrahedra, 2003 section 4.2", HERE, given)
    result = run(HERE / "l-beam.toml", "l-beam", {"output.frames": 2} if full else
                 {"output.frames": 2, "output.history": 100, "run.end_time": 0.5e-3})
    summary = result.summary
    report.figure("elements with another number of updates than predicted", updates_off_prediction(result), 0, 0)
    report.figure("largest / smallest number of updates", summary["updates"]["max"] / summary["updates"]["min"], 7.5, 9,
                  "8.7")
    report.figure("updates of Newmark / updates of AVI", summary["counted_speedup"], 3.0, 3.3, "3")
    report.figure("momentum error, linear", summary["linear_momentum"]["error"], 0, 1e-12)
    report.figure("momentum error, angular", summary["angular_momentum"]["error"], 0, 1e-12)
    report.figure("energy band", summary["energy"]["band"], 0, 0.01, "nearly constant")
    report.figure("energy drift", abs(summary["energy"]["drift"]), 0, 0.001)
    followed = result.history["one.accumulated_residual"] / result.history["one.energy"].max()
    report.figure("accumulated residual of the element drawn / its largest energy", float(np.abs(followed).max()), 0, 0.0003, "< 0.0003")
    report.figure("worst accumulated residual / largest element energy", summary["energy_residual"]["ratio"], 0, 0.003,
                  "< 0.0003, one element")
    report.figure("finite numbers in the history", float(np.isfinite(np.array(list(result.history.values()))).all()), 1, 1)
    if given.draw:
        draw_residual(result, 20e-3, HERE / "residual.png")
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
