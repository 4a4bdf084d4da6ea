#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lennard-Jones particles in Tempi and in LAMMPS (pair_style lj/cut), whole steps, one core.

A periodic liquid (LAMMPS' melt: density 0.8442, T = 1.44, after its crystal has melted) and a free cluster; cutoff 2.5,
skin 0.3, step 0.005; lists are made anew as soon as a particle has moved half a skin. First both codes must agree:
forces and energies at the start, positions after a few hundred steps. Then they run in turn. Times are those of the
processor, which a busy machine disturbs less than those on the wall; what one turn differs from another is printed.
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

CUTOFF, SKIN, STEP = 2.5, 0.3, 0.005


def lattice(cells: int, density: float) -> tuple[np.ndarray, float]:
    """Points of a face-centred cubic lattice, and the length of their box."""
    a = (4 / density) ** (1 / 3)
    corner = np.stack(np.meshgrid(*[np.arange(cells)] * 3, indexing="ij"), -1).reshape(-1, 1, 3)
    base = np.array([[0, 0, 0], [0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0.5]])
    return a * (corner + base).reshape(-1, 3), a * cells


def velocities(count: int, temperature: float) -> np.ndarray:
    v = np.random.default_rng(1).normal(size=(count, 3))
    v -= v.mean(axis=0)
    return v * np.sqrt(3 * temperature * count / (v**2).sum())


class Lammps:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, x: np.ndarray, v: np.ndarray, box: float, steps: int) -> dict:
        """Positions, velocities and forces after so many steps; energies; seconds of the processor."""
        low, high = ((0, box), (0, box)) if box > 0 else ((x.min() - 1, x.max() + 1),) * 2
        rows = "\n".join(f"{i + 1} 1 {a[0]:.17g} {a[1]:.17g} {a[2]:.17g}" for i, a in enumerate(x))
        speeds = "\n".join(f"{i + 1} {a[0]:.17g} {a[1]:.17g} {a[2]:.17g}" for i, a in enumerate(v))
        bounds = "\n".join(f"{low[0]:.17g} {high[1]:.17g} {c}lo {c}hi" for c in "xyz")
        (self.folder / "start.data").write_text(
            f"start\n\n{len(x)} atoms\n1 atom types\n{bounds}\n\nMasses\n\n1 1.0\n\nAtoms\n\n{rows}\n\n"
            f"Velocities\n\n{speeds}\n")
        (self.folder / "in.lj").write_text(f"""units lj
boundary {"p p p" if box > 0 else "s s s"}
atom_style atomic
read_data start.data
pair_style lj/cut {CUTOFF}
pair_modify shift yes
pair_coeff 1 1 1.0 1.0 {CUTOFF}
neighbor {SKIN} bin
neigh_modify every 1 delay 0 check yes
fix 1 all nve
timestep {STEP}
thermo_modify norm no format float %.17g
thermo_style custom step pe ke
thermo_modify norm no format float %.17g
thermo 1000000
run {steps}
write_dump all custom end.dump id xu yu zu vx vy vz fx fy fz modify sort id format float %.17g
""")
        done = subprocess.run(["lmp", "-in", "in.lj", "-log", "none"], cwd=self.folder, capture_output=True, text=True,
                              timeout=3600, env={**os.environ, "OMP_NUM_THREADS": "1"})
        if done.returncode != 0:
            raise RuntimeError("lmp failed:\n" + done.stdout[-2000:] + done.stderr[-2000:])
        end = np.loadtxt(self.folder / "end.dump", skiprows=9)[:, 1:]
        energies = re.findall(rf"^\s*{steps}\s+(\S+)\s+(\S+)\s*$", done.stdout, re.M)[-1]
        wall = float(re.search(r"Loop time of (\S+)", done.stdout)[1])
        use = float(re.search(r"([\d.]+)% CPU use", done.stdout)[1]) if steps > 0 else 0.0
        lists = re.search(r"Neighbor list builds = (\d+)", done.stdout)
        return {"end": end, "potential": float(energies[0]), "kinetic": float(energies[1]), "wall_time": wall,
                "cpu_time": wall * use / 100, "lists": int(lists[1]) if lists else 0}


class Tempi:
    def __init__(self, folder: Path, command: Path) -> None:
        self.folder, self.command = folder, command.resolve()

    def run(self, x: np.ndarray, v: np.ndarray, box: float, steps: int, method: str = "newmark") -> dict:
        np.savetxt(self.folder / "start.txt", np.hstack([x, v]), fmt="%.17g", header=f"{len(x)} {box!r}", comments="")
        done = subprocess.run([self.command, "start.txt", "end.txt", method, str(STEP), str(steps), str(CUTOFF), str(SKIN)],
                              cwd=self.folder, capture_output=True, text=True, timeout=3600)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        return {**json.loads(done.stdout), "end": np.loadtxt(self.folder / "end.txt")}


def claim(what: str, error: float, limit: float, checks: list[dict]) -> None:
    checks.append({"check": what, "difference": error, "limit": limit})
    print(f"  {what}: {error:.1e} (limit {limit:g})", file=sys.stderr)
    if not error <= limit:
        sys.exit(f"particles.py: {what}: {error:g} (must be <= {limit:g}). The codes do not compute the same.")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--tempi", type=Path, default=Path("build/release/benchmarks/tempi_particles"))
    arguments.add_argument("--turns", type=int, default=5)
    arguments.add_argument("--quick", action="store_true", help="one turn of a tenth of the steps")
    arguments.add_argument("--out", type=Path)
    given = arguments.parse_args()
    if not given.tempi.exists():
        sys.exit(f"particles.py: '{given.tempi}' does not exist. Build it (README.md beside this file tells how) or name it with --tempi.")
    rows, checks = [], []
    with tempfile.TemporaryDirectory() as name:
        lammps, tempi = Lammps(Path(name)), Tempi(Path(name), given.tempi)
        liquid, length = lattice(20, 0.8442)
        cluster = lattice(8, 1.05)[0]
        cluster = cluster[np.argsort(np.linalg.norm(cluster - cluster.mean(axis=0), axis=1), kind="stable")[:1000]]
        for label, x, temperature, box, melting, steps in (
                ("liquid of 32 000, periodic", liquid, 1.44, length, 500, 400),
                ("free cluster of 1 000", cluster, 0.8, 0.0, 2000, 10000)):
            start = lammps.run(x, velocities(len(x), temperature), box, melting)["end"]
            x, v = start[:, :3], start[:, 3:6]
            ours, theirs = tempi.run(x, v, box, 0), lammps.run(x, v, box, 0)
            force = abs(theirs["end"][:, 6:]).max()
            claim(f"{label}: forces", abs(ours["end"][:, 6:] - theirs["end"][:, 6:]).max() / force, 1e-10, checks)
            claim(f"{label}: potential energy", abs(ours["potential"] / theirs["potential"] - 1), 1e-12, checks)
            ours, theirs = tempi.run(x, v, box, 200), lammps.run(x, v, box, 200)
            claim(f"{label}: positions after 200 steps", abs(ours["end"][:, :3] - theirs["end"][:, :3]).max(), 1e-8, checks)
            count = steps // 10 if given.quick else steps
            runs = [("LAMMPS", lambda: lammps.run(x, v, box, count)),
                    ("Tempi, newmark", lambda: tempi.run(x, v, box, count)),
                    ("Tempi, avi with equal steps", lambda: tempi.run(x, v, box, count, "avi"))]
            times: list[list[float]] = [[] for _ in runs]
            for turn in range(1 if given.quick else given.turns):
                for (code, run), taken in zip(runs, times):
                    taken.append(1e3 * run()["cpu_time"] / count)
                    print(f"  turn {turn + 1}, {label}, {code}: {taken[-1]:.3f} ms a step", file=sys.stderr)
            for (code, _), taken in zip(runs, times):
                ms = statistics.median(taken)
                ratio = statistics.median(t / l for t, l in zip(taken, times[0]))
                rows.append({"case": label, "code": code, "ms_per_step": ms, "turns": taken, "ratio_to_lammps": ratio,
                             "pairs": ours["pairs"], "pairs_per_second": 1e3 * ours["pairs"] / ms})
    print("| case | code | ms a step (least to most) | steps/s | pairs within the cutoff a second | time over LAMMPS' |\n"
          "|---|---|---|---|---|---|")
    for r in rows:
        print(f"| {r['case']} | {r['code']} | {r['ms_per_step']:.3f} ({min(r['turns']):.3f} to {max(r['turns']):.3f}) "
              f"| {1e3 / r['ms_per_step']:.0f} | {r['pairs_per_second'] / 1e6:.0f} million | {r['ratio_to_lammps']:.2f} |")
    if given.out:
        given.out.write_text(json.dumps({"results": rows, "checks": checks}, indent=1) + "\n")


if __name__ == "__main__":
    main()
