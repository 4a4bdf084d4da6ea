# SPDX-License-Identifier: Apache-2.0
"""How pictures look: sizes, colours, units."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
from matplotlib.colors import ListedColormap

Array = Any  # a NumPy array

RESOLUTION = 300  # dots per inch
WIDTH = 7.2  # inches, two columns of a journal
SLENDER = 2.4  # width / height of a drawing from which it takes the full width

# Okabe and Ito's colours: distinct also to the colour-blind. The paler ones are left out.
COLOURS = {"blue": "#0072B2", "vermilion": "#D55E00", "green": "#009E73", "purple": "#CC79A7", "black": "#000000"}
COMPONENT_COLOURS = {"x": COLOURS["blue"], "y": COLOURS["vermilion"], "z": COLOURS["green"]}

STYLE = {
    "font.family": "STIXGeneral",
    "mathtext.fontset": "stix",
    "font.size": 10,
    "axes.titlesize": 10,
    "axes.labelsize": 10,
    "legend.fontsize": 9,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.direction": "in",
    "ytick.direction": "in",
    "xtick.top": True,
    "ytick.right": True,
    "lines.linewidth": 1.1,
    "legend.frameon": False,
    "axes.formatter.use_mathtext": True,
    "axes.formatter.limits": (-3, 4),
    "agg.path.chunksize": 10000,
}

def colour_map(name: str, start: float) -> ListedColormap:
    """The part of a perceptually uniform map that is light enough for black element edges to show."""
    return ListedColormap(matplotlib.colormaps[name](np.linspace(start, 1, 256)), name=name)


UPDATES_MAP = colour_map("viridis", 0.12)
STRESS_MAP = colour_map("plasma", 0.08)
SIGNED_MAP = colour_map("RdBu_r", 0.0)


# SI units in 1-D (per cross section), 2-D (per thickness) and 3-D.
UNITS = {
    "energy": ("J/m²", "J/m", "J"),
    "linear_momentum": ("kg/(m s)", "kg/s", "kg m/s"),
    "angular_momentum": ("kg/s", "kg m/s", "kg m²/s"),
    "reaction": ("N/m²", "N/m", "N"),
    "displacement": ("m", "m", "m"),
    "position": ("m", "m", "m"),
    "velocity": ("m/s", "m/s", "m/s"),
    "acceleration": ("m/s²", "m/s²", "m/s²"),
}
