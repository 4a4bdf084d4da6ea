# SPDX-License-Identifier: Apache-2.0
"""What a run has written, as this program's own writer makes it: nothing more general."""

from __future__ import annotations

import csv
import json
import xml.etree.ElementTree as ElementTree
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

try:
    import tomllib
except ModuleNotFoundError:  # before Python 3.11: what is looked up in the case's text is done without
    tomllib = None  # type: ignore[assignment]

import numpy as np

from mesh import Mesh
from style import Array
from vtu import VtuFile


class RunError(Exception):
    """The folder holds no run that could be drawn."""


class WriteError(Exception):
    """A picture could not be written."""


@dataclass(frozen=True)
class Run:
    folder: Path
    summary: dict[str, Any]
    history: dict[str, Array]
    frames: list[tuple[float, Path]]

    @cached_property
    def mesh(self) -> Mesh:
        return Mesh(VtuFile(self.frames[0][1]))

    @property
    def has_particles(self) -> bool:
        return "particles_fingerprint" in self.summary

    @property
    def has_mesh(self) -> bool:
        """Whether there is a body to be drawn."""
        return bool(self.frames) and not self.has_particles and self.mesh.is_drawable

    @cached_property
    def up(self) -> Array | None:
        """Against gravity, where it is constant and the only one; a unit vector."""
        fields = [load.get("value") for load in self.case.get("load", []) if load.get("type") == "gravity"]
        fields += [
            potential.get("acceleration")
            for potential in self.case.get("potential", [])
            if potential.get("type") == "uniform-field"
        ]
        try:
            (field,) = fields
            pull = np.array([float(component) for component in field])
        except (TypeError, ValueError):  # none, several, or a formula
            return None
        size = float(np.linalg.norm(pull))
        return -pull / size if pull.size == 3 and 0 < size < np.inf else None

    @cached_property
    def case(self) -> dict[str, Any]:
        return tomllib.loads(self.summary.get("case", "")) if tomllib else {}


@contextmanager
def damage_named(*folders: Path) -> Iterator[None]:
    """Turns what goes wrong on reading and drawing the files of runs into an error that names their folders."""
    try:
        yield
    except (OSError, ValueError, KeyError, IndexError, zlib.error, ElementTree.ParseError) as error:
        where = " or ".join(map(str, folders))
        raise RunError(f"{where} holds damaged files ({type(error).__name__}: {error}). Run again.") from error


def read_history(path: Path) -> dict[str, Array]:
    with path.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if row and not row[0].startswith("#")]
    if len(rows) < 2:
        raise RunError(f"{path} has no rows (the run has computed nothing). Run the case again.")
    names = [name.strip() for name in rows[0]]
    complete = [row for row in rows[1:] if len(row) == len(names)]
    values = np.array([[float(value or "nan") for value in row] for row in complete]).reshape(-1, len(names))
    return dict(zip(names, values.T))


def read_run(folder: Path) -> Run:
    """Throws RunError when the folder holds no run that came to an end."""
    if not folder.is_dir():
        raise RunError(f"{folder} is not a folder. Name the folder a run has written.")
    for name in ("summary.json", "history.csv"):
        if not (folder / name).exists():
            raise RunError(f"{folder} holds no {name} (not a run, or one that has not ended). Wait or run the case.")
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    frames: list[tuple[float, Path]] = []
    if (folder / "frames.pvd").exists():
        for entry in ElementTree.parse(folder / "frames.pvd").getroot().iter("DataSet"):
            frames.append((float(entry.attrib["timestep"]), folder / entry.attrib["file"]))
    return Run(folder, summary, read_history(folder / "history.csv"), frames)
