# SPDX-License-Identifier: Apache-2.0
"""The frames of a run, as this program's own writer makes them: nothing more general."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
import zlib
from pathlib import Path

import numpy as np

from style import Array


class VtuFile:
    """A written frame. Arrays are decompressed when asked for."""

    def __init__(self, path: Path) -> None:
        self.content = path.read_bytes()
        start = self.content.index(b"<AppendedData")
        self.origin = self.content.index(b"_", start) + 1
        root = ElementTree.fromstring(self.content[:start] + b"</VTKFile>")
        told = {tag.attrib["Name"]: (tag.text or "").strip() for tag in root.iterfind("UnstructuredGrid/FieldData/*")}
        self.is_deformed = told.get("PointsAreDeformed") != "0"
        self.dim = int(told["Dimension"]) if "Dimension" in told else None
        self.tags = {
            (section.tag, tag.attrib["Name"]): tag.attrib
            for section in root.find("UnstructuredGrid/Piece") or []
            for tag in section
        }

    def has(self, section: str, name: str) -> bool:
        return (section, name) in self.tags

    @property
    def places(self) -> Array:
        """Where the points are at the frame's time."""
        points = self.array("Points", "Points")
        return points if self.is_deformed else points + self.array("PointData", "displacement")

    def array(self, section: str, name: str) -> Array:
        """The values, one row per point or cell if there are several components."""
        tag = self.tags[section, name]
        kind = {"Float64": "<f8", "Float32": "<f4", "Int64": "<i8", "UInt8": "u1"}[tag["type"]]
        place = self.origin + int(tag["offset"])
        blocks = int(np.frombuffer(self.content, "<u8", 1, place)[0])
        sizes = np.frombuffer(self.content, "<u8", blocks, place + 24)
        ends = place + 24 + 8 * blocks + np.concatenate(([0], np.cumsum(sizes))).astype(int)
        data = b"".join(zlib.decompress(self.content[a:b]) for a, b in zip(ends[:-1], ends[1:]))
        values = np.frombuffer(data, kind)
        components = int(tag["NumberOfComponents"])
        return values.reshape(-1, components) if components > 1 else values
