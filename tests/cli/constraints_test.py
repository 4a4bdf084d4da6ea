# SPDX-License-Identifier: Apache-2.0
"""Constraints and dampers from case files: exact motions, what is kept and booked, what is refused."""

import math
import unittest

from case_folder import case_text, history, square, summary
from refused import Refused

PENDULUM = """title = "Pendulum"
[particles]
mass = 2
position = [[{x!r}, {y!r}]]
velocity = [[{vx!r}, {vy!r}]]
[[potential]]
type = "uniform-field"
acceleration = [0, -9.81]
[[constraint]]
type = "link"
anchor = [0, 0]
[[probe]]
name = "bob"
particles = [0]
[integrator]
method = "{method}"
step = {step}
[run]
end_time = {end!r}
[output]
frames = 1
history = {rows}
"""
TRIANGLE = """title = "Triangle"
[particles]
mass = [1, 2, 3]
position = [[0, 0], [1, 0], [0, 1]]
velocity = [[0, 1], [0, 2], [-1, 1]]
[[potential]]
type = "gravity"
G = 1
{constraint}
[integrator]
method = "{method}"
step = 0.01
[run]
end_time = 1
[output]
frames = 1
history = 10
"""
RIGID = '[[constraint]]\ntype = "rigid-body"'


class Case(Refused):
    def results(self, text):
        self.write("case.toml", text)
        done = self.tempi("run", "case.toml", "--overwrite")
        self.assertEqual(0, done.returncode, done.stderr)
        return self.folder / "case.out"


class Constraints(Case):
    def swing(self, method, step, amplitude=1.0):
        """The period of a pendulum released at an amplitude, by where its bob is after the exact period."""
        a, b = 1.0, math.cos(amplitude / 2)
        while abs(a - b) > 1e-15:
            a, b = (a + b) / 2, math.sqrt(a * b)
        period = 2 * math.pi / a / math.sqrt(9.81)
        path = history(self.results(PENDULUM.format(
            x=math.sin(amplitude), y=-math.cos(amplitude), vx=0.0, vy=0.0, method=method, step=step, end=period / 4, rows=4)))
        return path["bob.displacement_x"][-1] + math.sin(amplitude)  # 0 at the bottom

    def test_a_pendulum_reaches_the_bottom_after_a_quarter_of_its_exact_period(self):
        for method in ("shake", "rattle"):
            coarse, fine = self.swing(method, 0.004), self.swing(method, 0.002)
            self.assertLess(abs(fine), 2e-5)
            self.assertAlmostEqual(2.0, math.log2(abs(coarse / fine)), delta=0.15)

    def test_a_rigid_body_keeps_its_distances_momenta_and_energy(self):
        for method in ("shake", "rattle"):
            results = self.results(TRIANGLE.format(constraint=RIGID, method=method))
            made = summary(results)
            self.assertLess(made["linear_momentum"]["error"], 1e-14)
            self.assertLess(made["angular_momentum"]["error"], 1e-13)
            self.assertLess(made["energy"]["band"], 1e-4)
            potential = history(results)["potential_energy"]
            self.assertLess(max(potential) - min(potential), 1e-12)

    def test_distances_links_and_surfaces_go_together(self):
        text = PENDULUM.format(x=1.0, y=0.0, vx=0.0, vy=1.0, method="rattle", step=0.002, end=1.0, rows=10)
        text = text.replace("position = [[1.0, 0.0]]", "position = [[1.0, 0.0], [2.0, 0.0]]")
        text = text.replace("velocity = [[0.0, 1.0]]", "velocity = [[0.0, 1.0], [0.0, 0.0]]")
        text = text.replace("anchor = [0, 0]", 'anchor = [0, 0]\nparticles = [0]\n[[constraint]]\ntype = "distance"\nwithin = 1.5')
        band = summary(self.results(text))["energy"]["band"]
        self.assertLess(band, 2e-4)
        bead = PENDULUM.format(x=0.0, y=1.0, vx=1.0, vy=0.0, method="rattle", step=0.002, end=1.0, rows=50)
        bead = bead.replace('type = "link"\nanchor = [0, 0]', 'type = "surface"\nexpression = "Y - 1 + X^2"')
        path = history(self.results(bead))
        for x, y in zip(path["bob.displacement_x"], path["bob.displacement_y"]):
            self.assertAlmostEqual(-x * x, y, delta=1e-12)

    def test_constraints_that_cannot_be_kept_are_refused(self):
        def refuse(constraint, *words, method="rattle", at="[[constraint]]"):
            self.refused(*words, at=at, meshes={"none": ""}, text=TRIANGLE.format(constraint=constraint, method=method))

        distance = '[[constraint]]\ntype = "distance"\n'
        refuse(RIGID, "constraint", "rattle", method="newmark", at="[integrator]")
        refuse(RIGID, "constraint", "shake", method="avi", at="[integrator]")
        refuse(distance + "pairs = [[0, 1]]\nlength = 1.5", "1.5", "nodes 0 and 1")
        refuse(distance + "pairs = [[0, 1]]\nlength = -1", "length = -1 m", at="length")
        refuse(distance + "pairs = [[0, 3]]", "names 3")
        refuse(distance + "pairs = [[1, 1]]", "node 1")
        refuse(distance, "needs pairs or within")
        refuse('[[constraint]]\ntype = "link"', "needs anchor")
        refuse('[[constraint]]\ntype = "link"\nanchor = [0]', "1 components", "2 dimensions")
        refuse(distance + "pairs = [[0, 1]]\nanchor = [0, 0]", "anchor belongs to the type link", at="anchor")
        refuse('[[constraint]]\ntype = "rigid-body"\nsize = 2', "bodies of 2")
        refuse('[[constraint]]\ntype = "surface"\nexpression = "X^2 + t"', "depends on t")
        refuse('[[constraint]]\ntype = "disance"', 'Did you mean "distance"', at="type")
        refuse(RIGID + "\n" + distance + "pairs = [[0, 1]]", "depend", at=None)  # over-constrained

    def test_velocities_against_the_constraints_are_refused(self):
        self.refused("velocit", text=TRIANGLE.format(constraint=RIGID, method="rattle").replace("[0, 2]", "[3, 2]"),
                     meshes={"none": ""}, at="[[constraint]]")


ROW = """title = "Damped"
[particles]
mass = 2
position = [[0, 0], [1, 0], [2, 0.1]]
velocity = [[0, 1], [0, 0], [0.5, 0]]
[[potential]]
type = "spring"
within = 1.2
stiffness = 40
length = 1
{damping}
[[probe]]
name = "all"
where = "1 > 0"
[integrator]
method = "{method}"
step = 0.01
[run]
end_time = 2
[output]
frames = 1
history = 20
"""
EVERY = ("avi", "newmark", "symplectic-euler-a", "midpoint", "trapezoidal", "symmetric-midpoint", "gauss", "lobatto",
         "rk4", "energy-momentum", "avi-implicit")


class Damping(Case):
    def damped(self, damping, method="newmark"):
        text = ROW.format(damping=damping, method=method)
        if method == "avi-implicit":
            text = text.replace("step = 0.01", "safety = 0.1\nimplicit_step = 0.02")
        return self.results(text)

    def test_drag_slows_the_centre_of_mass_exactly_enough(self):
        for method in EVERY:
            with self.subTest(method=method):
                results = self.damped('[[damping]]\ntype = "drag"\ncoefficient = 0.5', method)
                path = history(results)
                for c in "xy":
                    v = path[f"all.velocity_{c}"]
                    self.assertAlmostEqual(math.exp(-0.5 / 2 * 2.0), v[-1] / v[0], delta=3e-3 if "euler" in method else 3e-5)
                self.assertLess(summary(results)["linear_momentum"]["error"], 1e-12)
                self.assertLess(path["damping_work"][-1], -0.1)

    def test_what_dampers_take_is_what_the_energy_loses(self):
        for damping in ('type = "kelvin-voigt"\ncoefficient = 0.7', 'type = "rayleigh"\nalpha = 0.1\nbeta = 0.01'):
            for method in EVERY:
                with self.subTest(method=method, damping=damping):
                    results = self.damped("[[damping]]\n" + damping, method)
                    path, made = history(results), summary(results)
                    lost = path["total_energy"][0] - path["total_energy"][-1]
                    self.assertGreater(lost, 0.01)
                    self.assertAlmostEqual(-path["damping_work"][-1], lost, delta=0.1 * lost if "euler" in method else 0.03 * lost)
                    self.assertLess(made["linear_momentum"]["error"], 1e-12)

    def test_bodies_are_damped_too(self):
        for damping in ('type = "rayleigh"\nalpha = 20\nbeta = 1e-4', 'type = "kelvin-voigt"\nbulk_viscosity = 100\nshear_viscosity = 50',
                        'type = "drag"\ncoefficient = 500'):
            self.write("square.msh", square())
            text = case_text(initial='velocity = ["0.1*Y", "0"]', integrator="safety = 0.3") + "\n[[damping]]\n" + damping + "\n"
            results = self.results(text)
            path = history(results)
            self.assertLess(path["damping_work"][-1], 0)
            self.assertAlmostEqual(path["total_energy"][0] - path["total_energy"][-1], -path["damping_work"][-1],
                                   delta=0.05 * path["total_energy"][0])
            self.assertLess(summary(results)["linear_momentum"]["error"], 1e-12)

    def test_dampers_that_do_not_fit_are_refused(self):
        def refuse(damping, *words, at="[[damping]]", method="newmark"):
            case = ROW.format(damping="[[damping]]\n" + damping, method=method)
            self.refused(*words, at=at, meshes={"none": ""}, text=case)

        refuse('type = "drag"', "no strength", "coefficient")
        refuse('type = "drag"\ncoefficient = -1', "coefficient = -1 kg/s", at="coefficient")
        refuse('type = "drag"\nalpha = 1', "alpha does not go with drag", at="alpha")
        refuse('type = "kelvin-voigt"\nbulk_viscosity = 1', "takes coefficient", at="bulk_viscosity")
        refuse('type = "kelvin-voight"\ncoefficient = 1', 'Did you mean "kelvin-voigt"', at="type")
        refuse('type = "drag"\ncoefficient = 1\nparticles = [5]', "particle 5 does not exist", at="particles = [5]")
        refuse('type = "drag"\ncoefficient = 1', "symplectic-energy-momentum", "dampers",
               method="symplectic-energy-momentum", at="[integrator]")


class TimeAdaption(Case):
    ORBIT = """title = "Orbit"
[particles]
mass = [0.75, 0.25]
position = [[-0.125, 0], [0.375, 0]]
velocity = [[0, -0.4330127018922193], [0, 1.299038105676658]]
[[potential]]
type = "gravity"
G = 1
[integrator]
{integrator}
step = 0.05
[run]
end_time = 20
[output]
frames = 1
history = 40
"""

    def test_symplectic_energy_momentum_keeps_its_energy_and_varies_its_step(self):
        made = summary(self.results(self.ORBIT.format(
            integrator='method = "symplectic-energy-momentum"\nstep_bounds = [0.1, 20]')))
        measures = made["measures"]
        self.assertEqual(0, measures["steps_without_solution"])
        self.assertLess(measures["largest_residual_while_solved"], 1e-12 * abs(measures["discrete_energy"]))
        self.assertGreater(measures["largest_step"], 1.5 * measures["smallest_step"])
        self.assertLess(made["angular_momentum"]["error"], 1e-12)

    def test_adaptive_avi_says_how_often_it_had_no_root(self):
        made = summary(self.results(self.ORBIT.format(integrator='method = "avi-adaptive"\nstep_bounds = [0.5, 2]')))
        measures = made["measures"]
        self.assertAlmostEqual(1.0, measures["fraction_accepted"] + measures["fraction_without_root"], delta=1e-12)
        self.assertLess(made["angular_momentum"]["error"], 1e-12)

    def test_implicit_avi_runs_stiff_elements_beyond_their_stable_step(self):
        chain = ROW.format(damping='[[potential]]\ntype = "spring"\npairs = [[0, 2]]\nstiffness = 4e5\nlength = 2.0024984394500787',
                           method="avi-implicit").replace("step = 0.01", "safety = 0.3\nimplicit_step = 0.02")
        self.refused("step 0.02 s", "exceeds its stable step", meshes={"none": ""}, at="step",
                     text=chain.replace("avi-implicit", "avi").replace("safety = 0.3\nimplicit_step", "step"))
        chain = chain.replace("end_time = 2", "end_time = 200")
        made = summary(self.results(chain))
        self.assertGreaterEqual(made["measures"]["implicit_elements"], 1)
        self.assertEqual(0.02, made["step"]["max"])
        self.assertLess(made["energy"]["band"], 0.05)
        self.assertLess(made["angular_momentum"]["error"], 1e-12)

    def test_what_does_not_fit_is_refused(self):
        def refuse(integrator, *words, at="[integrator]"):
            self.refused(*words, at=at, meshes={"none": ""}, text=self.ORBIT.format(integrator=integrator))

        refuse('method = "avi-implicit"', "needs implicit_step")
        refuse('method = "avi-adaptive"\nstep_bounds = [2, 4]', "2", at="step_bounds")
        refuse('method = "avi-adaptive"\nstep_bounds = [1]', "must be two", at="step_bounds")
        refuse('method = "midpoint"\nstep_bounds = [0.5, 2]', "belongs to", at="step_bounds")
        refuse('method = "midpoint"\nresidual = true', "no local updates")
        refuse('method = "gauss-4"', 'Did you mean "gauss"', at="method")


if __name__ == "__main__":
    unittest.main()
