#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the tables of docs/accuracy.md from the output of tempi_accuracy_sweep.

usage: accuracy_table.py SWEEP.jsonl...        replaces those of the page's tables of which it has lines
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "accuracy.md"
BEGIN, END = "<!-- tables: begin -->", "<!-- tables: end -->"
ELEMENTS = ["2-node line", "3-node triangle", "6-node triangle", "4-node tetrahedron", "10-node tetrahedron"]
NOISE = 1e-8  # of a measured frequency

Row = dict


def spread(values: list[float], form: str = "{:.2g}") -> str:
    """Least, median, largest."""
    return ", ".join(form.format(v) for v in (min(values), statistics.median(values), max(values)))


def by_element_and_safety(rows: list[Row]) -> list[tuple[str, float, list[Row]]]:
    found = []
    for element in ELEMENTS:
        of = [r for r in rows if r["element"] == element]
        for safety in sorted({r["safety"] for r in of}):
            found.append((element, safety, [r for r in of if r["safety"] == safety]))
    return found


def predictions(rows: list[Row]) -> list[str]:
    lines = ["\n### Predicted over measured, plain coupling: least, median, largest\n",
             "| element | s | bodies | measured, median | predicted over measured | off by more than 30 % | worst uniform "
             "strain over measured | below it |", "|---|---|---|---|---|---|---|---|"]
    for element, safety, of in by_element_and_safety(rows):
        ratios = [r["predicted"] / r["plain"]["error"] for r in of]
        uniform = [r["uniform_worst"] / r["plain"]["error"] for r in of]
        lines.append(f"| {element} | {safety:g} | {len(of)} | {statistics.median(r['plain']['error'] for r in of):.1e} | "
                     f"{spread(ratios, '{:.2f}')} | {sum(abs(x - 1.0) > 0.3 for x in ratios)} | {spread(uniform)} | "
                     f"{sum(x < 1.0 for x in uniform)} |")
    return lines


def couplings(rows: list[Row]) -> list[str]:
    lines = ["\n### Mollified over plain: least, median, largest\n",
             "| element | s | bodies | error | the same beyond that of accelerations | energy band |",
             "|---|---|---|---|---|---|"]
    for element, safety, of in by_element_and_safety([r for r in rows if "mollified" in r]):
        error = [abs(r["mollified"]["error"]) / abs(r["plain"]["error"]) for r in of]
        beyond = [max(abs(r["mollified"]["error"] - r["of_acceleration"]), NOISE) /
                  max(abs(r["plain"]["error"] - r["of_acceleration"]), NOISE) for r in of]
        band = [r["mollified"]["band"] / r["plain"]["band"] for r in of]
        lines.append(f"| {element} | {safety:g} | {len(of)} | {spread(error)} | {spread(beyond)} | {spread(band)} |")
    return lines


def refinement(rows: list[Row]) -> list[str]:
    lines = ["\n### Under refinement: jittered blocks graded 8 times, s = 0.5, nodes 0.9\n",
             "| element | cells | Newmark | plain | mollified | plain over mollified |", "|---|---|---|---|---|---|"]
    for r in sorted(rows, key=lambda r: (ELEMENTS.index(r["element"]), r["cells"])):
        plain, mollified = r["plain"]["error"], r["mollified"]["error"]
        lines.append(f"| {r['element']} | {r['cells']} | {r['newmark']['error']:.1e} | {plain:.2e} | {mollified:.1e} | "
                     f"{abs(plain / mollified):.0f} |")
    return lines


def costs(rows: list[Row]) -> list[str]:
    lines = ["\n### What it costs: wall time of mollified over plain, one core, s = 0.9\n",
             "| body | law | element | cells | updates at borders | mollified over plain, runs in turns | Newmark over mollified |",
             "|---|---|---|---|---|---|---|"]
    for key in dict.fromkeys((r["body"], r["law"], r["element"], r["cells"]) for r in rows):
        of = [r for r in rows if (r["body"], r["law"], r["element"], r["cells"]) == key]
        ratio = [r["mollified"]["wall"] / r["plain"]["wall"] for r in of]
        newmark = [r["newmark"]["wall"] / r["mollified"]["wall"] for r in of]
        lines.append(f"| {' | '.join(str(k) for k in key)} | {of[0]['border']:.2f} | {spread(ratio, '{:.2f}')} ({len(of)}) | "
                     f"{statistics.median(newmark):.2f} |")
    return lines


def races(rows: list[Row]) -> list[str]:
    lines = ["\n### Equal accuracy: wall time of a few periods to an error of the frequency (safety that allows it)\n",
             "| body | cells | error below | Newmark, assembled limit | plain | mollified |", "|---|---|---|---|---|---|"]
    return lines + fastest(rows, lambda r: f"{r['wall']:.3g} s ({r['safety']:g})")


def races_of_large(rows: list[Row]) -> list[str]:
    lines = ["\n### The same of larger bodies: wall time of one period (safety; error as predicted, in brackets as measured)\n",
             "| body | cells | error below | Newmark, assembled limit | plain | mollified | Newmark over the faster |",
             "|---|---|---|---|---|---|---|"]
    return lines + fastest(rows, lambda r: f"{r['wall']:.3g} s ({r['safety']:g}; {r['predicted']:.1e}"
                           + (f" [{r['measured']:.1e}]" if "measured" in r else "") + ")", True)


def fastest(rows: list[Row], tell: Callable[[Row], str], compare: bool = False) -> list[str]:
    """A line for every body and tolerance."""
    lines = []
    for key in dict.fromkeys((r["race"], r["element"], r["cells"], r["tolerance"]) for r in rows):
        cells = [key[0], f"{key[2]}" + (" of 10 nodes" if key[1] == "10-node tetrahedron" else ""), f"{key[3]:g}"]
        here = {r["method"]: r for r in rows if (r["race"], r["element"], r["cells"], r["tolerance"]) == key}
        cells += [tell(here[m]) if m in here else "not reached at 0.05" for m in ("newmark", "plain", "mollified")]
        others = [r["wall"] for m, r in here.items() if m != "newmark"]
        if compare:
            cells.append(f"{here['newmark']['wall'] / min(others):.2f}" if "newmark" in here and others else "")
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    rows = [json.loads(line) for name in sys.argv[1:] for line in Path(name).read_text().splitlines()]
    drawn = [r for r in rows if "kind" in r and r["plain"]["error"] > 1e-7]
    timed = [r for r in rows if r.get("timed")]
    refined = [r for r in rows if "mollified" in r and "kind" not in r and not r.get("timed")]
    raced = [r for r in rows if "race" in r and "period" not in r]
    large = [r for r in rows if "race" in r and "period" in r]
    made = [make(of) for make, of in ((predictions, drawn), (couplings, drawn), (refinement, refined), (costs, timed),
                                      (races, raced), (races_of_large, large)) if of]
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    tables, after = rest.split(END)
    for lines in made:
        heading, *table = "\n".join(lines).strip().split("\n")
        head, found, tail = tables.partition(heading + "\n")
        tail = tail[tail.index("\n### ") :] if "\n### " in tail else "\n"
        tables = (head if found else tables.rstrip() + "\n\n") + "\n".join([heading, *table]) + "\n" + tail
    PAGE.write_text(before + BEGIN + "\n\n" + tables.strip() + "\n\n" + END + after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
