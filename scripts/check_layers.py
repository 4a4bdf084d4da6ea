#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the form of the sources: who may include whom, and what every file must and must not hold.

usage: check_layers.py [ROOT]      exit 0: nothing found, 1: findings, one per line as file:line: what

The tables below are the law; docs/architecture.md shows the same one. Change both or none.
"""

import re
import sys
from pathlib import Path

# folder of src/tempi: the folders it may include, beside itself.
LAYERS = {
    "core": set(),
    "mesh": {"core"},
    "material": {"core"},
    "simd": {"core"},
    "space": {"core", "simd"},
    "potential": {"core", "simd"},
    "element": {"core", "mesh", "material", "simd", "potential"},
    "pair": {"core", "simd", "space", "potential"},
    "contact": {"core", "mesh", "simd", "space", "potential", "constraint"},
    "force": {"core", "mesh", "simd", "potential", "element", "pair", "contact"},
    "constraint": {"core", "mesh"},
    "model": {"core", "mesh", "potential", "force", "constraint", "contact"},
    "schedule": {"core"},
    "integrator": {"core", "simd", "potential", "contact", "force", "constraint", "model", "schedule"},
    "adaption": {"core", "mesh", "material", "element", "integrator"},
    "diagnostic": {"core", "mesh", "model", "schedule", "simd", "integrator"},
    "io": {"core", "mesh", "model", "diagnostic"},
    "case": {"core", "simd", "mesh", "material", "space", "potential", "element", "pair", "contact", "force", "constraint", "model",
             "schedule", "integrator", "adaption", "diagnostic", "io"},
}
COMMAND = "app"  # may include every folder

# Libraries that stay behind one folder: pattern of the header, the folders that may include it.
LIBRARIES = [
    (re.compile(r"toml\+\+/|toml\.hpp$"), {"case"}),
    (re.compile(r"gmsh\.h"), {COMMAND}),  # app/mesh_reader
    (re.compile(r"metis\.h"), {"mesh"}),
    (re.compile(r"muParser"), {"core"}),
    (re.compile(r"CLI/"), {COMMAND}),
]

SOURCE_FOLDERS = ["src", "app", "tests", "benchmarks", "examples", "scripts", "cmake"]
SOURCE_ENDINGS = {".cpp", ".hpp", ".py", ".cmake"}
TEXT_ENDINGS = SOURCE_ENDINGS | {".md", ".toml", ".json", ".txt", ".cff", ".in", ".sh", ".geo", ".yml"}
HEADER_LINES = 300

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
TODO = re.compile(r"(?://|#|/?\*).*\bTODO\b(?!\s*\(?#\d+)")
MACHINE_PATH = re.compile(r"(?<![\w.~/-])/(?:home|root|Users|work|mnt)/\w")


def folder_of(path, root):
    """The layer a file belongs to: a folder of src/tempi, `app`, or None for what has no layer."""
    parts = path.relative_to(root).parts
    if parts[0] == COMMAND:
        return COMMAND
    if parts[:2] == ("src", "tempi"):
        return parts[2] if len(parts) > 3 else ""
    return None


def includes(text):
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)


def check_includes(path, root, text):
    folder = folder_of(path, root)
    if folder is None:
        return
    if folder != COMMAND and folder not in LAYERS:
        yield 1, f"lies in src/tempi/{folder}, which is no layer (scripts/check_layers.py)"
        return
    for number, bracket, name in includes(text):
        if name.startswith("tempi/"):
            if bracket == "<":
                yield number, f'own headers are included as "{name}"'
            parts = name.split("/")
            if len(parts) < 3:  # tempi/version.hpp belongs to no folder
                continue
            if folder != COMMAND and parts[1] != folder and parts[1] not in LAYERS[folder]:
                yield number, f"{folder}/ may not include {parts[1]}/"
        elif bracket == '"' and not (path.parent / name).is_file():
            yield number, f'"{name}" is neither one of ours nor beside this file'
        elif bracket == '"' and folder != COMMAND:
            yield number, f'own headers are included by their full name, "tempi/{folder}/{name}"'
        for pattern, allowed in LIBRARIES:
            if pattern.match(name) and folder not in allowed:
                yield number, f"{name} may be included by {', '.join(sorted(allowed))} only"


def check_form(path, root, text):
    lines = text.splitlines()
    if path.suffix in SOURCE_ENDINGS or path.name == "CMakeLists.txt":
        start = lines[1:2] if lines and lines[0].startswith("#!") else lines[:1]
        if not start or "SPDX-License-Identifier: Apache-2.0" not in start[0]:
            yield 1, "the first line must be the SPDX line"
    if path.suffix == ".hpp":
        if "#pragma once" not in lines:
            yield 1, "a header needs #pragma once"
        if len(lines) >= HEADER_LINES:
            yield HEADER_LINES, f"a header has fewer than {HEADER_LINES} lines, this one {len(lines)}"
    for number, line in enumerate(lines, 1):
        if path.suffix in SOURCE_ENDINGS and TODO.search(line):
            yield number, "TODO without an issue number, as in TODO(#12)"
        if MACHINE_PATH.search(line):
            yield number, "a path of somebody's machine"


def cycle(graph):
    """A cycle of the graph {name: names} as a list, or None."""
    done, trail = set(), []

    def visit(name):
        if name in trail:
            return trail[trail.index(name):] + [name]
        if name in done:
            return None
        trail.append(name)
        for other in sorted(graph.get(name, ())):
            found = visit(other)
            if found:
                return found
        trail.pop()
        done.add(name)
        return None

    for name in sorted(graph):
        found = visit(name)
        if found:
            return found
    return None


def text_files(root):
    for folder in SOURCE_FOLDERS + ["docs"]:
        yield from (p for p in sorted((root / folder).rglob("*")) if p.is_file() and p.suffix in TEXT_ENDINGS)
    yield from (p for p in sorted(root.iterdir()) if p.is_file() and (p.suffix in TEXT_ENDINGS or p.name == "dev"))


def findings(root):
    """Every finding under `root` as (file relative to it, line, what)."""
    graph = {}
    for path in text_files(root):
        name = path.relative_to(root).as_posix()
        text = path.read_text(encoding="utf-8", errors="replace")
        for number, what in check_form(path, root, text):
            yield name, number, what
        if path.suffix in {".cpp", ".hpp"}:
            for number, what in check_includes(path, root, text):
                yield name, number, what
        if path.suffix == ".hpp" and name.startswith("src/"):
            graph[name] = {"src/" + other for _, _, other in includes(text) if other.startswith("tempi/")}
    for what, edges in (("headers", graph), ("layers", LAYERS)):
        found = cycle(edges)
        if found:
            yield found[0], 1, f"{what} include each other: {' -> '.join(found)}"


def main(arguments):
    root = Path(arguments[0] if arguments else Path(__file__).parent.parent).resolve()
    count = 0
    for name, number, what in findings(root):
        print(f"{name}:{number}: {what}")
        count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
