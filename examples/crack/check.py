#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cracks: J, L and M by rings of nodes, from the energy, from the handbook, on adapted meshes; and under a sudden load.

--full: finer meshes. --draw: crack.png.
"""

from __future__ import annotations

import math
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measure import Report, Run, VtuFile, blank_picture, options, run  # noqa: E402
from read import read_history  # noqa: E402

YOUNG, POISSON, DENSITY, STRESS, HALF, HALF_WIDTH = 1e9, 0.3, 1000.0, 1e6, 0.1, 0.5
RINGS = 8
FAST = math.sqrt(YOUNG * (1 - POISSON) / ((1 + POISSON) * (1 - 2 * POISSON) * DENSITY))  # of dilatational waves [m/s]
ARRIVES, ECHO = 1.0 / FAST, 2 * HALF / FAST  # [s]


def release(intensity: float | np.ndarray) -> float | np.ndarray:
    return intensity**2 * (1 - POISSON**2) / YOUNG


def edge() -> float:
    """Of a plate with a crack from its edge, a fifth of its width (Brown's polynomial, there)."""
    shape = 1.122 - 0.231 * 0.2 + 10.55 * 0.2**2 - 21.71 * 0.2**3 + 30.382 * 0.2**4
    return float(release(STRESS * math.sqrt(math.pi * HALF) * shape))


def penny() -> float:
    """Of a penny-shaped crack in a body without end (Sneddon 1946)."""
    return float(release(2 * STRESS * math.sqrt(HALF / math.pi)))


def handbook() -> float:
    """Of a long plate, after Tada (Tada, Paris, Irwin, The Stress Analysis of Cracks Handbook)."""
    ratio = HALF / HALF_WIDTH
    shape = math.sqrt(1 / math.cos(math.pi * ratio / 2)) * (1 - 0.025 * ratio**2 + 0.06 * ratio**4)
    return float(release(STRESS * math.sqrt(math.pi * HALF) * shape))


def freund(time: np.ndarray) -> np.ndarray:
    """Of a crack without end that two plane waves meet at once, from when they come (Freund, Dynamic Fracture Mechanics, 1990)."""
    return 2 * 2 * STRESS / (1 - POISSON) * np.sqrt(FAST * time * (1 - 2 * POISSON) / math.pi)


def case(name: str, **changes: float) -> Path:
    """The case with another half length of the crack, or other sizes of its mesh."""
    folder = Path(tempfile.mkdtemp(prefix="tempi-"))
    geometry = (HERE / "plate.geo").read_text(encoding="utf-8")
    wanted = {"tip": 0.002, "far": 0.04, "half": HALF, "angle": 0.0} | changes
    for key, value in wanted.items():
        geometry = f"{key} = {value};\n" + geometry
    (folder / "plate.geo").write_text(geometry, encoding="utf-8")
    text = (HERE / f"{name}.toml").read_text(encoding="utf-8").replace("inclined.geo", "plate.geo")
    for sign in ("", "-"):
        text = text.replace(f"point = [{sign}0.1, 0]", f"point = [{sign}{changes.get('half', HALF)}, 0]")
    (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return folder / f"{name}.toml"


def rings(result: Run, tip: str = "tip") -> np.ndarray:
    return np.array([result.history[f"{tip}.J_{k}"] for k in range(1, RINGS + 1)])


def crack_figures(report: Report) -> None:
    """Other cracks, and what a whole crack releases when it grows and turns."""
    J = rings(run(HERE / "edge.toml", "edge", {}))[1:, -1]
    report.figure("edge crack: K over the handbook's", math.sqrt(J.mean() / edge()), 0.98, 1.02, "1", scatter=2e-3)
    report.figure("edge crack: spread of J_2 to J_8", float(np.ptp(J) / J.mean()), 0, 0.005, "0", scatter=0.3)
    round_ = run(HERE / "penny.toml", "penny", {})
    J = 2 * np.array([round_.history[f"front.J_{k}"][-1] for k in (2, 3, 4)])
    report.figure("penny-shaped crack: J over Sneddon's", float(J.mean() / penny()), 0.98, 1.02, "1", scatter=5e-3)
    inclined = run(HERE / "inclined.toml", "inclined", {})
    grows, turns = (np.array([inclined.history[f"{name}_{k}"][-1] for k in range(2, 7)]) for name in ("growth.M", "turn.L"))
    endless = math.pi * (HALF / 2) ** 2 * STRESS**2 * release(1.0)  # in a plate without end, both of them, but for L's sign
    report.figure("at 45 degrees: M over theory's", float(grows.mean() / endless), 0.98, 1.02, "1", scatter=2e-3)
    report.figure("at 45 degrees: L over theory's", float(turns.mean() / -endless), 0.98, 1.02, "1", scatter=2e-3)
    report.figure("at 45 degrees: spread of L_2 to L_6", float(np.ptp(turns) / abs(turns.mean())), 0, 0.005, "0", scatter=0.3)
    tilted = [run(case("inclined", half=HALF / 2, angle=math.pi / 4 + by), f"tilted{by:+}", {}).history["total_energy"][-1] for by in (-0.02, 0.02)]
    report.figure("at 45 degrees: L over the energy's difference in the angle", float(turns.mean() / ((tilted[1] - tilted[0]) / 0.04)), 0.98,
                  1.02, "1", scatter=2e-3)


def ring_of_nodes(mesh: VtuFile, tip: tuple[float, float], most: int) -> np.ndarray:
    """How many rings of triangles each node is away from the tip; `most`: as many or more."""
    cells = mesh.array("Cells", "connectivity").reshape(-1, 3)
    points = mesh.array("Points", "Points")[:, :2]
    ring = np.full(len(points), most)
    ring[np.argmin(np.hypot(*(points - tip).T))] = 0
    for k in range(1, most):
        reached = cells[(ring[cells] < k).any(axis=1)]
        ring[reached] = np.minimum(ring[reached], k)
    return ring


def adaption_figures(report: Report) -> Run:
    """Nodes where no force is left: J is that of the tip's node alone, whatever the ring."""
    geometry = case("centre", tip=0.0034, far=0.068)
    given = run(geometry, "given", {"mesh.order": 1})
    adapted = run(geometry, "adapted", {"mesh.order": 1}, verb="adapt")
    steps = read_history(adapted.folder / "adaption.csv")
    mesh = VtuFile(adapted.folder / "given.vtu")
    before, after = rings(given)[:, -1], rings(adapted)[:, -1]
    ring = ring_of_nodes(mesh, (HALF, 0), RINGS)
    acting = mesh.array("PointData", "barrier_acts") > 0
    between = np.abs(np.diff(after)) / after[-1]  # what the nodes of ring k have: J_k+1 - J_k
    free = np.array([not acting[ring == k].any() for k in range(1, RINGS)])
    energy = steps["potential_energy"] + steps["barrier_energy"]
    report.figure("adapted: vertices", int(len(ring)), 2000)
    report.figure("adapted: energy's largest rise in a step / energy", float(max(np.diff(energy).max() / abs(energy[0]), 0)), 0, 1e-14)
    report.figure("adapted: largest force left, the barrier's included / at the start",
                  float(steps["largest_force_of_all"][-1] / steps["largest_force_of_all"][0]), 0, 1e-8, scatter=math.inf)
    report.figure("adapted: rings of seven where no barrier acts", int(free.sum()), 3, scatter=math.inf)
    report.figure("adapted: J across these rings, largest change / J", float(between[free].max()), 0, 1e-6, scatter=math.inf)
    report.figure("adapted: J across the others, largest change / J", float(between[~free].max(initial=0.0)), 0, 0.1 * np.ptp(before) / before[-1],
                  scatter=math.inf)
    report.figure("adapted: J_1, the tip node's own force, over the handbook's J", float(after[0] / handbook()), 0.98, 1.02, "1", scatter=5e-3)
    report.figure("as given: spread of J_1 to J_8", float(np.ptp(before) / before[-1]), 0, 0.2, scatter=0.02)
    report.figure("adapted: error of J_8 / error as given", float(abs(after[-1] - handbook()) / abs(before[-1] - handbook())), 0, 0.5, "<= 0.5",
                  scatter=0.1)
    return adapted


def main() -> int:
    given = options(__doc__, ("draw",))
    report = Report("crack: J of a centre crack", HERE, given)
    size = {"tip": 0.001, "far": 0.02} if given.full else {}
    still = run(case("centre", **size), "centre", {})
    J = rings(still)[:, -1]
    report.figure("at rest: J_2 to J_8, mean over the handbook's", float(J[1:].mean() / handbook()), 0.98, 1.02, "1", scatter=1e-3)
    report.figure("at rest: K over the handbook's", float(math.sqrt(J[1:].mean() / handbook())), 0.98, 1.02, "1", scatter=1e-3)
    report.figure("at rest: spread of J_2 to J_8", float(np.ptp(J[1:]) / J[1:].mean()), 0, 0.005, "0", scatter=0.1)
    report.figure("at rest: J_1, of the tip's node alone, over their mean", float(J[0] / J[1:].mean()), 0.95, 1.0, "1")
    report.figure("at rest: the other tip's mean over this one's", float(rings(still, "other")[1:, -1].mean() / J[1:].mean()), 0.98, 1.02,
                  "1", scatter=2e-3)
    linear = run(case("centre", **size), "linear", {"mesh.order": 1})
    first = rings(linear)[:, -1]
    report.figure("at rest, 3-node triangles: J_2 to J_8, mean over the handbook's", float(first[1:].mean() / handbook()), 0.95, 1.02, "1",
                  scatter=5e-3)
    slice_ = run(HERE / "slice.toml", "slice", {})
    front = np.array([slice_.history[f"{tip}.J_{k}"][-1] for tip in ("tip", "other") for k in (2, 3, 4)])
    report.figure("in space: J_2 to J_4 of both fronts, mean over the handbook's", float(front.mean() / handbook()), 0.98, 1.02, "1", scatter=1e-2)
    report.figure("in space: spread of J_2 to J_4 of both fronts", float(np.ptp(front) / front.mean()), 0, 0.02, "0", scatter=0.5)
    M = np.array([still.history[f"growth.M_{k}"][-1] for k in (2, 3, 4)])
    report.figure("at rest: M of the whole crack over 2 half J of the handbook", float(M.mean() / (2 * HALF * handbook())), 0.98, 1.02, "1",
                  scatter=2e-3)
    energy = [run(case("centre", **size, half=HALF + by), f"half{by:+}", {}).history["total_energy"][-1] for by in (-0.005, 0.005)]
    report.figure("at rest: J over the energy's difference in the length", float(J[1:].mean() / ((energy[1] - energy[0]) / 0.02)), 0.98, 1.02,
                  "1", scatter=5e-3)

    crack_figures(report)
    adapted = adaption_figures(report)
    struck = run(case("impact", **size), "impact", {})
    time = struck.history["time"] - ARRIVES
    window = (time > 0.2 * ECHO) & (time < ECHO)
    J = rings(struck)
    K = np.sqrt(J[4][window] / release(1.0))
    off = K / freund(time[window]) - 1
    report.figure("sudden load: K over Freund's, mean from 0.2 of the window on", float(1 + off.mean()), 0.95, 1.05, "1", scatter=5e-3)
    report.figure("sudden load: K off Freund's, most from 0.2 of the window on", float(np.abs(off).max()), 0, 0.05, "0", scatter=0.2)
    report.figure("sudden load: spread of J_2 to J_8, from 0.2 of the window on",
                  float((np.ptp(J[1:, window], axis=0) / J[1:, window].mean(axis=0)).max()), 0, 0.01, "0", scatter=0.3)
    report.figure("sudden load: updates of Newmark / updates of AVI", struck.summary["counted_speedup"], 3.0)
    report.figure("sudden load: energy unaccounted / reference", struck.summary["energy"]["band"], 0, 0.005, scatter=0.3)
    if given.draw:
        draw(struck, time)
        draw_adapted(adapted)
    return report.close()


def draw(struck: Run, time: np.ndarray) -> None:
    figure = blank_picture(2.8)
    left, right = figure.subplots(1, 2)
    shown = np.linspace(0, ECHO, 200)
    J = rings(struck)
    left.plot(1e3 * shown, 1e-3 * freund(shown), color="#000000", lw=1.0, label="Freund")
    left.plot(1e3 * time, 1e-3 * np.sqrt(np.maximum(J[4], 0) / release(1.0)), color="#0072B2", label="$J_5$")
    left.axvline(1e3 * ECHO, color="#999999", lw=0.7)
    left.set(xlim=(-0.1, 0.19), xlabel="time since the waves came (ms)", ylabel="K (kPa √m)")
    left.legend()
    for k in (0, 1, 3, 7):
        right.plot(1e3 * time, J[k], label=f"$J_{k + 1}$", lw=1.0)
    right.set(xlim=(-0.1, 0.19), xlabel="time since the waves came (ms)", ylabel="J (J/m²)")
    right.legend()
    figure.savefig(HERE / "crack.png", dpi=200)


def draw_adapted(adapted: Run) -> None:
    """The mesh about a tip, as given and adapted, with the configurational forces of the one."""
    figure = blank_picture(3.2)
    mesh = VtuFile(adapted.folder / "given.vtu")
    points, cells = mesh.array("Points", "Points")[:, :2], mesh.array("Cells", "connectivity").reshape(-1, 3)
    moved, force = mesh.array("PointData", "moved")[:, :2], mesh.array("PointData", "configurational_force")[:, :2]
    for ax, places, title in zip(figure.subplots(1, 2), (points, points + moved), ("as given, with the forces on its nodes", "adapted")):
        ax.triplot(*places.T, cells, lw=0.3, color="#444444")
        ax.set(xlim=(0.04, 0.16), ylim=(-0.06, 0.06), aspect="equal", xlabel="X (m)", title=title)
        if places is points:
            inside = np.hypot(*(points - (HALF, 0)).T) > 1e-9
            ax.quiver(*places[inside].T, *-force[inside].T, color="#D55E00", width=0.004)
    figure.savefig(HERE / "adapted.png", dpi=200)


if __name__ == "__main__":
    sys.exit(main())
