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


def spread(values: np.ndarray) -> np.ndarray:
    """Stretched so that small elements show: the part of the points that lie below, smoothed over ties."""
    order = np.sort(values)
    return 0.5 * (np.searchsorted(order, values, "left") + np.searchsorted(order, values, "right")) / len(values)


def main() -> None:
    mode = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    x = np.array(mode["points"]).reshape(-1, 2)
    x = np.stack([spread(x[:, 0]), spread(x[:, 1])], axis=1)
    v = np.array(mode["velocity"]).reshape(-1, 2)
    cells, levels = np.array(mode["cells"]), np.log2(np.array(mode["ticks"]))
    slow, fast = np.zeros(len(x)), np.full(len(x), 99.0)
    for a in range(3):
        np.maximum.at(slow, cells[:, a], levels)
        np.minimum.at(fast, cells[:, a], levels)
    size = np.linalg.norm(v, axis=1)
    centre = x[size.argmax()]
    moving = size > 0.1 * size.max()
    reach = np.clip(1.5 * np.abs(x[moving] - centre).max(), 0.15, 0.3)
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
    low = np.maximum(centre - reach, x.min(axis=0) - 0.45 * reach)
    high = np.minimum(low + 2.0 * reach, x.max(axis=0) + 0.45 * reach)
    frame = np.maximum(low, x.min(axis=0) - 0.02)
    whole.add_patch(plt.Rectangle(frame, *(np.minimum(high, x.max(axis=0) + 0.02) - frame), fill=False, edgecolor="crimson", linewidth=1.2))
    zoom.set_xlim(low[0], high[0])
    zoom.set_ylim(low[1], high[1])
    shown = size > 0.01 * size.max()
    zoom.quiver(x[shown, 0], x[shown, 1], v[shown, 0], v[shown, 1], color="crimson", angles="xy", width=0.007,
                scale=2.5 * size.max() / reach, scale_units="xy")
    zoom.set_title("its fastest growing motion: nodes kicked every "
                   f"{2 ** fast[moving].min():.0f} to {2 ** slow[moving].max():.0f} ticks", fontsize=10)
    for axes in (whole, zoom):
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set_xlabel("X (stretched: equal parts of the nodes)")
        axes.set_ylabel("Y (stretched)")
    figure.savefig(sys.argv[2], dpi=110)


if __name__ == "__main__":
    main()
