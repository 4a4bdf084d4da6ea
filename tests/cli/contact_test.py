# SPDX-License-Identifier: Apache-2.0
"""Layers of contact by the command: bodies, walls and particles that do not pass, what is reported, what is refused."""

import re
import unittest

from case_folder import SQUARE_NAMES, TETRAHEDRON, TRIANGLE, CaseFolder, history, msh, square_elements, summary

BODY = """[mesh]
file = "{mesh}"
[[material]]
young = 1000
poisson = 0.3
density = 1
{more}
[integrator]
{integrator}
[run]
end_time = {end}
[output]
frames = 4
history = 40
"""
FLOOR = '[[wall]]\ntype = "plane"\npoint = [0, -0.2]\nnormal = [0.1, 1]\n'
DROP = '[initial]\nvelocity = ["0.3", "-2"]\n'
CONTACT = "[[contact]]\ndistance = 0.02\n"


def body(more, mesh="bodies.msh", integrator='method = "avi"', end=0.5):
    return BODY.format(more=more, mesh=mesh, integrator=integrator, end=end)


def squares(*places):
    """Unit squares at these places, each a group of its own."""
    points, elements, names = [], [], {}
    for k, (x, y) in enumerate(places):
        own, cells = square_elements(3)
        first = len(points)
        points += [(px + x, py + y, pz) for px, py, pz in own]
        elements += [(kind, 4 + k, [a + first for a in nodes]) for kind, _, nodes in cells if kind == TRIANGLE]
        names[4 + k] = (2, f"body{k}")
    return msh(points, elements, names)


def crossing_tetrahedra():
    """An edge of the second passes through the first's face, far from every vertex."""
    points = [(-3, -3, 0), (3, -3, 0), (0, 3, 0), (0, 0, -3), (0, 0, 1), (0.1, 0, -1), (4, 4, 4), (4, -4, 4)]
    return msh(points, [(TETRAHEDRON, 1, [0, 2, 1, 3]), (TETRAHEDRON, 2, [4, 5, 6, 7])], {1: (3, "lower"), 2: (3, "upper")})


class Contact(CaseFolder):
    def test_a_body_bounces_off_a_slope_and_energy_comes_back(self):
        self.write("bodies.msh", squares((0, 0)))
        self.write("case.toml", body(FLOOR + CONTACT + DROP))
        done = self.tempi("run", "case.toml")
        self.assertEqual(0, done.returncode, done.stderr)
        made, rows = summary(self.folder / "case.out"), history(self.folder / "case.out")
        self.assertLess(made["energy"]["band"], 1e-2)
        self.assertGreater(made["measures"]["contact_strikes"], 100)
        self.assertGreater(max(rows["contact_1.force_y"]), 0)
        self.assertEqual(rows["contact_1.force"][0], 0)
        self.assertGreater(min(rows["contact_1.distance"]), 0.002)
        self.assertGreater(rows["linear_momentum_y"][-1], 1.0)
        drawn = self.tempi("plot", "case.out")
        self.assertIn("contact.png", drawn.stdout, drawn.stderr)

    def test_threads_and_interruptions_leave_no_trace(self):
        self.write("bodies.msh", squares((0, 0), (0.3, 1.1)))
        self.write("case.toml", body(CONTACT + '[initial]\nvelocity = ["0", "Y > 1.05 ? -2 : 2"]\n'))
        for name, more in (("one", []), ("two", ["--threads", "2"])):
            self.assertEqual(0, self.tempi("run", "case.toml", "--out", name, *more).returncode)
        texts = [(self.folder / name / "history.csv").read_text() for name in ("one", "two")]
        self.assertEqual(*texts)
        self.assertLess(summary(self.folder / "one")["linear_momentum"]["error"], 1e-13)
        self.assertLess(summary(self.folder / "one")["angular_momentum"]["error"], 1e-13)

    def test_who_looks_changes_nothing(self):
        self.write("bodies.msh", squares((0, 0), (0.3, 1.1)))
        self.write("case.toml", body(CONTACT + '[initial]\nvelocity = ["0", "Y > 1.05 ? -2 : 2"]\n'))
        rows = []
        for name, more in (("plain", []), ("watched", ["--set", "integrator.residual=true"])):
            self.assertEqual(0, self.tempi("run", "case.toml", "--out", name, *more).returncode)
            rows.append(history(self.folder / name))
        for column, values in rows[0].items():
            self.assertEqual(list(values), list(rows[1][column]), column)

    def test_spheres_meet_walls_that_move(self):
        self.write("case.toml", """[particles]
mass = 1
radius = 0.1
position = [[0, 0], [0.5, 0.02]]
[[wall]]
type = "sphere"
centre = [-1, 0]
radius = 0.5
velocity = [1, 0]
[[contact]]
distance = 0.02
[[load]]
type = "gravity"
value = [0, 0]
[integrator]
method = "avi"
step = 0.01
[run]
end_time = 2
[output]
history = 100
""")
        done = self.tempi("run", "case.toml")
        self.assertEqual(0, done.returncode, done.stderr)
        made, rows = summary(self.folder / "case.out"), history(self.folder / "case.out")
        self.assertGreater(rows["linear_momentum_x"][-1], 1.9)  # a wall at 1 m/s sends one off at 2 m/s
        self.assertAlmostEqual(rows["external_work"][-1], rows["total_energy"][-1], 4)
        self.assertLess(made["energy"]["band"], 3e-3)

    def test_a_corner_does_not_pass_a_rod(self):
        points = [(0, 0, 0.35), (0.5, 0.1, 1), (-0.4, 0.5, 1), (-0.3, -0.5, 1.1)]
        self.write("corner.msh", msh(points, [(TETRAHEDRON, 1, [0, 1, 2, 3])], {1: (3, "corner")}))
        rod = '[[wall]]\ntype = "cylinder"\npoint = [0, 0, 0]\naxis = [1, 0.2, 0]\nradius = 0.25\n'
        self.write("case.toml", body(rod + CONTACT + '[initial]\nvelocity = ["0", "0", "-1"]\n', "corner.msh"))
        done = self.tempi("run", "case.toml")
        self.assertEqual(0, done.returncode, done.stderr)
        rows = history(self.folder / "case.out")
        self.assertGreater(max(rows["contact_1.force_z"]), 0)
        self.assertGreater(min(rows["contact_1.distance"]), 0.002)

    def test_check_tells_surfaces_and_layers(self):
        self.write("bodies.msh", squares((0, 0), (0.3, 1.1)))
        self.write("case.toml", body('[[contact]]\nbetween = ["body0", "body1"]\ndistance = 0.02\n' + DROP))
        said = self.tempi("check", "case.toml")
        self.assertEqual(0, said.returncode, said.stderr)
        self.assertRegex(said.stdout, r"contact  0 faces, 24 edges, 24 vertices; layers from 0\.02 to 0\.002 m")
        self.assertIn("first steps", said.stdout)

    def test_check_tells_how_often_pairs_that_touch_strike(self):
        self.write("bodies.msh", squares((0, 0)))
        flat = '[[wall]]\ntype = "plane"\npoint = [0, -0.021]\nnormal = [0, 1]\n[[load]]\ntype = "gravity"\nvalue = [0, -1]\n'
        self.write("case.toml", body(flat + CONTACT, end=3).replace("history = 40", "history = 3000"))
        found = re.search(r"1000 pairs that touch all the time strike (\S+) times", self.tempi("check", "case.toml").stdout)
        self.assertIsNotNone(found)
        self.assertEqual(0, self.tempi("run", "case.toml").returncode)
        pairs = history(self.folder / "case.out")["contact_1.pairs"]
        self.assertGreater(sum(pairs), len(pairs))  # it lies there
        told = float(found[1]) * sum(pairs) / len(pairs) / 1000
        self.assertAlmostEqual(1, summary(self.folder / "case.out")["measures"]["contact_strikes"] / told, delta=0.35)

    def test_cells_look_while_the_first_layer_is_crossed(self):
        self.write("bodies.msh", squares((0, 0)))
        crossing = 0.9 * 0.02 * (1 - 0.5**0.5)  # [m]
        steps = {speed: self.first_step(body(CONTACT + f"speed = {speed}\nstiffness = 1e3\n")) for speed in (10, 500, 5000)}
        self.assertLess(steps[500], 0.7 * crossing / 500 * 1.001)
        self.assertLess(steps[500], 0.9 * steps[10])  # a control: there surface_safety binds
        self.assertAlmostEqual(steps[5000] / steps[500], 0.1, delta=1e-3)

    def first_step(self, text):
        self.write("case.toml", text)
        said = self.tempi("check", "case.toml")
        self.assertEqual(0, said.returncode, said.stderr)
        return float(re.search(r"steps +([0-9.e-]+) s", said.stdout).group(1))

    def test_cells_that_cannot_meet_anybody_before_the_end_are_left_alone(self):
        self.write("bodies.msh", squares((0, 0)))
        slow = CONTACT + "speed = 0.1\nstiffness = 1e3\n"
        free = self.first_step(body(""))
        wall = FLOOR.replace("-0.2", "{}")
        gravity = '[[load]]\ntype = "gravity"\nvalue = [0, {}]\n'
        for more in (slow, slow + wall.format(-0.5), slow + gravity.format(-1)):
            self.assertAlmostEqual(self.first_step(body(more)) / free, 1.0, delta=1e-6, msg=more)
        moves = '[[fix]]\nwhere = "Y < 1e-9"\ncomponents = ["x"]\ndisplacement = ["0.1*t"]\n'
        for more in (slow + wall.format(-0.1), slow + gravity.format('"-1-t"'), slow + moves, CONTACT + "stiffness = 1e3\n"):
            self.assertLess(self.first_step(body(more)) / free, 0.4, msg=more)

    def test_a_wall_goes_where_its_formula_has_it(self):
        """A floor that is pushed up and stays there takes the square along, and its work is booked."""
        points, elements = square_elements(3)
        self.write("square.msh", msh(points, elements, SQUARE_NAMES))
        floor = FLOOR.replace("-0.2", "-0.05") + 'displacement = [0, "t < 1 ? 0.5*t^2 : t - 0.5"]\n'
        self.write("case.toml", body(CONTACT + floor, "square.msh", end=2))
        check = self.tempi("check", "case.toml")
        self.assertEqual(0, check.returncode, check.stderr)
        self.assertIn("for speeds to 1 m/s", check.stdout)
        done = self.tempi("run", "case.toml")
        self.assertEqual(0, done.returncode, done.stderr)
        rows = history(self.folder / "case.out")
        self.assertGreater(rows["linear_momentum_y"][-1], 0.9)  # its mass is 1, thrown ahead of the floor or with it
        self.assertGreater(rows["external_work"][-1], 0.4)
        self.assertAlmostEqual(rows["total_energy"][-1] / rows["external_work"][-1], 1, delta=2e-3)

    def test_what_friction_takes_is_in_the_history(self):
        self.write("bodies.msh", squares((0, 0)))
        self.write("case.toml", body(FLOOR + CONTACT + "friction = 0.3\n" + DROP))
        done = self.tempi("run", "case.toml")
        self.assertEqual(0, done.returncode, done.stderr)
        rows, made = history(self.folder / "case.out"), summary(self.folder / "case.out")
        self.assertLess(made["measures"]["friction_work"], 0)
        self.assertAlmostEqual(rows["damping_work"][-1] / made["measures"]["friction_work"], 1, delta=1e-12)

    def test_what_cannot_be_is_refused_with_the_reason(self):
        self.write("bodies.msh", squares((0, 0), (0.3, 1.01)))
        self.write("crossing.msh", crossing_tetrahedra())
        points, elements = square_elements(3)
        self.write("square.msh", msh(points, elements, SQUARE_NAMES))
        queue = 'method = "avi"\nlattice = "exact"'
        for text, why in (
                (body(CONTACT), "0.01 m apart"),
                (body("[[contact]]\n"), "needs a distance"),
                (body(CONTACT + "inner_distance = 0.05\n", "square.msh"), "inner_distance"),
                (body(CONTACT + "penalty = 1\n", "square.msh"), 'penalty belongs to law = "faces"'),
                (body(CONTACT + 'between = ["body0", "nobody"]\n'), "nobody"),
                (body(CONTACT, "square.msh", 'method = "newmark"'), "for avi on a lattice, not for newmark"),
                (body(CONTACT, "square.msh", queue), "the exact queue"),
                (body(CONTACT, "crossing.msh"), "cross where the run starts"),
                (body(CONTACT + FLOOR.replace("-0.2", "1.5"), "square.msh"), "beyond the wall"),
                (body(CONTACT + FLOOR + 'group = "left"\n', "square.msh"), "Leave out group, where and particles"),
                (body(FLOOR, "square.msh"), "or a [[contact]] of layers"),
                (body(FLOOR + "velocity = [0, 1]\npenalty = 1e-3\n", "square.msh"), "only walls of layered contact move"),
                (body(FLOOR + "displacement = [0, \"t\"]\npenalty = 1e-3\n", "square.msh"), "leave out velocity and displacement"),
                (body(CONTACT + FLOOR + 'displacement = [0, "X*t"]\n', "square.msh"), "depends on t, not on X"),
                (body(CONTACT + FLOOR + "displacement = [0]\n", "square.msh"), "displacement has 1 component "),
                (body(CONTACT + FLOOR + 'displacement = [0, "1/(t-1)^0.5"]\n', "square.msh"), "displacement of a wall"),
                (body(CONTACT + FLOOR + 'displacement = [0, "0.3*cos(t)"]\n', "square.msh"), "beyond the wall"),
                (body(CONTACT + '[[wall]]\ntype = "sphere"\ncentre = [0, 0]\nradius = 0.3\ninside = true\n', "square.msh"),
                 "beyond the wall"),
                (body(CONTACT + "energy_restitution = 2\n", "square.msh"), "energy_restitution"),
                (body(CONTACT + "frictoin = 0.2\n", "square.msh"), "friction")):
            self.write("case.toml", text)
            done = self.tempi("check", "case.toml")
            self.assertEqual(2, done.returncode, text)
            self.assertIn(why, done.stderr)


if __name__ == "__main__":
    unittest.main()
