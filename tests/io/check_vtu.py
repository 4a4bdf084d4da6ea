# SPDX-License-Identifier: Apache-2.0
"""Compares written frames with what they should hold, bit for bit, as VTK's own reader sees them.

usage: check_vtu.py RUN EXPECTED

RUN holds frames.pvd; EXPECTED holds one folder per frame, 0, 1, ..., with raw little-endian arrays:
time.f64 points.f64 connectivity.i64 offsets.i64 types.u8 and PLACE.NAME.COMPONENTS.{f64,i64} with PLACE point or cell.
Component names stand in PLACE.NAME.names, one a line. Prints what differs; exit code 1 if anything does.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

try:
    import numpy as np
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader
except ImportError as error:
    print(f"{error.name} is missing. Install it: apt-get install python3-vtk9 python3-numpy")
    sys.exit(1)

TYPES = {".f64": np.dtype("<f8"), ".i64": np.dtype("<i8"), ".u8": np.dtype("u1")}


def same_bits(name: str, found: Any, wanted: Any) -> list[str]:
    if found is None:
        return [f"{name} is missing"]
    if found.dtype != wanted.dtype or found.size != wanted.size:
        return [f"{name}: {found.size} {found.dtype}, should be {wanted.size} {wanted.dtype}"]
    differing = np.flatnonzero(found.ravel().view(np.uint8) != wanted.ravel().view(np.uint8))
    if differing.size == 0:
        return []
    first = differing[0] // wanted.dtype.itemsize
    return [f"{name}[{first}] is {found.ravel()[first]!r}, should be {wanted.ravel()[first]!r}"]


def read_grid(file: Path) -> Any:
    reader = vtkXMLUnstructuredGridReader()
    reader.SetFileName(str(file))
    reader.Update()
    if reader.GetErrorCode() != 0:
        raise RuntimeError(f"VTK cannot read {file.name} (error code {reader.GetErrorCode()})")
    return reader.GetOutput()


def check_structure(grid: Any, expected: Path) -> list[str]:
    cells = grid.GetCells()
    found = {
        "points.f64": vtk_to_numpy(grid.GetPoints().GetData()),
        "connectivity.i64": vtk_to_numpy(cells.GetConnectivityArray()).astype("<i8"),
        "offsets.i64": vtk_to_numpy(cells.GetOffsetsArray()).astype("<i8"),
        "types.u8": vtk_to_numpy(grid.GetCellTypesArray()),
        "time.f64": vtk_to_numpy(grid.GetFieldData().GetArray("TimeValue")),
    }
    complaints = []
    for name, values in found.items():
        wanted = np.fromfile(expected / name, TYPES[Path(name).suffix])
        complaints += same_bits(name, values, wanted)
    return complaints


def check_fields(place: str, data: Any, expected: Path) -> list[str]:
    complaints = []
    files = sorted(f for f in expected.glob(f"{place}.*") if f.suffix in TYPES)
    if data.GetNumberOfArrays() != len(files):
        complaints.append(f"{data.GetNumberOfArrays()} {place} arrays, should be {len(files)}")
    for file in files:
        _, name, components, _ = file.name.split(".")
        array = data.GetArray(name)
        if array is None:
            complaints.append(f"{place} array {name} is missing")
            continue
        if array.GetNumberOfComponents() != int(components):
            complaints.append(f"{name} has {array.GetNumberOfComponents()} components, should have {components}")
        complaints += same_bits(f"{place} array {name}", vtk_to_numpy(array), np.fromfile(file, TYPES[file.suffix]))
        names_file = expected / f"{place}.{name}.names"
        if names_file.exists():
            names = [array.GetComponentName(i) for i in range(int(components))]
            if names != names_file.read_text().split():
                complaints.append(f"{name} has the component names {names}")
    return complaints


def check_run(run: Path, expected: Path) -> list[str]:
    entries = ElementTree.parse(run / "frames.pvd").getroot().findall("Collection/DataSet")
    folders = sorted(expected.iterdir(), key=lambda folder: int(folder.name))
    complaints = []
    if len(entries) != len(folders):
        complaints.append(f"frames.pvd lists {len(entries)} frames, should list {len(folders)}")
    for entry, folder in zip(entries, folders):
        grid = read_grid(run / entry.attrib["file"])
        found = check_structure(grid, folder)
        found += check_fields("point", grid.GetPointData(), folder)
        found += check_fields("cell", grid.GetCellData(), folder)
        found += same_bits("time step", np.array([float(entry.attrib["timestep"])]), np.fromfile(folder / "time.f64"))
        complaints += [f"frame {folder.name}: {complaint}" for complaint in found]
    return complaints


def main() -> int:
    complaints = check_run(Path(sys.argv[1]), Path(sys.argv[2]))
    print("\n".join(complaints), end="")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
