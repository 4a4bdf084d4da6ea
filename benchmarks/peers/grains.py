#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Grains at rest in a box, by Hertz's law, in Tempi and in LAMMPS (pair_style granular), whole steps, one core.

Tempi lets the grains of examples/packing settle; from there both codes go on without drag, so that the weight and
thousands of contacts keep them busy. First they must agree: places after 200 steps. Then they run in turn.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "app" / "plot"), str(ROOT / "examples"), str(ROOT / "examples" / "packing")]
from check import DENSITY, GRAVITY, grains, touching, write  # noqa: E402
from vtu import VtuFile  # noqa: E402

YOUNG, POISSON, SKIN = 2e6, 0.3, 2.6e-4
# LAMMPS' walls take E / (2 (1 - nu)) for E*, not E / (2 (1 - nu^2)): a modulus of ours that makes the same of it.
WALL_YOUNG = YOUNG * (1 + POISSON) / (1 - POISSON)


def tempi(command: Path, folder: Path, name: str, width: float, settings: dict, steps: str = "safety = 0.2") -> tuple[dict, Path]:
    out = folder / f"{name}.out"
    text = (ROOT / "examples" / "packing" / "packing.toml").read_text(encoding="utf-8")
    text = text.replace("safety = 0.2", steps).replace("young = 2e6\npoisson", f"young = {WALL_YOUNG!r}\npoisson")
    (folder / "grains.toml").write_text(text, encoding="utf-8")
    words = [str(command), "run", str(folder / "grains.toml"), "--out", str(out), "--overwrite", "--quiet",
             "--threads", "1", "--set", f'particles.file="{folder / "grains.csv"}"',
             "--set", f"wall.3.point=[{width}, 0, 0]", "--set", f"wall.4.point=[0, {width}, 0]"]
    for key, value in settings.items():
        words += ["--set", f"{key}={value}"]
    subprocess.run(words, check=True)
    last = sorted((out / "frames").glob("*.vtu"))[-1]
    return json.loads((out / "summary.json").read_text(encoding="utf-8")), last


def lammps(folder: Path, x: np.ndarray, radius: np.ndarray, width: float, step: float, steps: int) -> tuple[np.ndarray, float, int]:
    rows = "\n".join(f"{i + 1} 1 {2 * r:.17g} {DENSITY} {a[0]:.17g} {a[1]:.17g} {a[2]:.17g}" for i, (a, r) in enumerate(zip(x, radius)))
    top = x[:, 2].max() + 0.01
    (folder / "start.data").write_text(
        f"start\n\n{len(x)} atoms\n1 atom types\n-0.001 {width + 0.001} xlo xhi\n-0.001 {width + 0.001} ylo yhi\n-0.001 {top} zlo zhi\n\n"
        f"Atoms # sphere\n\n{rows}\n", encoding="utf-8")
    law = f"hertz/material {YOUNG} 0.0 {POISSON} tangential linear_nohistory 0.0 0.0"
    (folder / "in.grains").write_text(f"""units si
atom_style sphere
boundary s s s
newton off
comm_modify vel yes
read_data start.data
pair_style granular
pair_coeff * * {law}
neighbor {SKIN} bin
neigh_modify delay 0 every 1 check yes
fix 1 all nve
fix 2 all gravity {GRAVITY} vector 0 0 -1
fix 3 all wall/gran granular {law} zplane 0.0 NULL
fix 4 all wall/gran granular {law} xplane 0.0 {width:.17g}
fix 5 all wall/gran granular {law} yplane 0.0 {width:.17g}
timestep {step:.17g}
thermo 1000000
run {steps}
write_dump all custom end.dump id xu yu zu modify sort id format float %.17g
""", encoding="utf-8")
    done = subprocess.run(["lmp", "-in", "in.grains", "-log", "none"], cwd=folder, capture_output=True, text=True, timeout=3600,
                          env={**os.environ, "OMP_NUM_THREADS": "1"})
    if done.returncode != 0:
        raise RuntimeError("lmp failed:\n" + done.stdout[-2000:] + done.stderr[-2000:])
    lists = re.search(r"Neighbor list builds = (\d+)", done.stdout)
    wall = re.search(r"Loop time of (\S+)", done.stdout)
    assert wall is not None
    return np.loadtxt(folder / "end.dump", skiprows=9)[:, 1:], float(wall[1]), int(lists[1]) if lists else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tempi", type=Path, default=ROOT / "build" / "release" / "tempi")
    parser.add_argument("--grains", type=int, default=20_000)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--frame", type=Path, help="go on from this frame of `examples/packing/check.py --full --keep`, instead of settling")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="tempi-"))
    x, radius, width = grains(given.grains)
    if given.frame is None:
        write(folder / "grains.csv", x, radius)
        _, frame = tempi(given.tempi, folder, "settle", width, {"output.frames": 1, "output.history": 2})
    else:
        frame = given.frame
    x = VtuFile(frame).places
    write(folder / "grains.csv", x, radius)
    x = np.loadtxt(folder / "grains.csv", delimiter=",", skiprows=1)[:, 2:]  # as it is written
    contacts = touching(x, radius)
    summary, _ = tempi(given.tempi, folder, "step", width, {"run.end_time": 1e-3, "damping.0.coefficient": 0, "output.frames": 1, "output.history": 2})
    step = float(f"{summary['end_time'] / summary['updates']['max']:.3g}")

    def of_tempi(steps: int) -> tuple[np.ndarray, float]:
        s, last = tempi(given.tempi, folder, "run", width,
                        {"run.end_time": repr(step * steps), "damping.0.coefficient": 0, "output.frames": 1, "output.history": 2}, f"step = {step!r}")
        return VtuFile(last).places, s["wall_time"]

    there, _, _ = lammps(folder, x, radius, width, step, 200)
    here, _ = of_tempi(200)
    apart = float(np.abs(here - there).max() / np.abs(there - x).max())
    print(f"{given.grains} grains, {contacts} contacts, step {step:g} s; places after 200 steps: {apart:.2g} of the way apart")
    if not apart < 1e-4:  # masses are written with six digits
        print("the codes do not agree", file=sys.stderr)
        return 1
    ratios, ours, theirs = [], [], []
    for _ in range(given.turns):
        _, wall, lists = lammps(folder, x, radius, width, step, given.steps)
        _, mine = of_tempi(given.steps)
        ours.append(mine), theirs.append(wall), ratios.append(mine / wall)
    for name, times in (("Tempi", ours), ("LAMMPS", theirs)):
        each = 1e9 * statistics.median(times) / given.steps
        print(f"{name:<7} {each / 1e6:.3f} ms a step, {each / given.grains:.1f} ns a grain, {each / contacts:.1f} ns a contact")
    print(f"time over LAMMPS' {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}); its lists were made {lists} times")
    return 0


if __name__ == "__main__":
    sys.exit(main())
