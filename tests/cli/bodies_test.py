# SPDX-License-Identifier: Apache-2.0
"""Small bodies in one, two and three dimensions, from every kind of mesh file, do what statics and symmetry demand."""

import unittest

from case_folder import CaseFolder, bar, cube, history, square, summary

LINEAR = 'model = "linear-elastic"\nlambda = 1e6\nmu = 1e6\ndensity = 1000'
G = 9.81
# A smooth rise to 1 over 0.8 s; the slowest wave of these bodies needs 0.12 s for a period.
RAMP = "(t < 0.8 ? 0.5 - 0.5*cos(pi*t/0.8) : 1)"


class Hanging(CaseFolder):
    """A weight that comes slowly is carried by the support: the reaction is the weight, but for what still swings."""

    def hangs(self, component, weight, dim, count=None, method="avi", **sections):
        value = ["0"] * dim
        value["xyz".index(component)] = f"-{G}*{RAMP}"
        results = self.run_case("--overwrite", initial="", load=f'type = "gravity"\nvalue = {value}',
                                run="end_time = 1.0", integrator=f'method = "{method}"\nsafety = 0.2',
                                output="frames = 1\nhistory = 200",
                                **sections)
        made, rows = summary(results), history(results)
        if count is not None:
            self.assertEqual(count, (made["elements"], made["nodes"]))
        for axis in "xyz"[:dim]:
            mean = sum(rows[f"support.reaction_{axis}"][-40:]) / 40
            expected = weight if axis == component else 0.0
            self.assertAlmostEqual(expected / weight, mean / weight, delta=0.01)
            for value in rows[f"support.reaction_{axis}"][-40:]:
                self.assertAlmostEqual(expected / weight, value / weight, delta=0.03)
        # Weight and reaction, of which little is left as momentum, are booked to rounding.
        moved = max(map(abs, rows[f"linear_momentum_{component}"]))
        self.assertLess(made["linear_momentum"]["error"] * moved, 1e-12 * weight)
        self.assertLess(made["energy"]["band"], 0.05, "the booked work is the energy stored")
        self.assertLess(abs(made["energy"]["drift"]), 0.05)
        return rows

    def test_a_bar_in_one_dimension_from_msh(self):
        for method in ("avi", "newmark"):
            rows = self.hangs("x", 1000 * G, 1, (8, 9), meshes={"bar.msh": bar()}, mesh='file = "bar.msh"',
                              material=LINEAR, fix='name = "support"\ngroup = "right"', method=method,
                              probe='name = "foot"\ngroup = "left"')
            # u = rho g L^2 / (2 E) with the modulus lambda + 2 mu of a bar that cannot thin
            self.assertAlmostEqual(-1000 * G / 2 / 3e6, rows["foot.displacement_x"][-1], delta=1e-4)

    def test_a_plate_from_geo(self):
        for order in (1, 2):
            geometry = "Point(1) = {0,0,0}; Point(2) = {0.5,0,0}; Point(3) = {0.5,1,0}; Point(4) = {0,1,0};\n" \
                       "Line(1) = {1,2}; Line(2) = {2,3}; Line(3) = {3,4}; Line(4) = {4,1};\n" \
                       "Curve Loop(1) = {1,2,3,4}; Plane Surface(1) = {1};\n" \
                       'Physical Surface("body") = {1}; Physical Curve("top") = {3};\n'
            self.hangs("y", 500 * G, 2, meshes={"plate.geo": geometry},
                       mesh=f'file = "plate.geo"\norder = {order}\nsize = 0.25', material=LINEAR,
                       fix='name = "support"\ngroup = "top"')

    def test_a_plate_from_an_abaqus_deck(self):
        nodes = [(i * 0.25, j * 0.25) for j in range(5) for i in range(3)]
        deck = "*HEADING\nplate\n*NODE, NSET=ALL\n"
        deck += "".join(f"{k}, {x}, {y}\n" for k, (x, y) in enumerate(nodes, 1))
        deck += "*ELEMENT, TYPE=CPE3, ELSET=BODY\n"
        for number, (i, j) in enumerate((i, j) for j in range(4) for i in range(2)):
            a = 3 * j + i + 1
            deck += f"{2 * number + 1}, {a}, {a + 1}, {a + 4}\n{2 * number + 2}, {a}, {a + 4}, {a + 3}\n"
        deck += "*NSET, NSET=TOP, GENERATE\n13, 15, 1\n"
        self.hangs("y", 500 * G, 2, (16, 15), meshes={"plate.inp": deck}, mesh='file = "plate.inp"',
                   material=LINEAR + '\ngroup = "BODY"', fix='name = "support"\ngroup = "TOP"')

    def test_a_block_in_three_dimensions_by_tag_and_by_where(self):
        for fix in ("group = 2", 'where = "Z < 1e-6"'):
            self.hangs("z", 1000 * G, 3, (6, 8), meshes={"cube.msh": cube(1)}, mesh='file = "cube.msh"',
                       material=LINEAR, fix=f'name = "support"\n{fix}')

    def test_two_materials_weigh_what_they_are(self):
        light, heavy = LINEAR, LINEAR.replace("1000", "3000")
        self.hangs("y", 2000 * G, 2, (8, 9), meshes={"square.msh": square()},
                   material=[light + '\nwhere = "X < 0.5"', heavy + '\nwhere = "X > 0.5"'],
                   fix='name = "support"\nwhere = "Y > 1 - 1e-9"')


class Working(CaseFolder):
    def test_the_work_of_a_constant_weight_is_weight_times_way_however_the_steps_coincide(self):
        for method in ("avi", "newmark"):
            results = self.run_case("--overwrite", initial="", fix='where = "Y > 1 - 1e-9"', run="end_time = 0.5",
                                    load='type = "gravity"\nvalue = [0, -9.81]',
                                    integrator=f'method = "{method}"\nsafety = 0.3', output="frames = 0\nhistory = 100",
                                    meshes={"square.msh": square(4)}, material=LINEAR)
            made, rows = summary(results), history(results)
            self.assertLess(made["energy"]["band"], 0.05)
            self.assertLess(abs(made["energy"]["drift"]), 0.02)
            self.assertLess(max(rows["external_work"]), 1.2 * max(rows["potential_energy"]))


class Pressed(CaseFolder):
    """Pressure all around a body leaves it where it is, and the follower's work is booked."""

    def stays(self, rounding, **sections):
        results = self.run_case("--overwrite", initial="", run="end_time = 0.05",
                                output="frames = 1\nhistory = 100", **sections)
        made, rows = summary(results), history(results)
        for momentum in ("linear_momentum", "angular_momentum"):
            self.assertLess(made[momentum]["error"], 1e-12)
        self.assertGreater(max(rows["kinetic_energy"]), 0.01)
        self.assertLess(made["energy"]["band"], 0.05)
        scale = 1000.0 * (2 * max(rows["kinetic_energy"]) / 1000.0) ** 0.5  # m |v|, mass 1000
        for kind in ("linear", "angular"):
            for axis in "xyz":
                self.assertLess(max(map(abs, rows[f"{kind}_momentum_{axis}"])), rounding * scale)

    def test_a_square(self):
        edge = 'where = "X < 1e-9 || X > 1 - 1e-9 || Y < 1e-9 || Y > 1 - 1e-9"'
        self.stays(1e-11, meshes={"square.msh": square(4)}, load=f'type = "pressure"\n{edge}\nvalue = 1e4')

    def test_a_disc_with_curved_edges(self):
        geometry = "r = 0.56; Point(1) = {0,0,0}; Point(2) = {r,0,0}; Point(3) = {-r,0,0};\n" \
                   "Circle(1) = {2,1,3}; Circle(2) = {3,1,2}; Curve Loop(1) = {1,2}; Plane Surface(1) = {1};\n" \
                   'Physical Surface("body") = {1}; Physical Curve("rim") = {1, 2};\n'
        # Elements of different steps meet the pressure at different times: the sum vanishes to second order.
        self.stays(1e-3, meshes={"disc.geo": geometry}, mesh='file = "disc.geo"\norder = 2\nsize = 0.3',
                   load='type = "pressure"\ngroup = "rim"\nvalue = "1e4*sin(200*t)"')

    def test_a_cube_by_its_skin_or_by_its_points(self):
        for target in ('group = "skin"', 'where = "X > -10"'):
            self.stays(1e-11, meshes={"cube.msh": cube(2)}, mesh='file = "cube.msh"',
                       load=f'type = "pressure"\n{target}\nvalue = 1e4')


if __name__ == "__main__":
    unittest.main()
