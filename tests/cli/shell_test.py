# SPDX-License-Identifier: Apache-2.0
"""Thin shells by the command: what the case file makes of triangles in space, with everything there is."""

import math
import unittest

from case_folder import LINE, TETRAHEDRON, TRIANGLE, CaseFolder, history, msh, square_elements, summary

SHELL = 'model = "shell"\nthickness = 0.02\nyoung = 1e6\npoisson = 0.3\ndensity = 1000'
CASE = """[mesh]
file = "{mesh}"
{more}
[run]
end_time = {end}
[output]
frames = 2
history = 20
"""
SPIN = '[initial]\nvelocity = ["-Y", "X+0.3", "2*X*Y"]\n'


def sheet(n=4, height=0.0, groups=(1, 2, 3)):
    """A square of n by n pairs of triangles: cloth, left, right. Every other diagonal is turned."""
    points, elements = square_elements(n)
    renamed = {1: groups[0], 2: groups[1], 3: groups[2]}
    points = [(x, y, height + 0.1 * x * x) for x, y, _ in points]
    return points, [(kind, renamed[group], nodes) for kind, group, nodes in elements]


NAMES = {1: (2, "cloth"), 2: (1, "left"), 3: (1, "right")}


def material(text=SHELL, group=None):
    return "[[material]]\n" + (f'group = "{group}"\n' if group else "") + text + "\n"


class Shell(CaseFolder):
    def given(self, more, mesh="cloth.msh", end=0.05):
        self.write("case.toml", CASE.format(mesh=mesh, more=more, end=end))

    def ran(self, *options):
        done = self.tempi("run", "case.toml", "--overwrite", *options)
        self.assertEqual(0, done.returncode, done.stderr)
        return summary(self.folder / "case.out"), history(self.folder / "case.out")

    def refused(self, more, *words, mesh="cloth.msh"):
        self.given(more, mesh)
        done = self.tempi("check", "case.toml")
        self.assertEqual(2, done.returncode, done.stdout)
        for word in words:
            self.assertIn(word, done.stderr)

    def setUp(self):
        super().setUp()
        self.write("cloth.msh", msh(*sheet(), NAMES))

    def test_a_free_shell_keeps_its_momenta_with_every_method(self):
        self.given(material() + SPIN)
        for method, more in (
            ("avi", ()),
            ("avi", ("--set", "integrator.lattice=exact")),
            ("avi", ("--set", "integrator.coupling=mollified")),
            ("avi-implicit", ("--set", "integrator.implicit_step=1e-3")),
            ("avi-adaptive", ()),
            ("newmark", ()),
            ("midpoint", ()),
            ("gauss", ()),
            ("rattle", ()),
            ("symplectic-energy-momentum", ()),
            ("energy-stepping", ("--set", "integrator.energy_step=0.5")),
            ("async-energy-stepping", ("--set", "integrator.energy_step=0.05", "--set", "integrator.subdomains=2")),
        ):
            with self.subTest(method, more=more):
                made, _ = self.ran("--set", f"integrator.method={method}", *more)
                self.assertLess(made["linear_momentum"]["error"], 1e-12)
                self.assertLess(made["angular_momentum"]["error"], 1e-12)
                self.assertLess(made["energy"]["band"], 5e-2)

    def test_rounding_of_a_shell_at_rest_is_no_gain_of_energy(self):
        """Its angles are rounding, and so is its energy, until the load begins."""
        late = '[[fix]]\ngroup = "left"\nclamped = true\n[[load]]\ntype = "gravity"\nvalue = ["0", "0", "t > 0.15 ? -1 : 0"]\n'
        self.given(material() + late, end=0.2)
        for method in ("avi", "newmark", "gauss", "static"):
            with self.subTest(method):
                made, rows = self.ran("--set", f"integrator.method={method}")
                self.assertLess(max(rows["total_energy"][:15]), 1e-20)
                self.assertGreater(made["energy"]["reference"], 1e-6)

    def test_levels_of_an_undeformed_shell_do_not_sink(self):
        """Its bending starts at the bottom of its energy, where the slope is rounding of either sign."""
        start = '[initial]\nvelocity = ["-0.1", "-0.05*X", "-0.03*Y"]\n[[fix]]\ngroup = "left"\nclamped = true\n'
        self.given(material(SHELL + '\nstretching = "neo-hookean"') + start)
        for method in ("energy-stepping", "async-energy-stepping"):
            with self.subTest(method):
                made, _ = self.ran("--set", f"integrator.method={method}", "--set", "integrator.energy_step=5")
                self.assertEqual(0, made["measures"]["downhill"])

    def test_solids_and_other_shells_of_files_of_their_own_stand_beside_it(self):
        points = [(0, 0, 1), (1, 0, 1), (0, 1, 1), (0, 0, 2)]
        self.write("tip.msh", msh(points, [(TETRAHEDRON, 2, [0, 1, 2, 3])], {2: (3, "body")}))
        self.write("more.msh", msh(*sheet(2, height=-1), {1: (2, "under"), 2: (1, "left"), 3: (1, "right")}))
        meshes = 'cloth.msh"\nbeside = ["tip.msh", "more.msh"] #'
        solid = material("young = 1e6\npoisson = 0.3\ndensity = 1000", "body")
        self.given(material(SHELL, "cloth") + material(SHELL, "under") + solid + SPIN, meshes)
        made, _ = self.ran()
        self.assertEqual(4 + 25 + 9, made["nodes"])
        self.assertLess(made["linear_momentum"]["error"], 1e-12)
        self.assertLess(made["angular_momentum"]["error"], 1e-12)
        self.refused(material(SHELL, "clth") + solid, "cloth.msh", "no triangles", mesh=meshes)
        meshes = 'tip.msh"\nbeside = ["tip.msh"] #'
        self.refused(material(SHELL, "cloth") + solid, "no triangles in group 'cloth'", "none", mesh=meshes)

    def test_a_shell_of_neo_hookean_stretching_is_another_shell(self):
        self.given(material() + SPIN.replace("-Y", "-Y+3*X"))
        plain = self.ran()[1]["kinetic_energy"][-1]
        self.given(material(SHELL + '\nstretching = "neo-hookean"') + SPIN.replace("-Y", "-Y+3*X"))
        made, rows = self.ran()
        self.assertLess(made["energy"]["band"], 5e-2)
        self.assertGreater(abs(rows["kinetic_energy"][-1] / plain - 1), 1e-4)

    def test_threads_leave_no_trace(self):
        self.given(material() + SPIN + '[[load]]\ntype = "pressure"\ngroup = "cloth"\nvalue = 10\n', end=0.2)
        for name, more in (("one", []), ("two", ["--threads", "2"])):
            self.assertEqual(0, self.tempi("run", "case.toml", "--out", name, *more).returncode)
        self.assertEqual(
            (self.folder / "one" / "history.csv").read_bytes(), (self.folder / "two" / "history.csv").read_bytes()
        )

    def test_loads_and_dampers_act_on_shells(self):
        self.given(material() + '[[load]]\ntype = "gravity"\nvalue = [0, 0, -2]\n', end=0.5)
        made, rows = self.ran()
        mass = 1000 * 0.02 * 1.0066  # of the bent square
        self.assertAlmostEqual(-2 * 0.5, rows["linear_momentum_z"][-1] / mass, 3)
        # Pressure pushes against the normal, which is where nodes are counter-clockwise: here upwards.
        self.given(material() + '[[load]]\ntype = "pressure"\ngroup = "cloth"\nvalue = 10\n', end=0.1)
        _, rows = self.ran()
        self.assertAlmostEqual(-10 * 0.1, rows["linear_momentum_z"][-1], 2)
        for damping in ('type = "drag"\ncoefficient = 0.1', 'type = "rayleigh"\nalpha = 3'):
            self.given(material() + SPIN + f"[[damping]]\n{damping}\n")
            _, rows = self.ran()
            self.assertLess(rows["total_energy"][-1], 0.99 * rows["total_energy"][0])
            self.assertAlmostEqual(rows["damping_work"][-1], rows["total_energy"][-1] - rows["total_energy"][0], 2)

    def test_a_clamped_strip_is_a_cantilever(self):
        """omega = 3.516 sqrt(D / (rho h)) / L^2, D without 1 - nu^2: a strip bends freely across."""
        n = 16
        points = [(i / n, j / n, 0.0) for j in range(3) for i in range(n + 1)]

        def at(i, j):
            return j * (n + 1) + i

        elements = []
        for j in range(2):
            elements.append((LINE, 2, (at(0, j), at(0, j + 1))))
            for i in range(n):
                elements.append((TRIANGLE, 1, (at(i, j), at(i + 1, j), at(i, j + 1))))
                elements.append((TRIANGLE, 1, (at(i + 1, j), at(i + 1, j + 1), at(i, j + 1))))
        self.write("strip.msh", msh(points, elements, {1: (2, "cloth"), 2: (1, "left")}))
        young, h = 1e6, 0.02
        omega = 3.516 * math.sqrt(young * h**3 / 12 / (1000 * h))
        period = 2 * math.pi / omega
        probe = '[[probe]]\nname = "tip"\nwhere = "X > 0.99"\n'
        start = '[initial]\nvelocity = ["0", "0", "1e-3*X^2"]\n'
        seen = {}
        for clamped in ("true", "false"):
            hold = f'[[fix]]\ngroup = "left"\nclamped = {clamped}\n'
            self.given(material() + hold + start + probe, mesh="strip.msh", end=0.75 * period)
            _, rows = self.ran()
            path = rows["tip.displacement_z"]
            crossing = next((t for t, a, b in zip(rows["time"], path[1:], path[2:]) if a > 0 > b), None)
            seen[clamped] = crossing
        self.assertIsNone(seen["false"])  # it turns about its edge for good
        # Half a period; hinges on right triangles bend as no beam of this Poisson's ratio does.
        self.assertAlmostEqual(1.0, 2 * seen["true"] / period, delta=0.15)

    def test_a_solid_wears_a_skin(self):
        points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)]
        tetrahedra = [(TETRAHEDRON, 1, [0, 1, 2, 3]), (TETRAHEDRON, 1, [1, 2, 3, 4])]
        skin = [(TRIANGLE, 2, [0, 1, 2]), (TRIANGLE, 2, [0, 1, 3])]
        self.write("coated.msh", msh(points, tetrahedra + skin, {1: (3, "body"), 2: (2, "skin")}))
        solid = material("young = 1e5\npoisson = 0.3\ndensity = 100", "body")
        self.given(solid + material(SHELL, "skin") + SPIN + "[[contact]]\ndistance = 0.01\n", mesh="coated.msh")
        done = self.tempi("check", "case.toml")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("2 of type 3-node shell", done.stdout)
        self.assertIn("hinges: 1 terms", done.stdout)
        self.assertIn("6 faces", done.stdout)
        made, _ = self.ran()
        self.assertLess(made["angular_momentum"]["error"], 1e-12)
        # Without the shell's material its triangles are what they were.
        self.given(solid + SPIN, mesh="coated.msh")
        self.assertIn("mesh     2 cells", self.tempi("check", "case.toml").stdout)

    def test_a_solid_with_a_skin_touches_as_a_body_and_by_its_skin(self):
        points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)]
        points += [(x, y, z - 3) for x, y, z in points[:4]]
        solids = [(TETRAHEDRON, 1, [0, 1, 2, 3]), (TETRAHEDRON, 1, [1, 2, 3, 4]), (TETRAHEDRON, 3, [5, 6, 7, 8])]
        skin = [(TRIANGLE, 2, [0, 1, 2]), (TRIANGLE, 2, [0, 1, 3])]
        names = {1: (3, "body"), 2: (2, "skin"), 3: (3, "other")}
        self.write("coated.msh", msh(points, solids + skin, names))
        rubber = "young = 1e5\npoisson = 0.3\ndensity = 100"
        materials = material(rubber, "body") + material(rubber, "other") + material(SHELL, "skin")
        for group, faces in (("body", 10), ("skin", 6)):
            contact = f'[[contact]]\nbetween = ["{group}", "other"]\ndistance = 0.01\n'
            self.given(materials + contact + SPIN, mesh="coated.msh")
            done = self.tempi("check", "case.toml")
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertIn(f"{faces} faces", done.stdout)
        # Pressure pushes into the solid, however the skin's triangles are numbered: the first here is downwards outside.
        press = '[[load]]\ntype = "pressure"\nwhere = "Z < 1e-9 && Z > -1"\nvalue = 10\n'
        self.given(materials + press, mesh="coated.msh")
        _, rows = self.ran()
        self.assertAlmostEqual(10 * 0.5 * 0.05, rows["linear_momentum_z"][-1], 3)

    def test_shells_of_abaqus_decks(self):
        self.write(
            "deck.inp",
            "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 0, 1, 0\n4, 1, 1, 0.2\n"
            "*ELEMENT, TYPE=S3, ELSET=CLOTH\n1, 1, 2, 3\n2, 2, 4, 3\n",
        )
        self.given(material(SHELL, "CLOTH") + SPIN, mesh="deck.inp")
        made, _ = self.ran()
        self.assertEqual(3, made["elements"])  # and the hinge
        self.refused(material("young = 1\npoisson = 0\ndensity = 1"), "shell", mesh="deck.inp")

    def test_shells_touch(self):
        low, high = sheet(4), sheet(3, height=0.05, groups=(4, 5, 6))
        points = low[0] + high[0]
        elements = low[1] + [(kind, group, [a + len(low[0]) for a in nodes]) for kind, group, nodes in high[1]]
        names = {**NAMES, 4: (2, "upper"), 5: (1, "l"), 6: (1, "r")}
        self.write("two.msh", msh(points, elements, names))
        towards = '[initial]\nvelocity = ["0", "0", "Z > 0.049+0.1*X^2 ? -3 : 0"]\n'
        self.given(material() + towards + "[[contact]]\ndistance = 0.01\n", mesh="two.msh", end=0.05)
        made, rows = self.ran()
        self.assertGreater(made["measures"]["contact_strikes"], 100)
        self.assertLess(made["linear_momentum"]["error"], 1e-12)
        self.assertLess(made["angular_momentum"]["error"], 1e-12)
        self.assertLess(made["energy"]["band"], 2e-2)
        self.assertGreater(min(rows["contact_1.distance"]), 0.001)
        self.refused(
            material() + '[[contact]]\nlaw = "faces"\npenalty = 1e-3\n', "faces", "shells have none", mesh="two.msh"
        )

    def test_shells_that_cross_are_refused(self):
        for turned in (False, True):
            other = [4, 6, 5] if turned else [4, 5, 6]
            points = [(-3, -3, 0), (3, -3, 0), (0, 3, 0), (9, 9, 9), (0, 0, -1), (0.1, 0, 1), (4, 4, 4)]
            self.write("cross.msh", msh(points, [(TRIANGLE, 1, [0, 1, 2]), (TRIANGLE, 1, other)], {1: (2, "cloth")}))
            self.refused(material() + "[[contact]]\ndistance = 0.01\n", "cross", mesh="cross.msh")

    def test_frames_have_stress_and_curvature(self):
        self.given(material() + SPIN)
        self.ran()
        frame = (self.folder / "case.out" / "frames" / "frame_00002.vtu").read_bytes()
        for name in (b'"stress"', b'"curvature"', b'"strain_energy"', b'Name="Dimension"'):
            self.assertIn(name, frame)
        drawn = self.tempi("plot", "case.out")
        self.assertEqual(0, drawn.returncode, drawn.stderr)
        self.assertIn("overview.png", drawn.stdout)

    def test_a_mesh_of_shells_is_not_adapted(self):
        self.given(material() + '[integrator]\nmethod = "static"\n[[fix]]\ngroup = "left"\n')
        done = self.tempi("adapt", "case.toml")
        self.assertEqual(2, done.returncode, done.stdout)
        self.assertIn("of solid elements: the bending of shells has none. Run the case as it is.", done.stderr)

    def test_what_is_no_shell_is_refused(self):
        self.refused(material(SHELL.replace("thickness = 0.02\n", "")), "thickness")
        self.refused(material(SHELL.replace("0.02", "-1")), "thickness")
        self.refused(material(SHELL + '\nstretching = "linear-elastic"'), "stretching", "neo-hookean")
        solid = "young = 1\npoisson = 0\ndensity = 1"
        self.refused(material(solid), "plane", 'model = "shell"')
        self.write("flat.msh", msh(*square_elements(2), NAMES))
        self.refused(material("thickness = 1\n" + solid), "thickness", 'model = "shell"', mesh="flat.msh")
        self.refused(material(SHELL, "left"), "left", "no triangles")
        self.refused(material(SHELL, "clth"), "no triangles", "clth", "cloth")
        self.refused(material() + '[[damping]]\ntype = "kelvin-voigt"\nshear_viscosity = 1\n', "viscosity")
        self.refused(material() + '[[damping]]\ntype = "rayleigh"\nbeta = 1e-5\n', "viscosity")
        self.refused(material() + "[integrator]\ncourant = 0.1\n", "courant", "bending")
        self.refused(material() + '[integrator]\nmass_shares = "own"\n', "hinge", "without mass")
        self.refused(material() + '[[load]]\ntype = "traction"\ngroup = "left"\nvalue = [1, 0, 0]\n', "left")
        inner = '[[fix]]\nwhere = "abs(X-0.5) < 0.1 && abs(Y-0.5) < 0.1"\nclamped = true\n'
        self.refused(material() + inner, "outer edge")
        points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, -1, 0), (0, 1, 1)]
        fins = [(TRIANGLE, 1, [0, 1, a]) for a in (2, 3, 4)]
        self.write("fins.msh", msh(points, fins, {1: (2, "cloth")}))
        self.refused(material(), "3 triangles", "nodes 1 and 2", mesh="fins.msh")
        self.write("mixed.msh", msh(points, [(TETRAHEDRON, 2, [0, 1, 2, 3]), fins[2]], {1: (2, "skin"), 2: (3, "body")}))
        self.refused(material(), "solids", "group", mesh="mixed.msh")
        self.refused(material(SHELL, "skin") + material(SHELL, "body"), "body", "4-node tetrahedron", mesh="mixed.msh")


if __name__ == "__main__":
    unittest.main()
