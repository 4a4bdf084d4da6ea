# SPDX-License-Identifier: Apache-2.0
"""Mesh files and geometries from elsewhere: damaged, wanting too much, curved beyond their size, in parts, in doubt."""

import os
import re
import stat
import time
import unittest

from case_folder import CaseFolder, case_text, square, square_elements, msh, SQUARE_NAMES

SOLID = {"material": "young = 1e6\npoisson = 0.3\ndensity = 1000", "initial": ""}
TETRAHEDRON = """$MeshFormat
2.2 0 8
$EndMeshFormat
$Nodes
4
1 0 0 0
2 1 0 0
3 0 1 0
4 0 0 1
$EndNodes
$Elements
1
1 4 2 1 1 {} 2 3 4
$EndElements
"""


class MeshFiles(CaseFolder):
    def check(self, file, text=None, mesh="", code=0, command="check", env=None, **sections):
        if text is not None:
            self.write(file, text)
        self.write("case.toml", case_text(**{**SOLID, "mesh": f'file = "{file}"\n{mesh}', **sections}))
        done = self.tempi(command, "case.toml", env=env)
        self.assertEqual(code, done.returncode, done.stderr)
        return done.stdout if code == 0 and command == "check" and not done.stderr else done.stderr

    def test_a_file_that_crashes_gmsh_is_refused_by_name(self):
        self.assertIn("1 cells", self.check("good.msh", TETRAHEDRON.format(1)))
        said = self.check("crash.msh", TETRAHEDRON.format(5), code=2)  # a point that does not exist
        for word in ("crash.msh", "Gmsh crashed (signal 11)", "damaged"):
            self.assertIn(word, said)

    def reader(self, script):
        file = self.write("reader", "#!/bin/sh\n" + script)
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
        return {**os.environ, "TEMPI_MESH_READER": str(file)}

    def test_whatever_the_reader_does_is_an_error_that_names_the_file(self):
        for script, word in (("kill -SEGV $$", "crashed (signal 11)"), ("exit 1", "gave up"), ("exit 0", "ends before"),
                             ("head -c 3000000 /dev/zero", ""), ("echo nonsense of some length to be refused", ""),
                             ("kill -XCPU $$", "hangs")):
            said = self.check("good.msh", TETRAHEDRON.format(1), code=2, env=self.reader(script))
            self.assertIn("good.msh", said, script)
            self.assertIn(word, said, script)

    def test_a_reader_that_uses_its_time_up_is_ended(self):
        start = time.monotonic()
        limited = "ulimit -S -t ${9}; while :; do :; done"
        said = self.check("good.msh", TETRAHEDRON.format(1), code=2, env=self.reader(limited))
        self.assertIn("hangs", said)
        self.assertLess(time.monotonic() - start, 20)

    def test_files_that_ask_for_too_much_memory_are_refused(self):
        text = TETRAHEDRON.format(1).replace("$Nodes\n4", "$Nodes\n900000000")
        start = time.monotonic()
        said = self.check("huge.msh", text, code=2)
        self.assertIn("huge.msh", said)
        self.assertLess(time.monotonic() - start, 10)

    def test_commands_in_geometries_are_run_only_if_asked_for(self):
        geometry = 'SystemCall "touch was_here";\nSetFactory("OpenCASCADE");\nBox(1) = {0, 0, 0, 1, 1, 1};\n'
        said = self.check("box.geo", geometry, "size = 0.5", code=2)
        for word in ("touch was_here", "system_calls = true", "box.geo"):
            self.assertIn(word, said)
        self.assertFalse((self.folder / "was_here").exists())
        self.check("box.geo", geometry, "size = 0.5\nsystem_calls = true")
        self.assertTrue((self.folder / "was_here").exists())

    def test_sizes_far_too_fine_are_refused_before_they_are_meshed(self):
        geometry = 'SetFactory("OpenCASCADE");\nBox(1) = {0, 0, 0, 1, 1, 1};\n'
        for mesh, words in (("size = 1e-7", ("size = 1e-07", "mesh.size", "edges")), ("size = 0.2\nrefine = 9", ("refine = 9", "cells"))):
            start = time.monotonic()
            said = self.check("box.geo", geometry, mesh, code=2)
            self.assertLess(time.monotonic() - start, 15)
            for word in words:
                self.assertIn(word, said)

    def test_cells_folded_on_curved_geometry_are_straightened_and_counted(self):
        ring = ('SetFactory("OpenCASCADE");\nCylinder(1) = {0, 0, 0, 0, 0, 1, 1};\nCylinder(2) = {0, 0, 0, 0, 0, 1, 0.9};\n'
                'BooleanDifference(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };\n')
        said = self.check("ring.geo", ring, "order = 2\nsize = 0.8")
        found = re.search(r"(\d+) of (\d+) cells of second order came out folded", said)
        self.assertTrue(found, said)
        self.assertLess(0, int(found[1]))
        self.check("ring.geo", ring, "order = 2\nsize = 0.8", command="run", run="end_time = 1e-4", output="frames = 0")
        said = self.check("ring.geo", ring, "order = 2\nsize = 0.8\ncurved = false")
        self.assertNotIn("folded", said)
        said = self.check("ring.geo", ring, "order = 2\nsize = 0.1")
        self.assertNotIn("folded", said, "fine enough: all curved")

    def test_parts_that_share_no_node_are_told_with_their_sizes(self):
        points, elements = square_elements(2)
        n = len(points)
        points += [(x + 3, y, z) for x, y, z in points]
        elements += [(kind, group, tuple(a + n for a in nodes)) for kind, group, nodes in elements][:-3]
        said = self.check("two.msh", msh(points, elements, SQUARE_NAMES))
        for word in ("2 parts", "8 cells with cell", "5 cells with cell"):
            self.assertIn(word, said)
        self.assertNotIn("parts", self.check("one.msh", square()))

    def test_cells_that_are_there_twice_are_told(self):
        deck = "*NODE\n1, 0, 0\n2, 1, 0\n3, 1, 1\n4, 0, 1\n*ELEMENT, TYPE=CPE3\n1, 1, 2, 3\n2, 1, 3, 4\n"
        self.assertNotIn("same nodes", self.check("once.inp", deck))
        self.assertIn("1 cell lies on the same nodes as another (the first: cell 1", self.check("twice.inp", deck + "3, 2, 3, 1\n"))

    def test_a_tag_of_cells_and_of_facets_is_refused_where_nodes_are_meant(self):
        points, elements = square_elements(2)
        elements = [(kind, 1, nodes) for kind, _, nodes in elements]
        said = self.check("tags.msh", msh(points, elements, {}), code=2, fix="group = 1")
        for word in ("is the tag of cells and of facets", "where"):
            self.assertIn(word, said)
        self.check("tags.msh", msh(points, elements, {}), load='type = "traction"\ngroup = 1\nvalue = [1, 0]', code=0)

    def test_check_and_selections_of_nothing_tell_where_the_mesh_is(self):
        self.assertIn("from 0 to 1, 0 to 1 m", self.check("square.msh", square()))
        said = self.check("square.msh", square(), code=2, fix='where = "X > 500"')
        for word in ("selects no nodes", "The mesh reaches from 0 to 1, 0 to 1 m"):
            self.assertIn(word, said)


if __name__ == "__main__":
    unittest.main()
