#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tempi, CalculiX and DOLFINx side by side: cost of an explicit update of a 4- and a 10-node tetrahedron, one core.

usage: compare.py [--tempi build/release/tempi] [--cells N] [--turns N] [--quick] [--out FILE.json]

README.md says what is compared and what is not the same. A missing peer is named and left out.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402

from block import DENSITY, LAMBDA, MU, block, forces, motion, write_inp  # noqa: E402

SVK, NEO = "saint-venant-kirchhoff", "neo-hookean"
END = 3e-4  # [s] of the motions that are compared, where linear elasticity is 2 % off


class Tempi:
    def __init__(self, command: Path, folder: Path, points: np.ndarray, cells: np.ndarray, speed: float) -> None:
        self.command, self.folder, self.speed = command.resolve(), folder, speed
        folder.mkdir()
        write_inp(folder / "block.inp", points, cells)

    def run(self, law: str, end: float, instructions: str | None = None) -> tuple[dict, float]:
        """The run's summary, and the displacement along x of the node in the corner."""
        (self.folder / "case.toml").write_text(f"""
mesh.file = "block.inp"
initial.velocity = ["{self.speed}*cos(pi*X)", "0", "0"]
integrator = {{method = "newmark", residual = false}}
run.end_time = {end!r}
output = {{frames = 0, history = 1}}
material = [{{model = "{law}", lambda = {LAMBDA}, mu = {MU}, density = {DENSITY}}}]
probe = [{{name = "corner", point = [0, 0, 0]}}]
""")
        environment = dict(os.environ, **({"TEMPI_INSTRUCTIONS": instructions} if instructions else {}))
        call = [self.command, "run", "case.toml", "--threads", "1", "--overwrite", "--quiet", "--out", "out"]
        subprocess.run(call, cwd=self.folder, env=environment, check=True)
        head, *_, last = (self.folder / "out/history.csv").read_text().split()
        corner = float(last.split(",")[head.split(",").index("corner.displacement_x")])
        return json.loads((self.folder / "out/summary.json").read_text()), corner

    def cost(self, law: str, steps: int, instructions: str | None) -> float:
        if not hasattr(self, "step"):
            self.step = self.run(law, 1e-9)[0]["newmark_step"]
        return 1e9 * self.run(law, steps * self.step, instructions)[0]["time_per_update"]


class Calculix:
    def __init__(self, folder: Path, points: np.ndarray, cells: np.ndarray, speed: float) -> None:
        self.folder, self.points, self.cells, self.steps = folder, points, cells, {}
        folder.mkdir()
        self.velocity = "".join(f"{a}, 1, {v:.12e}\n" for a, v in enumerate(
            (speed * np.cos(np.pi * points[:, 0])).tolist(), 1))

    def run(self, law: str, end: float, every: int = 10**9) -> tuple[float, list[float], list[float]]:
        """Wall time [s]; times and displacements along x of the corner, printed at every so many steps and the last."""
        young, poisson = MU * (3 * LAMBDA + 2 * MU) / (LAMBDA + MU), LAMBDA / (2 * (LAMBDA + MU))
        material = {SVK: f"*ELASTIC\n{young:.12e}, {poisson:.12e}",  # with NLGEOM: S = lambda tr E + 2 mu E
                    NEO: f"*HYPERELASTIC, NEO HOOKE\n{MU / 2:.12e}, {2 / (LAMBDA + 2 * MU / 3):.12e}"}[law]
        write_inp(self.folder / "block.inp", self.points, self.cells, f"""*NSET, NSET=CORNER
1
*MATERIAL, NAME=M
{material}
*DENSITY
{DENSITY:.12e}
*SOLID SECTION, ELSET=BODY, MATERIAL=M
*INITIAL CONDITIONS, TYPE=VELOCITY
{self.velocity}*STEP, NLGEOM, INC=100000000
*DYNAMIC, EXPLICIT, ALPHA=0
{end:.12e}, {end:.12e}
*NODE PRINT, NSET=CORNER, FREQUENCY={every}
U
*END STEP
""")
        begin = time.perf_counter()
        done = subprocess.run(["ccx", "block"], cwd=self.folder, capture_output=True, text=True, timeout=3600)
        wall = time.perf_counter() - begin
        if done.returncode != 0 or "*ERROR" in done.stdout:
            raise RuntimeError("ccx failed:\n" + done.stdout[-2000:])
        lines = (self.folder / "block.dat").read_text().splitlines()
        times = [float(line.split()[-1]) for line in lines if "displacements" in line]
        return wall, times, [float(line.split()[1]) for line in lines if line.split()[:1] == ["1"]]

    def cost(self, law: str, steps: int, about: float) -> float:
        """[ns]: two runs, `steps` apart, so that reading and setting up cancel. ccx chooses its own step."""
        if law not in self.steps:
            self.steps[law] = self.run(law, about, 1)[1][0]
        short, long = (self.run(law, (n - 0.5) * self.steps[law])[0] for n in (3, 3 + steps))
        return 1e9 * (long - short) / (steps * len(self.cells))


class Dolfinx:
    """The residual alone, by FFCx: no masses, no motion. The stress is written out: faster than derivative(W)."""

    def __init__(self, folder: Path, points: np.ndarray, cells: np.ndarray, flags: list[str] | None) -> None:
        import dolfinx.fem
        import dolfinx.mesh
        import ufl
        from mpi4py import MPI

        corners = int(cells[:, :4].max()) + 1
        shape = ufl.Mesh(ufl.VectorElement("Lagrange", ufl.Cell("tetrahedron", geometric_dimension=3), 1))
        mesh = dolfinx.mesh.create_mesh(MPI.COMM_SELF, cells[:, :4].astype(np.int64), points[:corners], shape)
        degree = 1 if cells.shape[1] == 4 else 2
        space = dolfinx.fem.VectorFunctionSpace(mesh, ("Lagrange", degree))
        self.u, v = dolfinx.fem.Function(space), ufl.TestFunction(space)
        F = ufl.Identity(3) + ufl.grad(self.u)
        P = MU * F + (LAMBDA * ufl.ln(ufl.det(F)) - MU) * ufl.inv(F).T
        measure = ufl.Measure("dx", domain=mesh, metadata={"quadrature_degree": 2 * degree - 2})
        options = {"cache_dir": str(folder / "ffcx"), "timeout": 300}
        if flags:
            options["cffi_extra_compile_args"] = [*flags, "-g0"]
        self.form = dolfinx.fem.form(ufl.inner(P, ufl.grad(v)) * measure, jit_params=options)
        places = space.tabulate_dof_coordinates()  # our node of each of theirs, by its place
        node, self.cells = np.empty(len(places), int), cells
        node[np.lexsort(np.round(places, 9).T)] = np.lexsort(np.round(points, 9).T)
        if not np.allclose(points[node], places, atol=1e-12):
            raise RuntimeError("DOLFINx: the nodes do not match.")
        displacement = np.random.default_rng(2).uniform(-1e-3, 1e-3, points.shape)
        self.u.x.array[:] = displacement[node].ravel()
        self.vector, self.assemble = np.zeros(points.size), dolfinx.fem.assemble_vector
        self.assemble(self.vector, self.form)
        expected = forces(points, cells, displacement)[node].ravel()
        self.error = abs(self.vector - expected).max() / abs(expected).max()

    def cost(self) -> float:
        times = []
        for _ in range(10):
            begin = time.perf_counter()
            self.vector[:] = 0.0
            self.assemble(self.vector, self.form)
            times.append(time.perf_counter() - begin)
        return 1e9 * statistics.median(times) / len(self.cells)


def claim(what: str, error: float, limit: float, checks: list[dict]) -> None:
    checks.append({"check": what, "difference": error, "limit": limit})
    print(f"  {what}: {error:.1e} (limit {limit:g})", file=sys.stderr)
    if not error <= limit:
        sys.exit(f"compare.py: {what}: {error:g} (must be <= {limit:g}). The codes do not compute the same.")


def check_motion(nodes: int, command: Path, folder: Path, ccx: bool, checks: list[dict]) -> None:
    """On a small block: Tempi against plain numpy, CalculiX against Tempi."""
    points, cells = block(4500 if nodes == 4 else 1500, nodes)
    tempi = Tempi(command, folder / f"motion{nodes}", points, cells, 50.0)
    summary, corner = tempi.run(NEO, END)
    velocity = np.outer(50.0 * np.cos(np.pi * points[:, 0]), [1, 0, 0])
    expected = motion(points, cells, velocity, summary["newmark_step"], END)[0, 0]
    claim(f"tet{nodes}, Tempi's motion against numpy", abs(corner / expected - 1), 1e-10, checks)
    if ccx:
        _, times, corners = Calculix(folder / f"ccx-motion{nodes}", points, cells, 50.0).run(SVK, END, 1)
        claim(f"tet{nodes}, CalculiX's steps against its first", abs(np.diff(times[:-1]) / times[0] - 1).max(), 1e-3,
              checks)
        claim(f"tet{nodes}, CalculiX's motion against Tempi's, {SVK}",
              abs(corners[-1] / tempi.run(SVK, END)[1] - 1), 0.01, checks)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--tempi", type=Path, default=Path("build/release/tempi"))
    arguments.add_argument("--cells", type=int, default=100000, help="4-node tetrahedra; half as many of 10 nodes")
    arguments.add_argument("--turns", type=int, default=3)
    arguments.add_argument("--quick", action="store_true", help="a tenth of the cells, one turn")
    arguments.add_argument("--out", type=Path)
    given = arguments.parse_args()
    size, turns = (given.cells // 10, 1) if given.quick else (given.cells, given.turns)
    if not given.tempi.exists():
        sys.exit(f"compare.py: '{given.tempi}' does not exist. Build it (./dev build) or name it with --tempi.")
    versions = {"Tempi": subprocess.check_output([given.tempi, "--version"], text=True).split()[1]}
    if shutil.which("ccx"):
        versions["CalculiX"] = subprocess.run(["ccx", "-v"], capture_output=True, text=True).stdout.split()[-1]
    else:
        print("CalculiX is missing: install the package calculix-ccx.", file=sys.stderr)
    try:
        import dolfinx

        versions["DOLFINx"] = dolfinx.__version__
    except ImportError:
        print("DOLFINx is missing: install the package python3-dolfinx.", file=sys.stderr)
    logging.disable(logging.INFO)  # FFCx's compiler lines
    rows, checks = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for nodes in (4, 10):
            check_motion(nodes, given.tempi, folder, "CalculiX" in versions, checks)
            points, cells = block(size if nodes == 4 else size // 2, nodes)
            tempi = Tempi(given.tempi, folder / f"tempi{nodes}", points, cells, 5.0)
            updates = math.ceil((4e7 if nodes == 4 else 1e7) / len(cells))
            runs = [(f"Tempi{label}", law, lambda law=law, to=to: tempi.cost(law, updates, to))
                    for law in (NEO, SVK) for label, to in (("", None), (", AVX2", "avx2"))]
            if "CalculiX" in versions:
                ccx_steps = math.ceil((6e6 if nodes == 4 else 1e6) / len(cells))  # some 5 s
                ccx = Calculix(folder / f"ccx{nodes}", points, cells, 5.0)
                runs += [("CalculiX", law, lambda law=law: ccx.cost(law, ccx_steps, tempi.step))
                         for law in (SVK, NEO)]
            if "DOLFINx" in versions:
                for flags in (None, ["-O3", "-march=native"], ["-Ofast", "-march=native"]):
                    residual = Dolfinx(folder, points, cells, flags)
                    label = "DOLFINx, " + (" ".join(flags) if flags else "default flags")
                    claim(f"tet{nodes}, {label}: residual against numpy", residual.error, 1e-10, checks)
                    runs.append((label, NEO, residual.cost))
            costs: list[list[float]] = [[] for _ in runs]
            for turn in range(turns):
                for (label, law, cost), taken in zip(runs, costs):
                    taken.append(cost())
                    print(f"  turn {turn + 1}, tet{nodes}, {label}, {law}: {taken[-1]:.1f} ns", file=sys.stderr)
            own = {law: statistics.median(c) for (label, law, _), c in zip(runs, costs) if label == "Tempi"}
            for (label, law, _), taken in zip(runs, costs):
                ns = statistics.median(taken)
                shown = law + " (its own, isochoric part apart)" if (label, law) == ("CalculiX", NEO) else law
                step = None if "DOLFINx" in label else ccx.steps[law] if label == "CalculiX" else tempi.step
                rows.append({"code": label, "version": versions[label.split(",")[0]], "element": f"tet{nodes}",
                             "cells": len(cells), "law": shown, "ns_per_update": ns, "turns": taken,
                             "ratio_to_tempi": ns / own[law], "step": step})
    print("| code | version | element | law | ns per element update | ratio to Tempi |\n|---|---|---|---|---|---|")
    for r in rows:
        print(f"| {r['code']} | {r['version']} | {r['element']}, {r['cells'] / 1e3:.0f} k | {r['law']} "
              f"| {r['ns_per_update']:.1f} | {r['ratio_to_tempi']:.2f} |")
    if given.out:
        given.out.write_text(json.dumps({"turns": turns, "results": rows, "checks": checks}, indent=1) + "\n")


if __name__ == "__main__":
    main()
