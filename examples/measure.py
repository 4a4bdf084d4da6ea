# SPDX-License-Identifier: Apache-2.0
"""What the checks of the examples share: run a case, read its results, hold figures against limits."""

from __future__ import annotations

import argparse
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


KEPT: Path | None = None  # where results stay, and are taken from


def command() -> str:
    return os.environ.get("TEMPI_COMMAND", str(ROOT / "build" / "release" / "tempi"))


def run(case: Path, name: str, settings: dict[str, object], folder: Path | None = None, threads: int = 0, verb: str = "run") -> Run:
    """Runs `case` (or adapts its mesh and runs it) with some values changed and returns its results; the folder is temporary
    unless given."""
    place = (folder or KEPT or Path(tempfile.mkdtemp(prefix="tempi-"))) / name
    if KEPT and (place / "summary.json").exists() and read_run(place).summary["status"] == "completed":
        return read_run(place)
    words = [command(), verb, str(case), "--out", str(place), "--overwrite", "--quiet"]
    if threads > 0:
        words += ["--threads", str(threads)]
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


def lit(corners: np.ndarray) -> np.ndarray:
    """Colours of triangles (n, 3, 3) that a light from above shines on: (n, 3)."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    shade = 0.35 + 0.65 * np.abs(normal @ np.array([0.4, -0.3, 0.87])) / np.linalg.norm(normal, axis=1)
    return shade[:, None] * np.array([0.34, 0.71, 0.91])


def draw_residual(result: Run, end: float, path: Path) -> None:
    """The residual of the probe called "one" over the largest energy of its element, until `end`."""
    figure = blank_picture(2.6)
    history = result.history
    scale, shown = history["one.energy"].max(), history["time"] <= end
    factor, unit = (1e3, "ms") if end < 0.1 else (1.0, "s")
    for ax, name, title in zip(figure.subplots(1, 2), ("residual", "accumulated_residual"), ("of an update", "accumulated")):
        ax.plot(factor * history["time"][shown], 100 * history[f"one.{name}"][shown] / scale, lw=0.5, color="#0072B2")
        ax.set(xlabel=f"time ({unit})", ylabel="% of the element's largest energy", title=title)
    figure.savefig(path, dpi=200)


def options(description: str | None, extra: tuple[str, ...] = ()) -> argparse.Namespace:
    """What every check takes: --full and --page, and switches of its own."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="the paper's sizes")
    parser.add_argument("--page", action="store_true", help="write the figures into the README instead of comparing them")
    parser.add_argument("--keep", type=Path, help="keep results in this folder, and take those of finished runs from there")
    for name in extra:
        parser.add_argument(f"--{name}", action="store_true")
    given = parser.parse_args()
    global KEPT
    KEPT = given.keep
    return given


BEGIN, END = "<!-- figures: written by check.py --page -->", "<!-- end of figures -->"
Row = dict[str, str]  # "paper", "short form", "full size", "limit"


def rows_told(readme: Path) -> dict[str, Row]:
    """The figures that stand between the README's markers, by name."""
    told = readme.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0].strip().splitlines()
    table = [[cell.strip() for cell in line.removeprefix("|").removesuffix("|").split("|")] for line in told]
    heading = ["short form" if cell == "here" else cell for cell in table[0]]
    return {row[0]: dict(zip(heading[1:], row[1:])) for row in table[2:]}


class Report:
    """Figures with the limits they must keep, and beside those that the README tells. Prints a table and remembers
    whether all did. A figure is stale that is off the told one by more than its scatter, or is not told."""

    NOTHING = 1e-9  # figures below this are rounding errors: their limit is all that is said about them

    def __init__(self, title: str, folder: Path, given: argparse.Namespace) -> None:
        print(title)
        self.failures = 0
        self.readme, self.page = folder / "README.md", given.page
        self.form, self.other = ("full size", "short form") if given.full else ("short form", "full size")
        self.told = rows_told(self.readme)
        self.found: dict[str, Row] = {}

    def figure(self, name: str, value: float, low: float = -math.inf, high: float = math.inf, paper: str = "",
               scatter: float = 0.02) -> None:
        """`scatter`: relative, of the figure from one machine to another; infinite for what depends on its speed."""
        kept = low <= value <= high
        if math.isfinite(low):
            limit = f"{low:.4g} to {high:.4g}" if math.isfinite(high) else f">= {low:.4g}"
        else:
            limit = f"<= {high:.4g}" if math.isfinite(high) else "-"
        stale = "" if self.page else self.staleness(name, value, scatter)
        self.failures += (not kept) + bool(stale)
        print(f"  {name:<70} {value:>13.6g}  {limit:<22} {'' if kept else 'FAILED '}{stale}{paper and 'paper: ' + paper}")
        self.found[name] = {"paper": paper or "-", self.form: str(value) if isinstance(value, int) else f"{value:.4g}",
                            self.other: self.told.get(name, {}).get(self.other, "-"), "limit": limit}

    def staleness(self, name: str, value: float, scatter: float) -> str:
        told = self.told.get(name, {}).get(self.form, "-")
        if told == "-":
            return "NOT IN THE README "
        if max(abs(value), abs(float(told))) < self.NOTHING or abs(value - float(told)) <= scatter * abs(float(told)):
            return ""
        return f"STALE, the README says {told} "

    def write_page(self) -> None:
        """This form's column. Rows of the other form alone stay, behind those of this one."""
        rows = dict(self.found)
        for name, row in self.told.items():
            if name not in rows and row.get(self.other, "-") != "-":
                rows[name] = row | {self.form: "-"}
        forms = ["short form", "full size"] if any(row["full size"] != "-" for row in rows.values()) else ["short form"]
        keys = ["paper", *forms, "limit"]
        lines = [["figure", *(keys if len(forms) > 1 else ["paper", "here", "limit"])], ["---"] * (len(keys) + 1)]
        lines += [[name, *(row[key] for key in keys)] for name, row in rows.items()]
        table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        head, rest = self.readme.read_text(encoding="utf-8").split(BEGIN)
        self.readme.write_text(f"{head}{BEGIN}\n\n{table}\n\n{END}{rest.split(END)[1]}", encoding="utf-8")

    def close(self) -> int:
        if self.page:
            self.write_page()
        print(f"  {'all figures within their limits' if self.failures == 0 else f'{self.failures} FAILED'}")
        return 0 if self.failures == 0 else 1
