#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Times energy-stepping and force-stepping by whole runs on one thread: events a second, and what an event takes.

usage: stepping.py TEMPI [--turns N] [--page docs/benchmarks.md]

Frozen argon (7 atoms) and the spinning cube (12,288 tetrahedra) by energy-stepping, the cube of examples/impact (213
coordinates) by force-stepping: medians of turns. --page replaces what stands between the page's markers by the table.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
sys.path += [str(EXAMPLES), str(EXAMPLES / "spinning-cube")]
from cube_mesh import write_cube  # noqa: E402
from real_cases import machine  # noqa: E402

BEGIN, END = "<!-- stepping: begin -->", "<!-- stepping: end -->"


def timed(tempi, case, end, folder):
    """Events and seconds of the run without its outputs."""
    settings = [f"run.end_time={end}", "output.history=1", "output.frames=0"]
    subprocess.run([tempi, "run", case, "--out", folder / "out", "--overwrite", "--quiet", "--threads", "1",
                    *(word for s in settings for word in ("--set", s))], check=True, stderr=subprocess.DEVNULL)
    summary = json.loads((folder / "out" / "summary.json").read_text())
    return summary["measures"], summary["wall_time"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tempi")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--page")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name, mesh, cells in (("spinning-cube/cube", "spin", 8), ("impact/impact", "impact", 2)):
            (folder / mesh).mkdir()
            (folder / mesh / "case.toml").write_text((EXAMPLES / f"{name}.toml").read_text())
            write_cube(folder / mesh / "cube.msh", cells)
        cases = {"argon": (EXAMPLES / "argon/stepping.toml", "100e-9"), "cube": (folder / "spin/case.toml", "4"),
                 "impact": (folder / "impact/case.toml", "4e-6")}
        found = {name: [] for name in cases}
        for _ in range(options.turns):
            for name, (case, end) in cases.items():
                found[name].append(timed(options.tempi, case, end, folder))
    rows = []
    for name, what, least in (("argon", "energy-stepping, 7 atoms [M events/s]", 1.0),
                              ("impact", "force-stepping, 213 coordinates [M steps/s]", 0.2)):
        speeds = [m["events"] / wall / 1e6 for m, wall in found[name]]
        rows.append((what, statistics.median(speeds), min(speeds), max(speeds), f">= {least}"))
    looks = [wall / m["events"] / m["looks_per_event"] / 12288 * 1e9 for m, wall in found["cube"]]
    rows.append(("energy-stepping, 12,288 tetrahedra: a look [ns a tetrahedron], events included", statistics.median(looks), min(looks),
                 max(looks), ""))
    for name, what in (("argon", "7 atoms"), ("cube", "12,288 tetrahedra")):
        looks = found[name][0][0]["looks_per_event"]
        rows.append((f"looks an event, {what}", looks, looks, looks, ""))
    table = [f"{machine()}; medians of {options.turns} turns, least and most in brackets", "", "| what | measured | at least |", "|---|---|---|"]
    table += [f"| {what} | {value:.3g} ({least:.3g} to {most:.3g}) | {limit} |" for what, value, least, most, limit in rows]
    print("\n".join(table))
    if options.page:
        page = Path(options.page)
        text = page.read_text(encoding="utf-8")
        page.write_text(text[: text.index(BEGIN) + len(BEGIN)] + "\n" + "\n".join(table) + "\n" + text[text.index(END):], encoding="utf-8")


if __name__ == "__main__":
    main()
