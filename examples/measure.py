# SPDX-License-Identifier: Apache-2.0
"""What the checks of the examples share: run a case, read its results, hold figures against limits."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "app" / "plot"))
import matplotlib  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from panels import new_figure  # noqa: E402  (our own reader and style)
from read import Run, read_run  # noqa: E402
from style import STYLE, WIDTH  # noqa: E402
from vtu import VtuFile  # noqa: E402


def command() -> str:
    return os.environ.get("TEMPI_COMMAND", str(ROOT / "build" / "release" / "tempi"))


def run(case: Path, name: str, settings: dict[str, object], folder: Path | None = None) -> Run:
    """Runs `case` with some values changed and returns its results; the folder is temporary unless given."""
    place = (folder or Path(tempfile.mkdtemp(prefix="tempi-"))) / name
    words = [command(), "run", str(case), "--out", str(place), "--overwrite", "--quiet"]
    for key, value in settings.items():
        words += ["--set", f"{key}={value}"]
    subprocess.run(words, check=True)
    return read_run(place)


def frame(result: Run, number: int = -1) -> VtuFile:
    return VtuFile(result.frames[number][1])


def expected_updates(step: np.ndarray, end_time: float) -> np.ndarray:
    """Number of j >= 1 with j * step < end_time in floating point, for every element."""
    j = np.floor(end_time / step)
    while (too_many := j * step >= end_time).any():
        j[too_many] -= 1
    while (too_few := (j + 1) * step < end_time).any():
        j[too_few] += 1
    return j.astype(np.int64)


def updates_off_prediction(result: Run) -> int:
    """How many elements were updated another number of times than end_time and their step say."""
    last = frame(result)
    predicted = expected_updates(last.array("CellData", "step"), result.summary["end_time"])
    return int(np.count_nonzero(last.array("CellData", "updates") != predicted))


def mean_period(time: np.ndarray, signal: np.ndarray) -> float:
    """Mean time between upward passages of the signal through its mean, by linear interpolation."""
    s = signal - signal.mean()
    up = np.nonzero((s[:-1] < 0) & (s[1:] >= 0))[0]
    passages = time[up] - s[up] * (time[up + 1] - time[up]) / (s[up + 1] - s[up])
    # Ripple near the mean passes it more than once: keep passages at least half a mean distance apart.
    kept = [passages[0]]
    distance = 0.5 * (time[-1] - time[0]) / max(1, count_of_periods(time, s))
    for passage in passages[1:]:
        if passage - kept[-1] > distance:
            kept.append(passage)
    return float((kept[-1] - kept[0]) / (len(kept) - 1))


def count_of_periods(time: np.ndarray, signal: np.ndarray) -> int:
    """The number of whole oscillations of the strongest frequency."""
    spectrum = np.abs(np.fft.rfft(signal * np.hanning(len(signal))))
    return int(np.argmax(spectrum[1:]) + 1)


def blank_picture(height: float) -> Figure:
    """Two columns of a journal wide, in the style of `tempi plot`; height in inches."""
    matplotlib.rcParams.update(STYLE)
    return new_figure(WIDTH, height)


class Report:
    """Figures with the limits they must keep; prints a table and remembers whether all did."""

    def __init__(self, title: str) -> None:
        print(title)
        self.failures = 0

    def figure(self, name: str, value: float, low: float = -math.inf, high: float = math.inf, paper: str = "") -> None:
        kept = low <= value <= high
        self.failures += not kept
        limits = f"[{low:.4g}, {high:.4g}]" if math.isfinite(low) else f"<= {high:.4g}" if math.isfinite(high) else ""
        print(f"  {name:<58} {value:>13.6g}  {limits:<22} {'' if kept else 'FAILED '}{paper}")

    def close(self) -> int:
        print(f"  {'all figures within their limits' if self.failures == 0 else f'{self.failures} FAILED'}")
        return 0 if self.failures == 0 else 1
