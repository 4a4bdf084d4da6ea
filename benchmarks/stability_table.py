#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the tables of docs/stability.md from the output of tempi_stability_sweep.

usage: stability_table.py SWEEP.jsonl...        replaces what stands between the page's markers
"""

from __future__ import annotations

import json
import math
import sys
from collections import defaultdict
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "stability.md"
BEGIN, END = "<!-- tables: begin -->", "<!-- tables: end -->"
NAMES = {"bar": "2-node bars", "tri3": "3-node triangles", "tri6": "6-node triangles",
         "tet4": "4-node tetrahedra", "tet10": "10-node tetrahedra"}
KINDS = ["graded along one axis", "along two axes", "along three axes", "slivers", "two materials", "notched plate",
         "bracket or gear"]
LIMITS = {"default": "the default", "nodal": "nodes 0.9", "one-ring": "one ring", "none": "-"}

Row = dict


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def counted(rows: list[Row]) -> str:
    """Bodies that grew of those tried, and the largest growth."""
    if not rows:
        return ""
    grown = [max(r["growth"], r.get("run_growth", 0.0)) for r in rows if r["unstable"]]
    return f"**{len(grown)}**/{len(rows)} ({max(grown):.0e})" if grown else f"0/{len(rows)}"


def defaults(rows: list[Row]) -> list[str]:
    lines = ["\n### The default\n",
             "| element | bodies | grew | taken at the first attempt | saving, of that without a limit | bodies run "
             "themselves | failed | largest band, Newmark's |", "|---|---|---|---|---|---|---|---|"]
    for element, name in NAMES.items():
        of = [r for r in rows if r["element"] == element]
        if not of:
            continue
        run = [r for r in of if "band" in r]
        lines.append(
            f"| {name} | {len(of)} | {sum(r['unstable'] for r in of)} | {sum(r['attempts'] == 1 for r in of)} | "
            f"{geometric_mean([r['saving'] for r in of]):.2f} of "
            f"{geometric_mean([r['saving_without_limit'] for r in of]):.2f} | {len(run)} | "
            f"{sum('failed' in r for r in run)} | {max((r['band'] for r in run), default=0):.1e}, "
            f"{max((r['newmark_band'] for r in run), default=0):.1e} |")
    return lines


def limits(rows: list[Row]) -> list[str]:
    lines: list[str] = []
    for shares in ("balanced", "own"):
        for element, name in NAMES.items():
            of = [r for r in rows if (r["element"], r["shares"]) == (element, shares)]
            kinds = [k for k in KINDS if any(r["kind"] == k for r in of)]
            if not kinds:
                continue
            lines += [f"\n### {name}, {shares} shares\n",
                      "| steps | neighbours | s | saving | " + " | ".join(kinds) + " |",
                      "|---|---|---|---|" + "---|" * len(kinds)]
            for rule, limit, safety in sorted({(r["rule"], r["limit"], r["safety"]) for r in of}):
                here = [r for r in of if (r["rule"], r["limit"], r["safety"]) == (rule, limit, safety)]
                cells = [counted([r for r in here if r["kind"] == k]) for k in kinds]
                near = LIMITS.get(limit, f"{limit} x")
                lines.append(f"| {rule} | {near} | {safety:g} | {geometric_mean([r['saving'] for r in here]):.2f} | "
                             + " | ".join(cells) + " |")
    return lines


def agreement(rows: list[Row]) -> list[str]:
    """How the trial of neighbourhoods agrees with the whole spectrum, where no limit held steps back."""
    count: dict[tuple[str, bool, bool], int] = defaultdict(int)
    for r in rows:
        if r["limit"] == "none":
            count[r["element"], r["unstable"], r["trial_grows"]] += 1
    lines = ["\n### The trial beside the spectrum, no limit\n",
             "| element | both grow | the spectrum only | the trial only | neither |", "|---|---|---|---|---|"]
    for element, name in NAMES.items():
        cells = [count[element, True, True], count[element, True, False], count[element, False, True],
                 count[element, False, False]]
        if sum(cells):
            lines.append(f"| {name} | " + " | ".join(map(str, cells)) + " |")
    return lines


def main() -> None:
    rows = [json.loads(line) for name in sys.argv[1:] for line in Path(name).read_text(encoding="utf-8").splitlines()]
    lines = defaults([r for r in rows if r["limit"] == "default"]) + agreement(rows)
    lines += limits([r for r in rows if r["limit"] != "default"])
    text = PAGE.read_text(encoding="utf-8")
    head, tail = text[: text.index(BEGIN) + len(BEGIN)], text[text.index(END):]
    PAGE.write_text(head + "\n" + "\n".join(lines) + "\n\n" + tail, encoding="utf-8")


if __name__ == "__main__":
    main()
