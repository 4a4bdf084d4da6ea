#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cost against accuracy of AVI and Newmark on the slab (2004, section 4.6, Figs 14 and 15).

Meshes by quadrisection; errors against Newmark on a finer mesh, in L2, of displacement and deformation gradient.
Short by default: 88 and 352 triangles against 1408, at larger steps; --full: 88 to 5632 against 22528.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measure import Report, frame, run, updates_off_prediction  # noqa: E402

CASE = HERE / "slab.toml"
# Three points inside a triangle: exact for the squares of gradients; seven points: for the squares of displacements.
THREE = (np.array([[1, 1], [4, 1], [1, 4]]) / 6, np.full(3, 1 / 3))
A, B = (6 - np.sqrt(15)) / 21, (6 + np.sqrt(15)) / 21
SEVEN = (
    np.array([[1 / 3, 1 / 3], [A, A], [1 - 2 * A, A], [A, 1 - 2 * A], [B, B], [1 - 2 * B, B], [B, 1 - 2 * B]]),
    np.array([9 / 40] + [(155 - np.sqrt(15)) / 1200] * 3 + [(155 + np.sqrt(15)) / 1200] * 3),
)


def shapes(r: np.ndarray, s: np.ndarray) -> np.ndarray:
    q = 1 - r - s
    return np.array([q * (2 * q - 1), r * (2 * r - 1), s * (2 * s - 1), 4 * q * r, 4 * r * s, 4 * s * q])


def slopes(r: float, s: float) -> np.ndarray:
    q = 1 - r - s
    return np.array([[1 - 4 * q, 1 - 4 * q], [4 * r - 1, 0], [0, 4 * s - 1], [4 * (q - r), -4 * r], [4 * s, 4 * r],
                     [-4 * s, 4 * (q - s)]])


@dataclass
class Solution:
    """Displacement at the end of a run, on its straight-sided mesh."""

    X: np.ndarray
    triangles: np.ndarray
    u: np.ndarray
    updates: int

    @staticmethod
    def of(level: int, name: str, settings: dict[str, object], case: Path = CASE) -> Solution:
        result = run(case, f"{name}-{level}", {"mesh.refine": level, "output.frames": 1, "output.history": 10,
                                               "integrator.residual": "false", **settings})
        if updates_off_prediction(result) > 0:
            sys.exit(f"{name}, level {level}: updates differ from those that step and end_time predict")
        last = frame(result)
        u = last.array("PointData", "displacement")[:, :2]
        X = last.array("Points", "Points")[:, :2] - u
        return Solution(X, last.array("Cells", "connectivity").reshape(-1, 6), u, result.summary["updates"]["total"])

    def at(self, points: np.ndarray) -> np.ndarray:
        """Displacement at any points of the slab."""
        a, b, c = (self.X[self.triangles[:, k]] for k in range(3))
        det = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (c[:, 0] - a[:, 0]) * (b[:, 1] - a[:, 1])
        values = np.empty_like(points)
        for start in range(0, len(points), 1000):
            p = points[start:start + 1000, None, :] - a
            r = (p[..., 0] * (c - a)[:, 1] - p[..., 1] * (c - a)[:, 0]) / det
            s = (p[..., 1] * (b - a)[:, 0] - p[..., 0] * (b - a)[:, 1]) / det
            home = np.argmax(np.minimum(np.minimum(r, s), 1 - r - s), axis=1)
            row = np.arange(len(home))
            N = shapes(r[row, home], s[row, home])
            values[start:start + 1000] = np.einsum("an,nai->ni", N, self.u[self.triangles[home]])
        return values


def errors(coarse: Solution, fine: Solution) -> tuple[float, float]:
    """Relative L2 errors of displacement and of its gradient; the meshes are nested, so both are exact."""
    difference = coarse.at(fine.X) - fine.u
    a, b, c = (fine.X[fine.triangles[:, k]] for k in range(3))
    J = np.stack((b - a, c - a), axis=2)
    area, inverse = 0.5 * np.linalg.det(J), np.linalg.inv(J)
    norms = []
    for values in (difference, fine.u):
        local = values[fine.triangles]
        square = sum(w * (np.einsum("a,nai->ni", shapes(*p), local) ** 2).sum(1) for p, w in zip(*SEVEN))
        gradient = sum(w * (np.einsum("nai,aj,njk->nik", local, slopes(*p), inverse) ** 2).sum((1, 2))
                       for p, w in zip(*THREE))
        norms.append((np.sqrt((area * square).sum()), np.sqrt((area * gradient).sum())))
    return norms[0][0] / norms[1][0], norms[0][1] / norms[1][1]


def time_slope(method: str, end_time: float) -> float:
    """Order in time on the first mesh: slope of the change between runs whose steps are halved four times."""
    solutions = []
    for k in range(5):
        # Newmark's steps divide end_time; those of AVI cannot, and their phases at the end scatter the changes a little.
        step = {"integrator.step": end_time / (250 * 2**k)} if method == "newmark" else {"integrator.courant": 0.4 / 2**k}
        case = CASE if method == "avi" else without_courant()
        solutions.append(Solution.of(0, f"{method}-time-{k}", {"integrator.method": method, "run.end_time": end_time, **step},
                                     case))
    change = [np.linalg.norm(x.u - y.u) for x, y in zip(solutions, solutions[1:])]
    return float(-np.polyfit(np.arange(4), np.log2(change), 1)[0])


def without_courant() -> Path:
    """The case with nothing said about steps, for `step` to be set."""
    path = Path(tempfile.mkdtemp(prefix="tempi-")) / "slab.toml"
    text = CASE.read_text(encoding="utf-8").replace('"slab.geo"', f'"{HERE / "slab.geo"}"')
    path.write_text("\n".join(line for line in text.splitlines() if not line.startswith("courant")), encoding="utf-8")
    return path


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--full", action="store_true")
    full = arguments.parse_args().full
    levels, reference_level = (range(4), 4) if full else (range(2), 2)
    settings: dict[str, object] = {} if full else {"integrator.courant": 0.3}
    newmark = {**settings, "integrator.method": "newmark"}
    report = Report("slab: quadrisection, 2004 section 4.6")
    reference = Solution.of(reference_level, "reference", {**newmark, "integrator.courant": 0.3})
    table: dict[str, list[tuple[float, float]]] = {"AVI": [], "Newmark": []}
    for level in levels:
        for name, choice in (("AVI", settings), ("Newmark", newmark)):
            solution = Solution.of(level, name, choice)
            table[name].append(errors(solution, reference))
            print(f"  {name:<8} {88 * 4**level:>6} triangles {solution.updates:>12} updates, relative errors: displacement"
                  f" {table[name][-1][0]:.4e}, deformation gradient {table[name][-1][1]:.4e}")
    for k, quantity in enumerate(("displacement", "deformation gradient")):
        rate = {name: np.log2(rows[-2][k] / rows[-1][k]) for name, rows in table.items()}
        for name, value in rate.items():
            report.figure(f"rate of convergence, {quantity}, {name}", float(value), 0.5, 3.5, f"paper: {(1.9, 1.1)[k]}")
        report.figure(f"difference of the rates, {quantity}", float(abs(rate["AVI"] - rate["Newmark"])), 0, 0.1)
        worst = max(a[k] / n[k] for a, n in zip(table["AVI"], table["Newmark"]))
        report.figure(f"error of AVI / error of Newmark, {quantity}, worst mesh", float(worst), 0, 1.05)
    for method in ("avi", "newmark"):
        report.figure(f"order in time on the first mesh, {method}", time_slope(method, 0.05), 1.8, 2.2, "theory: 2")
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
