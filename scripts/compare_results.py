#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether two builds of the command give the same bits: every case of the examples, its frames and history compared.

usage: compare_results.py OLD NEW [--case NAME]... [--set KEY=VALUE]...

OLD, NEW: two tempi commands. Cases run for the part of their end_time that PARTS has, on one thread. Ends with 1 where
anything differs.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import tomllib

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
# Of end_time, so that a case takes seconds; 1 for the others.
PARTS = {"blade/case1": 1e-3, "blade/case2": 1e-3, "blade/case3": 1e-3, "slab/slab": 0.02, "block/block": 0.02,
         "block/demo": 0.1, "l-beam/l-beam": 0.02, "argon/argon": 0.01, "lattice/heat": 0.02, "lattice/harmonic": 0.1,
         "dissipative/dissipative": 0.05}


def run(command: str, case: Path, part: float, out: Path, settings: list[str]) -> None:
    end_time = tomllib.loads(case.read_text())["run"]["end_time"] * part
    arguments = [command, "run", str(case), "--out", str(out), "--quiet", "--threads", "1",
                 "--set", f"run.end_time={end_time!r}", "--set", "output.frames=4", "--set", "output.history=20"]
    for setting in settings:
        arguments += ["--set", setting]
    done = subprocess.run(arguments, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"    {command}: {done.stderr.strip()[:300]}")


def contents(folder: Path) -> dict[str, bytes]:
    files = [*sorted(folder.glob("frames/*.vtu")), folder / "history.csv"]
    return {file.name: file.read_bytes() for file in files if file.exists()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--case", action="append", default=[], help="folder/name of an example; default: all")
    parser.add_argument("--set", action="append", default=[], dest="settings")
    options = parser.parse_args()
    differing = 0
    for case in sorted(EXAMPLES.glob("*/*.toml")):
        name = f"{case.parent.name}/{case.stem}"
        if options.case and name not in options.case:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            old, new = Path(scratch) / "old", Path(scratch) / "new"
            for command, out in ((options.old, old), (options.new, new)):
                run(command, case, PARTS.get(name, 1.0), out, options.settings)
            before, after = contents(old), contents(new)
            different = [file for file in before if before[file] != after.get(file)]
            verdict = "no results" if not before else "differ: " + ", ".join(different) if different else "same bits"
            differing += bool(different) or not before or before.keys() != after.keys()
            print(f"{name:<26} {len(before):>2} files  {verdict}", flush=True)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
