# SPDX-License-Identifier: Apache-2.0
"""Cases that do not fit their mesh, or make no model, are refused before anything is written."""

import unittest

from case_folder import LINE, POINT, QUADRANGLE, SQUARE_NAMES, TRIANGLE, msh, square, square_elements
from refused import Refused

MATERIAL = "lambda = 1e6\nmu = 1e6\ndensity = 1000"


class Meshes(Refused):
    def test_mesh_files_that_cannot_be_read(self):
        self.refused("nowhere.msh", "does not exist", mesh='file = "nowhere.msh"')
        self.refused("body.stl", mesh='file = "body.stl"')
        self.refused("body.foo", ".msh", ".inp", mesh='file = "body.foo"')
        for text in ("this is no mesh\n", "", square()[:300], square()[:-400]):
            self.refused("square.msh", meshes={"square.msh": text})

    def test_geometries_and_decks_that_are_garbage_name_their_line(self):
        self.refused("body.geo", "line 2", meshes={"body.geo": "a = 1;\nPoint(1) = {0, 0;\n"}, mesh='file = "body.geo"')
        self.refused("body.inp", "*ELEMENT", meshes={"body.inp": "hello\n"}, mesh='file = "body.inp"')
        deck = "*NODE\n1, 0, 0\n2, 1, 0\n*ELEMENT, TYPE=CPE3\n1, 1, 2, 3\n"
        self.refused("body.inp:5", "3", meshes={"body.inp": deck}, mesh='file = "body.inp"')

    def test_quadrangles_are_refused_with_advice(self):
        points = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.0, 0.0), (0.0, 1.0, 0.0)]
        mesh = msh(points, [(QUADRANGLE, 1, (0, 1, 2, 3))], {1: (2, "body")})
        self.refused("Quadrilateral", "triangles", meshes={"square.msh": mesh})

    def test_a_surface_that_is_not_plane(self):
        mesh = msh([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.0, 1.0)], [(TRIANGLE, 1, (0, 1, 2))], {1: (2, "body")})
        self.refused("square.msh", "z", "from 0 to 1", meshes={"square.msh": mesh})

    def test_a_mesh_without_cells(self):
        self.refused("square.msh", "triangles", meshes={"square.msh": msh([(0.0, 0.0, 0.0)], [(POINT, 1, (0,))], {})})

    def square_with(self, change):
        points, elements = square_elements(2)
        change(points, elements)
        return {"square.msh": msh(points, elements, SQUARE_NAMES)}

    def test_an_inverted_element_is_named_with_its_place_in_the_mesh_file(self):
        def turn(_points, elements):
            elements[5] = (TRIANGLE, 1, (0, 3, 4))

        self.refused("square.msh", "cell 6 ", "(0.166667, 0.333333)", "inverted", meshes=self.square_with(turn))

    def test_an_element_without_volume_is_named(self):
        def flatten(points, _elements):
            points[4] = (0.5, 0.0, 0.0)

        self.refused("square.msh", "cell 5 ", "(0.333333, 0)", "zero volume", meshes=self.square_with(flatten))

    def test_a_point_without_a_place(self):
        def lose(points, _elements):
            points[4] = (float("nan"), 0.0, 0.0)

        self.refused("square.msh", "point 5 ", "nan", meshes=self.square_with(lose))

    def test_a_used_group_with_a_point_of_no_cell(self):
        def stray(points, elements):
            points.append((2.0, 2.0, 0.0))
            elements.append((LINE, 3, (8, 9)))

        stray = self.square_with(stray)
        self.refused("point 10", "'right'", "no cell", at='group = "right"', meshes=stray, fix='group = "right"')
        self.refused("point 10", "'right'", "no cell", at='group = "right"', meshes=stray,
                     load='type = "traction"\ngroup = "right"\nvalue = [1, 0]')

    def test_a_loaded_facet_inside_or_outside_the_body(self):
        def outside(_points, elements):
            elements.append((LINE, 3, (0, 8)))

        def inside(_points, elements):
            elements.append((LINE, 3, (0, 4)))

        self.refused("facet 13", "'right'", "no cell", at='group = "right"', meshes=self.square_with(outside),
                     load='type = "traction"\ngroup = "right"\nvalue = [1, 0]')
        self.refused("facet 13", "'right'", "between two cells", at='group = "right"', meshes=self.square_with(inside),
                     load='type = "pressure"\ngroup = "right"\nvalue = 1')


class Selections(Refused):
    GROUPS = ("body (8 cells)", "left (2 facets)", "right (2 facets)")

    def test_a_group_that_is_not_in_the_mesh(self):
        self.refused("'lfet'", "mean 'left'", *self.GROUPS, at="group", fix='group = "lfet"')
        self.refused("'zzzzzzz'", *self.GROUPS, at="group", fix='group = "zzzzzzz"')
        self.refused("77", *self.GROUPS, at="group", fix="group = 77")
        self.refused("4294967297", at="group", fix="group = 4294967297")  # 1, if cut to 32 bits
        self.refused("'bdy'", "mean 'body'", *self.GROUPS, at="group", material=MATERIAL + '\ngroup = "bdy"')
        self.refused("'lfet'", "mean 'left'", at="group", load='type = "traction"\ngroup = "lfet"\nvalue = [1, 0]')
        self.refused("'lfet'", "mean 'left'", at="group", probe='name = "a"\ngroup = "lfet"')

    def test_a_group_is_needed_or_one_too_many(self):
        self.refused("group", "where", at="[[fix]]", fix='components = ["x"]')
        self.refused("group", "where", at="where", fix='group = "left"\nwhere = "X < 1"')
        self.refused("group", at="group", fix='group = ""')
        for kind, value in (("pressure", "1"), ("traction", "[1, 0]"), ("force", "[1, 0]")):
            self.refused(kind, "group or where", at="[[load]]", load=f'type = "{kind}"\nvalue = {value}')

    def test_every_cell_needs_one_material(self):
        self.refused("4 of 8 cells", "cell 9 ", "(0.833333, 0.166667)", *self.GROUPS,
                     material=MATERIAL + '\nwhere = "X < 0.5"')
        self.refused("cell 5 ", "case.toml:6", "one material", material=[MATERIAL, MATERIAL + '\ngroup = "body"'])
        self.refused("'left'", "dimension 2", *self.GROUPS, at="group", material=MATERIAL + '\ngroup = "left"')

    def test_selections_that_are_empty(self):
        self.refused('"X < -1"', "no nodes", at="where", fix='where = "X < -1"')
        self.refused('"X < -1"', "no nodes", at="where", probe='name = "a"\nwhere = "X < -1"')
        self.refused('"X < -1"', "no cells", at="where", material=[MATERIAL, MATERIAL + '\nwhere = "X < -1"'])
        self.refused('"X < -1"', "no facets", at="where", load='type = "traction"\nwhere = "X < -1"\nvalue = [1, 0]')
        self.refused('"X < -1"', "no cells", at="where", load='type = "gravity"\nwhere = "X < -1"\nvalue = [1, 0]')

    def test_loads_on_groups_of_the_wrong_dimension(self):
        self.refused("'body'", "no facets", *self.GROUPS, at="group",
                     load='type = "traction"\ngroup = "body"\nvalue = [1, 0]')
        self.refused("'body'", "no facets", *self.GROUPS, at="group",
                     load='type = "pressure"\ngroup = "body"\nvalue = 1')
        self.refused("'left'", "dimension 2", *self.GROUPS, at="group",
                     load='type = "gravity"\ngroup = "left"\nvalue = [1, 0]')

    def test_components_that_do_not_exist_or_come_twice_or_not_at_all(self):
        for name in ("z", "q", "X", "xy", ""):
            self.refused(f'"{name}"', "x and y", at="components", fix=f'group = "left"\ncomponents = ["{name}"]')
        self.refused('"x"', "twice", at="components",
                     fix='group = "left"\ncomponents = ["x", "x"]\ndisplacement = ["0", "0.1*t"]')
        self.refused("components", at="components", fix='group = "left"\ncomponents = []')

    def test_supports_in_conflict(self):
        self.refused("'left'", "'fix2'", "component x", "(0, 0)",
                     fix=['group = "left"', 'where = "Y < 0.1"\ndisplacement = ["t", "0"]'])

    def test_names_of_history_columns_are_different_and_not_empty(self):
        self.refused("'a'", "two", fix=['name = "a"\ngroup = "left"', 'name = "a"\ngroup = "right"'])
        self.refused("'a'", "two", probe=['name = "a"\npoint = [0, 0]', 'name = "a"\npoint = [1, 0]'])
        self.refused("name", at="name", probe='name = ""\npoint = [0, 0]')

    def test_a_probe_has_one_place(self):
        self.refused("probe", "point", "group", at="[[probe]]", probe='name = "a"')
        self.refused("probe", "point", "group", at="[[probe]]", probe='name = "a"\npoint = [0, 0]\ngroup = "left"')
        self.refused("point", "3 components", "2", probe='name = "a"\npoint = [0, 0, 0]')
        self.refused("point", "nan", at="point", probe='name = "a"\npoint = [nan, 0]')


class Expressions(Refused):
    def test_wrong_numbers_of_components(self):
        self.refused("velocity", "3 components", "2 dimensions", at="velocity", initial='velocity = ["0", "0", "0"]')
        self.refused("position", "1 component ", "2 dimensions", at="position", initial='position = ["X"]')
        self.refused("value", "1 component ", "2 dimensions", at="value", load='type = "gravity"\nvalue = [0]')
        self.refused("value", "1 component ", "2 dimensions", at="value", load='type = "gravity"\nvalue = -9.81')
        self.refused("displacement", "2 expressions", "1 component", at="displacement",
                     fix='group = "left"\ncomponents = ["x"]\ndisplacement = ["0", "0"]')
        self.refused("pressure", "one value", at="value", load='type = "pressure"\ngroup = "left"\nvalue = [1, 0]')
        self.refused("dead", "pressure", at="dead", load='type = "gravity"\nvalue = [0, 1]\ndead = true')

    def test_names_that_are_not_known(self):
        self.refused('"omega*Y"', '"omega"', "X, Y, Z, t, pi", at="velocity", initial='velocity = ["omega*Y", "0"]')
        self.refused('"A*t"', '"A"', "omega", at="displacement", constants="omega = 1",
                     fix='group = "left"\ndisplacement = ["A*t", "0"]')
        self.refused('"g"', "X, Y, Z, t, pi", at="value", load='type = "gravity"\nvalue = ["0", "g"]')
        self.refused('"x < 1"', "X, Y, Z", at="where", fix='where = "x < 1"')

    def test_expressions_that_end_early(self):
        self.refused('"2*"', at="velocity", initial='velocity = ["2*", "0"]')
        self.refused('""', at="velocity", initial='velocity = ["", "0"]')

    def test_assignments_and_lists_are_no_expressions(self):
        self.refused('"X = 0"', "==", at="where", fix='where = "X = 0"')
        self.refused('"X = 3"', at="velocity", initial='velocity = ["X = 3", "0"]')
        self.refused('"1, 2"', at="velocity", initial='velocity = ["1, 2", "0"]')

    def test_time_where_there_is_none(self):
        self.refused('"t"', "velocity", "X, Y, Z", at="velocity", initial='velocity = ["t", "0"]')
        self.refused('"X + t"', "position", "X, Y, Z", at="position", initial='position = ["X + t", "Y"]')
        self.refused('"t < 1"', "X, Y, Z", at="where", fix='where = "t < 1"')

    def test_constants(self):
        self.refused("constant a", "number", at="a =", constants='a = "1"')
        self.refused("constant X", "variable", at="X =", constants="X = 1")
        self.refused("constant", "a b", at='"a b"', constants='"a b" = 1')
        self.refused("constant", "1a", at="1a =", constants="1a = 1")
        self.refused("a = nan", at="a =", constants="a = nan")

    def test_values_that_are_no_numbers_at_the_start(self):
        self.refused("position", '"sqrt(-X)"', "nan at X = (0.5, 0)", at="position",
                     initial='position = ["sqrt(-X)", "Y"]')
        self.refused("velocity", '"1/(X-0.5)"', "inf at X = (0.5, 0)", at="velocity",
                     initial='velocity = ["1/(X-0.5)", "Y"]')
        self.refused("velocity", "nan", at="velocity", initial="velocity = [nan, 0]")
        self.refused("gravity", '"log(-1)"', "t = 0 s", at="value", load='type = "gravity"\nvalue = ["0", "log(-1)"]')
        self.refused("displacement", '"0/0"', at="displacement", fix='group = "left"\ndisplacement = ["0/0", "0"]')
        self.refused('"sqrt(X-0.5)"', "(0, 0)", at="where", fix='where = "sqrt(X-0.5)"')

    def test_values_that_are_no_numbers_at_the_end(self):
        self.refused('"sqrt(0.015-t)"', "t = 0.02 s", at="value",
                     load='type = "gravity"\nvalue = ["0", "sqrt(0.015-t)"]')
        self.refused('"sqrt(0.015-t)"', "t = 0.02 s", at="value",
                     load='type = "pressure"\ngroup = "left"\nvalue = "sqrt(0.015-t)"')
        self.refused('"0*sqrt(0.015-t)"', "t = 0.02 s", at="displacement",
                     fix='group = "left"\ndisplacement = ["0*sqrt(0.015-t)", "0"]')

    def test_a_start_that_disagrees_with_a_prescribed_motion(self):
        self.refused("disagree", "component y", "0.1 m", '"left"', "0 m", initial='position = ["X", "Y + 0.1"]',
                     fix='group = "left"\ndisplacement = ["0", "0"]')
        self.refused("disagree", "component x", 'let it grow with time, such as "0.25*t/', initial="",
                     fix='group = "left"\ndisplacement = [0.25, 0]')

    def test_a_start_that_inverts_an_element(self):
        self.refused("cell 5 ", "(0.333333, 0.166667)", "det F = -1", at="position", initial='position = ["-X", "Y"]')
        self.refused("cell 5 ", "det F = 0", at="position", initial='position = ["0", "Y"]')


if __name__ == "__main__":
    unittest.main()
