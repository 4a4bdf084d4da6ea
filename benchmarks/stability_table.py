#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the tables of docs/stability.md from the output of tempi_stability_sweep.

usage: stability_table.py SWEEP.json...        replaces what stands between the page's markers
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "stability.md"
BEGIN, END = "<!-- tables: begin -->", "<!-- tables: end -->"
NAMES = {"bar": "2-node bars", "tri3": "3-node triangles", "tri6": "6-node triangles",
         "tet4": "4-node tetrahedra", "tet10": "10-node tetrahedra"}


def cell(row: dict | None) -> str:
    if row is None:
        return ""
    count = f"{row['unstable']}/{row['meshes']}"
    return f"**{count}** ({row['growth']:.0e})" if row["unstable"] else count


def title(row: dict, meshes: int, longest_steps: int) -> str:
    return f"\n### {NAMES[row['element']]}, {row['shares']} shares: {meshes} meshes, {longest_steps} longest steps\n"


def table(rows: list[dict], longest_steps: int) -> list[str]:
    safeties = sorted({r["safety"] for r in rows})
    found = {(r["rule"], r["ratio"], r["safety"]): r for r in rows}
    meshes = max(r["meshes"] for r in rows)
    lines = [title(rows[0], meshes, longest_steps),
             "| steps | neighbours within | " + " | ".join(f"s = {s:g}" for s in safeties) + " |",
             "|---|---|" + "---|" * len(safeties)]
    for rule in ("any", "twos-and-threes", "powers-of-two", "powers-of-three"):
        for ratio in (None, 4.0, 2.0, 1.5):
            cells = [cell(found.get((rule, ratio, s))) for s in safeties]
            if any(cells):
                lines.append(f"| {rule} | {f'{ratio:g} x' if ratio else '-'} | " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    lines: list[str] = []
    for name in sys.argv[1:]:
        data = json.loads(Path(name).read_text(encoding="utf-8"))
        for element in NAMES:
            for shares in ("own", "balanced"):
                rows = [r for r in data["rows"] if (r["element"], r["shares"]) == (element, shares)]
                if rows:
                    lines += table(rows, data["longest_steps"])
    text = PAGE.read_text(encoding="utf-8")
    head, tail = text[: text.index(BEGIN) + len(BEGIN)], text[text.index(END):]
    PAGE.write_text(head + "\n" + "\n".join(lines) + "\n\n" + tail, encoding="utf-8")


if __name__ == "__main__":
    main()
