#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Grains of steel among grains of rubber: what contacts with steps of their own save, beside Newmark's method at the step of
the stiffest.

--full: 8000 grains. --grains: writes the 1000 of the case.
"""

from __future__ import annotations

import math
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measure import Report, Run, options, run  # noqa: E402

DIAMETER, OVERLAP, ONE_IN = 0.01, 1e-3, 20
DENSITY = {"steel": 7780.0, "rubber": 1100.0}


def grains(side: int) -> str:
    random = np.random.default_rng(1)
    rows = ["mass,x,y,z,vx,vy,vz,radius,group"]
    for place in np.ndindex(side, side, side):
        kind = "steel" if random.random() < 1 / ONE_IN else "rubber"
        x = [f"{k * DIAMETER * (1 - OVERLAP):.9g}" for k in place]
        v = [f"{c:.6g}" for c in random.uniform(-0.05, 0.05, 3)]
        rows.append(",".join([f"{DENSITY[kind] * math.pi / 6 * DIAMETER**3:.9g}", *x, *v, f"{DIAMETER / 2}", kind]))
    return "\n".join(rows) + "\n"


def shaken(case: Path, name: str, settings: dict[str, object]) -> Run:
    return run(case, name, settings, threads=1)


def main() -> int:
    given = options(__doc__, ("grains",))
    if given.grains:
        (HERE / "grains.csv").write_text(grains(10), encoding="utf-8")
        return 0
    report = Report("mixed-grains: steel among rubber", HERE, given)
    case = HERE / "mixed-grains.toml"
    if given.full:
        folder, text = Path(tempfile.mkdtemp(prefix="tempi-")), case.read_text(encoding="utf-8")
        (folder / "grains.csv").write_text(grains(20), encoding="utf-8")
        case = folder / "mixed-grains.toml"
        case.write_text(text.replace("0.0999", "0.1998"), encoding="utf-8")
    avi = shaken(case, "avi", {})
    others = {safety: shaken(case, f"newmark-{safety}", {"integrator.method": '"newmark"', "integrator.safety": safety}) for safety in (0.4, 0.9)}
    report.figure("contacts", float(avi.summary["elements"]), *([24000] * 2 if given.full else [3000] * 2))
    report.figure("largest step over smallest", avi.summary["step"]["max"] / avi.summary["step"]["min"], 20, 200)
    report.figure("updates of Newmark's method at equal safety, over ours", avi.summary["counted_speedup"], 10, 30)
    report.figure("energy band", avi.summary["energy"]["band"], 0, 0.06, scatter=0.5)
    for safety, newmark in others.items():
        report.figure(f"Newmark, safety {safety}: energy band", newmark.summary["energy"]["band"], 0, 0.3, scatter=0.5)
        report.figure(f"Newmark, safety {safety}: time of updates over ours", newmark.summary["wall_time"] / avi.summary["wall_time"], 2, 40,
                      scatter=math.inf)
    report.figure("error of the linear momentum", avi.summary["linear_momentum"]["error"], 0, 1e-12, scatter=9)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
