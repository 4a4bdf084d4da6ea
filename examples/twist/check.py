#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The ends of a strip of cloth turn against each other, three times in all, until it is a rope.

--full: the case's cells of 12 mm (else 20), and what friction does. --draw: the picture of the README."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.collections import PolyCollection

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from crossings import crossings_of  # noqa: E402
from measure import Report, Run, VtuFile, blank_picture, lit, options, run  # noqa: E402
from mesh import Mesh  # noqa: E402


def unaccounted(result: Run) -> float:
    """Energy, over the work of the ends."""
    h = result.history
    balance = h["total_energy"] - h["total_energy"][0] - h["external_work"] - h["damping_work"]
    return float(np.abs(balance).max() / h["external_work"][-1])


def draw(result: Run) -> None:
    figure = blank_picture(2.4)
    last = result.frames[-1][0]
    for ax, part in zip(figure.subplots(2, 2).flat, (0.25, 0.5, 0.75, 1)):
        t, path = min(result.frames, key=lambda frame: abs(frame[0] - part * last))
        vtu = VtuFile(path)
        corners = 1e3 * vtu.places[Mesh(vtu).faces[:, :3]]
        corners = corners[np.argsort(-corners[:, :, 1].mean(axis=1))]  # far ones first
        seen = np.stack((corners[:, :, 0] + 0.2 * corners[:, :, 1], corners[:, :, 2] + 0.35 * corners[:, :, 1]), axis=2)
        ax.add_collection(PolyCollection(list(seen), facecolors=lit(corners), edgecolor="none"))
        ax.set(xlim=(-215, 215), ylim=(-65, 65), aspect="equal", title=f"{1e3 * t:.0f} ms")
        ax.axis("off")
    figure.savefig(HERE / "twist.png", dpi=200)


def main() -> int:
    given = options(__doc__, ("draw",))
    report = Report("a cloth is twisted", HERE, given)
    coarse: dict[str, object] = {"mesh.size": 0.02, "contact.0.distance": 5e-3}
    distance = 3e-3 if given.full else 5e-3
    result = run(HERE / "twist.toml", f"twist-{given.full}", {} if given.full else coarse)
    measures = result.summary["measures"]
    report.figure("triangles", len(Mesh(VtuFile(result.frames[0][1])).faces))
    report.figure("edges that pass through faces, in all frames", crossings_of(result), 0, 0)
    report.figure("smallest distance, over that at which layers begin", measures["smallest_distance"] / distance, 0.1, 1, scatter=0.5)
    report.figure("strikes of layers", measures["contact_strikes"], scatter=0.5)
    report.figure("pairs at a vertex, at most", measures["pairs_at_a_vertex"], scatter=0.5)
    report.figure("energy unaccounted for, of the work of the ends", unaccounted(result), 0, 2e-3, scatter=2)
    report.figure("error of the linear momentum", result.summary["linear_momentum"]["error"], 0, 1e-12, scatter=9)
    report.figure("error of the angular momentum", result.summary["angular_momentum"]["error"], 0, 1e-12, scatter=9)
    if given.full:
        rubbing = run(HERE / "twist.toml", "rubbing", {"contact.0.friction": 0.2})
        report.figure("with friction of 0.2: edges that pass through faces", crossings_of(rubbing), 0, 0)
        report.figure("with friction of 0.2: energy unaccounted for", unaccounted(rubbing), 0, 2e-3, scatter=2)
    if given.draw:
        draw(result)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
