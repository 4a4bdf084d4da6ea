#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws how steps resonate: a plane mesh by its steps, and the fastest growing motion among them.

usage: stability_picture.py MODE.json PICTURE.png       MODE.json: of tempi_stability_sweep --mode, 3-node triangles
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import BoundaryNorm


def main() -> None:
    mode = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    x = np.array(mode["points"]).reshape(-1, 2)
    v = np.array(mode["velocity"]).reshape(-1, 2)
    cells, levels = np.array(mode["cells"]), np.log2(np.array(mode["ticks"]))
    slow, fast = np.zeros(len(x)), np.full(len(x), 99.0)
    for a in range(3):
        np.maximum.at(slow, cells[:, a], levels)
        np.minimum.at(fast, cells[:, a], levels)
    size = np.linalg.norm(v, axis=1)
    centre = x[size.argmax()]
    near = size > 0.02 * size.max()
    reach = 1.6 * max(np.abs(x[near] - centre).max(), 1e-9)
    edges = np.arange(levels.min() - 0.5, levels.max() + 1.0)
    colours = plt.get_cmap("viridis_r", len(edges) - 1)
    figure, (whole, zoom) = plt.subplots(1, 2, figsize=(11.5, 5.0), constrained_layout=True)
    for axes in (whole, zoom):
        drawn = axes.tripcolor(x[:, 0], x[:, 1], cells, facecolors=levels, cmap=colours,
                               norm=BoundaryNorm(edges, colours.N), edgecolors="white", linewidth=0.4)
        axes.set_aspect("equal")
        axes.set_xlabel("X")
        axes.set_ylabel("Y")
    bar = figure.colorbar(drawn, ax=[whole, zoom], ticks=np.arange(levels.min(), levels.max() + 1), shrink=0.85)
    bar.set_label("step: two to the power of ... ticks")
    whole.set_title("the body, by the steps of its elements")
    whole.plot(*np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]]).T * reach + centre[:, None], "r-", linewidth=1.2)
    zoom.set_xlim(centre[0] - reach, centre[0] + reach)
    zoom.set_ylim(centre[1] - reach, centre[1] + reach)
    shown = size > 1e-3 * size.max()
    zoom.quiver(x[shown, 0], x[shown, 1], v[shown, 0], v[shown, 1], color="crimson", angles="xy", width=0.006,
                scale=3.0 * size.max() / reach * 0.8, scale_units="xy")
    top = size.argmax()
    zoom.set_title("its fastest growing motion: a node kicked every "
                   f"{2 ** fast[top]:.0f} and every {2 ** slow[top]:.0f} ticks", fontsize=10)
    figure.savefig(sys.argv[2], dpi=110)


if __name__ == "__main__":
    main()
