#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether one build is as fast as another: their benchmarks in turns, the median of the ratios of every row, and the ratio
of the least times, which other work on the machine disturbs less.

usage: pairs.py OLD_BENCH NEW_BENCH [--pairs 7] [--full]

OLD_BENCH, NEW_BENCH: two tempi_bench. Each pair runs old and new one after the other, every second one in the other
order, at the quick sizes unless --full. Nothing else may run meanwhile.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
from pathlib import Path


def times(command: str, full: bool) -> dict[str, float]:
    """Time per update [ns] of every competitor of every row."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "bench.json"
        subprocess.run([command, *([] if full else ["--quick"]), str(out)], check=True, capture_output=True)
        results = json.loads(out.read_text())["results"]
    found = {}
    for r in results:
        for name, value in r.items():
            if isinstance(value, dict) and "ns_per_update" in value:
                found[f"{r['row']}, {r['case']}, {r.get('cells', 0):.0f}: {name}"] = value["ns_per_update"]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--full", action="store_true")
    options = parser.parse_args()
    ratios: dict[str, list[float]] = {}
    least: dict[str, list[float]] = {}
    for k in range(options.pairs):
        first, second = (options.old, options.new) if k % 2 == 0 else (options.new, options.old)
        a, b = times(first, options.full), times(second, options.full)
        old, new = (a, b) if k % 2 == 0 else (b, a)
        for row in old.keys() & new.keys():
            ratios.setdefault(row, []).append(new[row] / old[row])
            so_far = least.setdefault(row, [old[row], new[row]])
            least[row] = [min(so_far[0], old[row]), min(so_far[1], new[row])]
    for row in sorted(ratios, key=lambda r: -statistics.median(ratios[r])):
        values = sorted(ratios[row])
        print(f"{statistics.median(values):6.3f}  ({values[0]:.3f} to {values[-1]:.3f})"
              f"  {least[row][1] / least[row][0]:6.3f}  {row}")
    for name, of in (("medians", [statistics.median(v) for v in ratios.values()]),
                     ("least times", [new / old for old, new in least.values()])):
        print(f"{statistics.median(of):6.3f}  is the median of {len(of)} rows' {name}, {sum(r > 1.02 for r in of)} above 1.02")


if __name__ == "__main__":
    main()
