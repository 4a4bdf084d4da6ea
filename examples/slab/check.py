#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cost against accuracy of AVI and Newmark on the slab (2004, section 4.6, Figs 14 and 15).

Meshes by quadrisection; errors against Newmark on a finer mesh, in L2, of displacement and deformation gradient.
Short by default: 88 and 352 triangles against 1408, at larger steps; --full: 88 to 22528 against 90112.
--draw: cost.png.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measure import Report, Run, blank_picture, frame, options, run, updates_off_prediction  # noqa: E402
from matplotlib.colors import ListedColormap, Normalize  # noqa: E402
from panels import draw_frame, frame_axes, paint  # noqa: E402

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


def saving_of(step: np.ndarray) -> float:
    return float(len(step) / step.min() / (1 / step).sum())


@dataclass
class Solution:
    """Displacement at the end of a run, on its straight-sided mesh."""

    X: np.ndarray
    triangles: np.ndarray
    u: np.ndarray
    updates: int
    saving: float  # of its steps, eq. (62): over synchronous steps of the smallest one
    run: Run

    @staticmethod
    def of(level: int, name: str, settings: dict[str, object], case: Path = CASE) -> Solution:
        result = run(case, f"{name}-{level}", {"mesh.refine": level, "output.frames": 1, "output.history": 10,
                                               "integrator.residual": "false", **settings})
        if updates_off_prediction(result) > 0:
            sys.exit(f"{name}, level {level}: updates differ from those that step and end_time predict")
        last = frame(result)
        u = last.array("PointData", "displacement")[:, :2]
        step = last.array("CellData", "step")
        X = last.array("Points", "Points")[:, :2] - u
        return Solution(X, last.array("Cells", "connectivity").reshape(-1, 6), u, result.summary["updates"]["total"],
                        saving_of(step), result)

    def at(self, points: np.ndarray) -> np.ndarray:
        """Displacement at any points of the slab."""
        a, b, c = (self.X[self.triangles[:, k]] for k in range(3))
        det = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (c[:, 0] - a[:, 0]) * (b[:, 1] - a[:, 1])
        values = np.empty_like(points)
        for start in range(0, len(points), 250):
            p = points[start:start + 250, None, :] - a
            r = (p[..., 0] * (c - a)[:, 1] - p[..., 1] * (c - a)[:, 0]) / det
            s = (p[..., 1] * (b - a)[:, 0] - p[..., 0] * (b - a)[:, 1]) / det
            home = np.argmax(np.minimum(np.minimum(r, s), 1 - r - s), axis=1)
            row = np.arange(len(home))
            N = shapes(r[row, home], s[row, home])
            values[start:start + 250] = np.einsum("an,nai->ni", N, self.u[self.triangles[home]])
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


def picture(updates: dict[str, list[int]], table: dict[str, list[tuple[float, float]]], first: Run) -> None:
    """The paper's Figs 14 (the coarsest mesh) and 15."""
    figure = blank_picture(2.6)
    mesh, displacement, gradient = figure.subplots(1, 3)
    vtu = frame(first, 0)
    drawing = draw_frame(first, vtu)
    paint(mesh, drawing, np.zeros(len(drawing.polygons)), Normalize(0, 1), ListedColormap(["0.92"]), 2.2)
    frame_axes(mesh, 2, *drawing.bounds)
    for k, (ax, title) in enumerate(((displacement, "displacement"), (gradient, "deformation gradient"))):
        for name, colour, mark in (("AVI", "#0072B2", "o-"), ("Newmark", "#D55E00", "s--")):
            ax.loglog(updates[name], [row[k] for row in table[name]], mark, ms=3, lw=0.8, color=colour, label=name)
        ax.set(xlabel="updates of elements", title=f"$L^2$ error, {title}")
    displacement.legend()
    figure.savefig(HERE / "cost.png", dpi=200)


def main() -> int:
    given = options(__doc__, ("draw",))
    full = given.full
    levels, reference_level = (range(5), 5) if full else (range(2), 2)
    settings: dict[str, object] = {} if full else {"integrator.courant": 0.3}
    newmark = {**settings, "integrator.method": "newmark"}
    report = Report("slab: quadrisection, 2004 section 4.6", HERE, given)
    reference = Solution.of(reference_level, "reference", {**newmark, "integrator.courant": 0.3})
    table: dict[str, list[tuple[float, float]]] = {"AVI": [], "Newmark": []}
    updates: dict[str, list[int]] = {"AVI": [], "Newmark": []}
    saving, coarsest = 1.0, None
    for level in levels:
        mesh = f"{88 * 4**level} triangles"
        for name, choice in (("AVI", settings), ("Newmark", newmark)):
            solution = Solution.of(level, name, choice)
            table[name].append(errors(solution, reference))
            updates[name].append(solution.updates)
            if name == "AVI":
                saving = solution.saving
                coarsest = coarsest or solution.run
            report.figure(f"{mesh}, {name}: updates", solution.updates)
            report.figure(f"{mesh}, {name}: error of the displacement", table[name][-1][0])
            report.figure(f"{mesh}, {name}: error of the deformation gradient", table[name][-1][1])
        counted = updates["Newmark"][-1] / updates["AVI"][-1]
        report.figure(f"{mesh}: updates of Newmark / of AVI", counted)
        report.figure(f"{mesh}: the same / eq. (62) of the steps - 1", counted / saving - 1, -2e-3, 2e-3)
    last = min(3, len(levels))  # the finest meshes
    for k, quantity in enumerate(("displacement", "deformation gradient")):
        rate = {name: float(-np.polyfit(np.arange(last), np.log2([row[k] for row in rows[-last:]]), 1)[0])
                for name, rows in table.items()}
        for name, value in rate.items():
            report.figure(f"rate of convergence, {quantity}, {name}", value, *((1.6, 2.3), (0.8, 1.5))[k], paper=f"{(1.9, 1.1)[k]}")
        report.figure(f"difference of the rates, {quantity}", abs(rate["AVI"] - rate["Newmark"]), 0, 0.1, scatter=0.1)
        worst = max(a[k] / n[k] for a, n in zip(table["AVI"], table["Newmark"]))
        report.figure(f"error of AVI / error of Newmark, {quantity}, worst mesh", float(worst), 0, 1.05)
    if given.draw and coarsest:
        picture(updates, table, coarsest)
    for method in ("avi", "newmark"):
        report.figure(f"order in time on the first mesh, {method}", time_slope(method, 0.05), 1.8, 2.2, "2, by theory")
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
