# SPDX-License-Identifier: Apache-2.0
"""What a restitution campaign (`tempi restitution`) has found: the coefficient over the speed, and what is lost."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from panels import new_figure
from read import read_history
from style import COLOURS, WIDTH

TABLE = "restitution.csv"


def restitution(folder: Path) -> Figure:
    found = read_history(folder / TABLE)
    speed, e = found["speed"], found["restitution"]
    loses = (e > 0) & (e < 1 - 1e-9)
    figure = new_figure(WIDTH, 2.4)
    kept, *beside = figure.subplots(1, 2 if loses.any() else 1, squeeze=False)[0]
    kept.semilogx(speed, e, "o-", color=COLOURS["blue"], ms=3, lw=0.8)
    kept.set(xlabel="speed of approach (m/s)", ylabel="coefficient of restitution e")
    kept.ticklabel_format(axis="y", useOffset=False)
    if not beside:
        return figure
    (lost,) = beside
    lost.loglog(speed[loses], 1 - e[loses], "o", color=COLOURS["blue"], ms=3, label="1 - e")
    if loses.sum() >= 2:
        power, height = np.polyfit(np.log(speed[loses]), np.log(1 - e[loses]), 1)
        lost.loglog(speed, np.exp(height) * speed**power, color=COLOURS["black"], lw=0.8, label=f"{np.exp(height):.3g} v^{power:.3g}")
    if (found["vibrating"] > 0).any():
        lost.loglog(speed, found["vibrating"], "s", color=COLOURS["vermilion"], ms=3, label="energy in vibrations, of that of approach")
    lost.set(xlabel="speed of approach (m/s)")
    lost.legend(frameon=False, fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure
