# SPDX-License-Identifier: Apache-2.0
"""Particle models: the same from every kind of input, with every method; exact orbits; what is refused."""

import math
import unittest
import xml.etree.ElementTree as ElementTree

from case_folder import history, summary
from refused import Refused

KEPLER = {  # two bodies of unit total mass on an ellipse of semi-axis 1 and eccentricity 0.5, from the pericentre
    "particles": "mass = [0.75, 0.25]\nposition = [[-0.125, 0], [0.375, 0]]\n"
                 f"velocity = [[0, {-0.25 * math.sqrt(3)!r}], [0, {0.75 * math.sqrt(3)!r}]]",
    "potential": 'type = "gravity"\nG = 1',
    "probe": 'name = "light"\nparticles = [1]',
    "integrator": 'method = "newmark"\nstep = 0.002',
    "run": f"end_time = {2 * math.pi!r}",
    "output": "frames = 2\nhistory = 8",
}
CHAIN = {
    "particles": "mass = 2\nposition = [[0, 0], [1, 0], [2, 0], [3.1, 0.1]]\nvelocity = [[0, 1], [0, 0], [0, 0], [0, 0]]",
    "potential": 'type = "spring"\nwithin = 1.2\nstiffness = 100\nlength = 1',
    "integrator": 'method = "newmark"\nstep = 0.01',
    "run": "end_time = 1",
    "output": "frames = 2\nhistory = 4",
}
METHODS = ("avi", "newmark", "symplectic-euler-a", "symplectic-euler-b", "midpoint", "trapezoidal",
           "symmetric-midpoint", "gauss", "lobatto", "rk4", "energy-momentum")


def text(base, **changes):
    """A case of sections; lists repeat a section."""
    repeated = ("potential", "fix", "load", "probe")
    out = 'title = "Particles"\n'
    for name, body in {**base, **changes}.items():
        heading = f"[[{name}]]" if name in repeated else f"[{name}]"
        for part in [body] if isinstance(body, str) else body:
            out += f"\n{heading}\n{part}\n" if part else ""
    return out


class Particles(Refused):
    def results(self, base, files=None, code=0, **changes):
        for name, content in (files or {}).items():
            self.write(name, content)
        self.write("case.toml", text(base, **changes))
        done = self.tempi("run", "case.toml", "--overwrite")
        self.assertEqual(code, done.returncode, done.stderr)
        return self.folder / "case.out"

    def refuse(self, base, *words, at=None, files=None, **changes):
        self.refused(*words, at=at, meshes=files or {"none": ""}, text=text(base, **changes))

    def test_a_kepler_orbit_returns_after_its_period(self):
        def distance(step):
            path = history(self.results(KEPLER, integrator=f'method = "newmark"\nstep = {step}'))
            return math.hypot(path["light.displacement_x"][-1], path["light.displacement_y"][-1])

        coarse, fine = distance(0.004), distance(0.002)
        self.assertLess(fine, 2e-4)
        self.assertAlmostEqual(2.0, math.log2(coarse / fine), delta=0.05)

    def test_momenta_of_the_orbit_are_exact_with_every_method_that_keeps_them(self):
        for method in METHODS:
            with self.subTest(method=method):
                s = summary(self.results(KEPLER, integrator=f'method = "{method}"\nstep = 0.01'))
                self.assertLess(s["linear_momentum"]["error"], 1e-13)
                if method == "rk4":
                    self.assertGreater(s["angular_momentum"]["error"], 1e-11)
                elif method in ("midpoint", "gauss", "symmetric-midpoint"):
                    self.assertLess(s["angular_momentum"]["error"], 1e-12)
                else:
                    self.assertLess(s["angular_momentum"]["error"], 1e-13)
                self.assertLess(abs(s["energy"]["final"] - s["energy"]["initial"]), 0.02)

    def test_particles_from_every_kind_of_file_move_alike(self):
        flat = {**CHAIN, "particles": 'file = "chain.csv"'}
        rows = ["0,0,0,1", "1,0,0,0", "2,0,0,0", "3.1,0.1,0,0"]
        csv = "mass,x,y,vx,vy\n" + "".join(f"2,{row}\n" for row in rows)
        here = history(self.results(CHAIN))
        from_csv = history(self.results(flat, {"chain.csv": csv}))
        xyz = "4\nProperties=species:S:1:pos:R:3:velo:R:3\n" + "".join(
            "A {} {} 0 {} {} 0\n".format(*row.split(",")) for row in rows)
        from_xyz = history(self.results({**CHAIN, "particles": 'file = "chain.xyz"\nmass = 2'}, {"chain.xyz": xyz}))
        for column in ("kinetic_energy", "potential_energy", "linear_momentum_y", "angular_momentum_z"):
            self.assertEqual(here[column], from_csv[column])
            for a, b in zip(here[column], from_xyz[column]):
                self.assertAlmostEqual(a, b, delta=1e-13)

    def test_pairs_may_be_listed_found_or_in_a_file(self):
        law = 'type = "spring"\nstiffness = 100\nlength = 1\n'
        found = history(self.results(CHAIN))
        listed = history(self.results(CHAIN, potential=law + "pairs = [[0, 1], [1, 2], [2, 3]]"))
        filed = history(self.results(CHAIN, {"bonds.csv": "a,b\n0,1\n1,2\n2 3\n"}, potential=law + 'pairs = "bonds.csv"'))
        self.assertEqual(found, listed)
        self.assertEqual(found, filed)

    def test_a_formula_is_as_good_as_the_law_it_spells(self):
        law = history(self.results(CHAIN))
        formula = history(self.results(
            CHAIN, potential='type = "expression"\nexpression = "50*(r - 1)^2"\nwithin = 1.2'))
        for a, b in zip(law["potential_energy"], formula["potential_energy"]):
            self.assertAlmostEqual(a, b, delta=1e-9)

    def test_a_well_and_a_uniform_field_have_their_exact_motions(self):
        oscillator = {"particles": "mass = 2\nposition = [[1, 0]]", "potential": [
            'type = "well"\nstiffness = [8, 50]\ncentre = [0, 0]'], "integrator": 'method = "gauss"\norder = 6\nstep = 0.05',
            "probe": 'name = "p"\nparticles = [0]', "run": "end_time = 1", "output": "frames = 0\nhistory = 1"}
        path = history(self.results(oscillator))
        self.assertAlmostEqual(math.cos(2.0) - 1.0, path["p.displacement_x"][-1], delta=1e-9)
        thrown = {**oscillator, "potential": 'type = "uniform-field"\nacceleration = [0, -9.81]',
                  "integrator": 'method = "newmark"\nstep = 0.1'}
        results = self.results(thrown)
        path = history(results)
        self.assertAlmostEqual(-0.5 * 9.81, path["p.displacement_y"][-1], delta=1e-12)
        self.assertAlmostEqual(path["total_energy"][0], path["total_energy"][-1], delta=1e-12)
        self.assertIsNone(summary(results)["linear_momentum"]["error"])

    def test_spheres_rebound_from_walls_as_hertz_has_it(self):
        radius, mass, speed, modulus = 0.005, 0.004, 0.5, 2e11 / (1 - 0.09) / 2  # of equal materials
        kinds = {"plane": ('point = [0, 0]\nnormal = [0, 1]', 0.0051, 1 / radius),
                 "sphere": ('centre = [0, -0.02]\nradius = 0.02', 0.0051, 1 / radius + 1 / 0.02),
                 "hollow": ('centre = [0, 0.02]\nradius = 0.02\ninside = true', 0.0051, 1 / radius - 1 / 0.02)}
        for name, (shape, height, curvature) in kinds.items():
            kind = "plane" if name == "plane" else "sphere"
            stiffness = 4 / 3 * modulus / math.sqrt(curvature)
            deepest = (5 * mass * speed**2 / (4 * stiffness)) ** 0.4
            duration = 2.9432 * deepest / speed
            for method in ("newmark", "avi", "midpoint", "rk4") if name == "plane" else ("newmark",):
                rows = history(self.rebound(shape, kind, height, speed, radius, mass, method, duration))
                at = max(range(len(rows["time"])), key=lambda i: rows["potential_energy"][i])
                self.assertAlmostEqual(rows["time"][at] - (height - radius) / speed, duration / 2, delta=0.01 * duration)
                self.assertAlmostEqual(rows["total_energy"][-1], mass * speed**2 / 2, delta=1e-4 * mass * speed**2)

    def test_impacts_give_back_what_the_case_says(self):
        spheres = {"particles": "position = [[0, 0], [0.0101, 0]]\nvelocity = [[0.5, 0.2], [0, 0.2]]\nradius = 0.005\nmass = [0.004, 0.008]",
                   "potential": 'type = "hertz"\nyoung = 2e11\npoisson = 0.3\nrestitution = {}',
                   "integrator": 'method = "{}"\nstep = 2e-8', "run": "end_time = 2.6e-4", "output": "frames = 1\nhistory = 20",
                   "probe": ['name = "a"\nparticles = [0]', 'name = "b"\nparticles = [1]']}
        for given, e in (("0.8", 0.8), ('"1 - 0.3*v^0.4"', 1 - 0.3 * 0.5**0.4), ("1", 1.0)):
            for method in ("newmark", "avi"):
                case = {**spheres, "potential": spheres["potential"].format(given), "integrator": spheres["integrator"].format(method)}
                folder = self.results(case)
                rows, made = history(folder), summary(folder)
                self.assertAlmostEqual((rows["b.velocity_x"][-1] - rows["a.velocity_x"][-1]) / 0.5, e, delta=1e-5)
                self.assertLess(made["linear_momentum"]["error"], 1e-12)
                energy = 0.5 * 0.004 * 0.008 / 0.012 * 0.25
                self.assertAlmostEqual(-rows["damping_work"][-1] / energy, 1 - e**2, delta=1e-5)
        # By a table: straight lines between rows, beyond the ends as there.
        for rows_of_table, e in (("v, e\n0.4, 0.9\n0.6 0.7\n", 0.8), ("0.6, 0.7\n0.9, 0.2\n", 0.7), ("# v e\n0.1 0.9\n", 0.9)):
            self.write("e.csv", rows_of_table)
            rows = history(self.results({**spheres, "potential": spheres["potential"].replace("restitution = {}", 'restitution_table = "e.csv"'),
                                         "integrator": spheres["integrator"].format("avi")}))
            self.assertAlmostEqual((rows["b.velocity_x"][-1] - rows["a.velocity_x"][-1]) / 0.5, e, delta=1e-5)
        for rows_of_table, word in (("0.1 0.9\n0.1 0.8\n", "Sort the rows"), ("0.1\n", "not a speed and a restitution"), ("v e\n", "has no rows"),
                                    ("0.1 1.1\n", "must be > 0"), (None, "does it exist")):
            (self.folder / "e.csv").unlink()
            self.write("e.csv" if rows_of_table else "f.csv", rows_of_table or "")
            self.write("case.toml", text({**spheres, "potential": spheres["potential"].replace("restitution = {}", 'restitution_table = "e.csv"'),
                                          "integrator": spheres["integrator"].format("avi")}))
            done = self.tempi("check", "case.toml")
            self.assertEqual(2, done.returncode, rows_of_table)
            self.assertIn(word, done.stderr)
        # At a wall: an impact at v comes back at e v.
        base = {"particles": "position = [[0, 0.0051]]\nvelocity = [[0.1, -0.5]]\nradius = 0.005\nmass = 0.004", "probe": spheres["probe"][0],
                "potential": spheres["potential"].format("0.8"), "integrator": spheres["integrator"].format("newmark"),
                "run": spheres["run"], "output": spheres["output"]}
        self.write("case.toml", text(base) + '\n[[wall]]\ntype = "plane"\npoint = [0, 0]\nnormal = [0, 1]\nyoung = 2e11\npoisson = 0.3\n')
        done = self.tempi("run", "case.toml", "--overwrite")
        self.assertEqual(0, done.returncode, done.stderr)
        rows = history(self.folder / "case.out")
        self.assertAlmostEqual(rows["a.velocity_y"][-1], 0.4, delta=1e-5)
        self.assertAlmostEqual(rows["a.velocity_x"][-1], 0.1, delta=1e-14)
        # What does not go.
        for potential, method, word in (("0", "newmark", "must be > 0"), ("1.2", "newmark", "must be > 0"), ('"1 - w"', "newmark", "w"),
                                        ("[0.5]", "newmark", "number or an expression"), ("0.5\nsplit = [0.009]", "avi", "split"), ("0.5", "midpoint", "Choose avi or newmark")):
            self.write("case.toml", text({**spheres, "potential": spheres["potential"].format(potential),
                                          "integrator": spheres["integrator"].format(method)}))
            done = self.tempi("check", "case.toml")
            self.assertEqual(2, done.returncode, potential)
            self.assertIn(word, done.stderr)
        self.write("case.toml", text({**spheres, "potential": spheres["potential"].format('"1 - 3*v"'),
                                      "integrator": spheres["integrator"].format("avi")}))
        done = self.tempi("run", "case.toml", "--overwrite")  # at 0.5 m/s
        self.assertEqual(3, done.returncode)
        self.assertIn("restitution is -0.5", done.stderr)

    def test_rows_are_damped_by_the_laplacian_form(self):
        row = {"particles": "position = [[0, 0], [0.01, 0], [0.02, 0], [0.03, 0]]\nvelocity = [[0.5, 0], [0, 0], [0, 0], [0, 0]]\nradius = 0.005\n"
                            "mass = [0.004, 0.004, 0.006, 0.004]",
               "potential": 'type = "hertz"\nyoung = 2e11\npoisson = 0.3{}', "integrator": 'method = "{}"\nstep = 2e-8',
               "run": "end_time = 2e-4", "output": "frames = 1\nhistory = 20"}

        def case(more: str, method: str) -> dict[str, object]:
            return {**row, "potential": row["potential"].format(more), "integrator": row["integrator"].format(method)}

        damped = "\nlaplacian_damping = [5e4, 1.81]"
        lost = []
        for method in ("avi", "newmark"):
            folder = self.results(case(damped, method))
            rows, made = history(folder), summary(folder)
            self.assertLess(made["linear_momentum"]["error"], 1e-12)
            energy = 0.5 * 0.004 * 0.25
            self.assertLess(abs(rows["total_energy"][-1] - rows["damping_work"][-1] - energy), 1e-5 * energy)
            lost.append(-rows["damping_work"][-1] / energy)
            self.assertTrue(all(b <= a for a, b in zip(rows["damping_work"], rows["damping_work"][1:])))
        self.assertGreater(lost[0], 0.05)
        self.assertAlmostEqual(lost[0], lost[1], delta=1e-9)
        # At a wall: a bead alone with it is no row, two are.
        wall = '\n[[wall]]\ntype = "plane"\npoint = [0.03501, 0]\nnormal = [-1, 0]\nyoung = 2e11\npoisson = 0.3\n'
        self.write("case.toml", text(case(damped, "avi")) + wall)
        done = self.tempi("run", "case.toml", "--overwrite", "--set", "run.end_time=4e-4")
        self.assertEqual(0, done.returncode, done.stderr)
        rows = history(self.folder / "case.out")
        self.assertLess(abs(rows["total_energy"][-1] - rows["damping_work"][-1] - energy), 1e-4 * energy)
        self.assertLess(rows["linear_momentum_x"][-1], 0)  # it has come back
        for more, method, word in (("\nlaplacian_damping = [-5.58, 1.81]", "avi", "must be"), ("\nlaplacian_damping = [5e4]", "avi", "must be two"),
                                   (damped + "\nrestitution = 0.9", "avi", "Leave out one"), ("\nlaplacian_damping = [5e4, 0.5]", "avi", "alpha = 0.5"),
                                   (damped + "\nwithin = 0.011", "avi", "all pairs together"), (damped, "midpoint", "Choose avi or newmark")):
            self.write("case.toml", text(case(more, method)))
            done = self.tempi("check", "case.toml")
            self.assertEqual(2, done.returncode, more)
            self.assertIn(word, done.stderr)

    def test_spheres_touch_by_energy_steps_and_force_steps(self):
        for integrator in ('method = "energy-stepping"\nenergy_step = 1.03e-6', 'method = "async-energy-stepping"\nenergy_step = 1.03e-6',
                           'method = "force-stepping"\ngrid = 1e-8'):
            folder = self.results({"particles": "position = [[0, 0], [0.0101, 0]]\nvelocity = [[0.5, 0], [0, 0]]\nradius = 0.005\nmass = 0.004",
                                   "potential": 'type = "hertz"\nyoung = 2e11\npoisson = 0.3', "integrator": integrator,
                                   "run": "end_time = 2.6e-4", "output": "frames = 1\nhistory = 2",
                                   "probe": ['name = "a"\nparticles = [0]', 'name = "b"\nparticles = [1]']})
            rows = history(folder)
            self.assertAlmostEqual(rows["b.velocity_x"][-1], 0.5, delta=2e-3)
            self.assertAlmostEqual(rows["a.velocity_x"][-1], 0.0, delta=2e-3)
            self.assertLess(summary(folder)["linear_momentum"]["error"], 1e-12 if "energy" in integrator else 1e-9)

    def rebound(self, shape, kind, height, speed, radius, mass, method, duration):
        base = {"particles": f"position = [[0, {height}], [0.01, 0.02]]\nvelocity = [[0, -{speed}], [0, 0]]\n"
                             f"radius = {radius}\nmass = {mass}",
                "potential": 'type = "hertz"\nyoung = 2e11\npoisson = 0.3',
                "integrator": f'method = "{method}"\nstep = {duration / 500}',
                "run": "end_time = 4e-4", "output": "frames = 0\nhistory = 2000"}
        self.write("case.toml", text(base) + f'\n[[wall]]\ntype = "{kind}"\n{shape}\nyoung = 2e11\npoisson = 0.3\n')
        done = self.tempi("run", "case.toml", "--overwrite")
        self.assertEqual(0, done.returncode, done.stderr)
        return self.folder / "case.out"

    def test_loads_on_particles_are_booked(self):
        for method in ("avi", "newmark", "midpoint"):
            results = self.results(CHAIN, load=['type = "gravity"\nvalue = [0, -9.81]',
                                                'type = "force"\nparticles = [3]\nvalue = ["10*sin(t)", 0]'],
                                   integrator=f'method = "{method}"\nsafety = 0.3')
            s = summary(results)
            self.assertLess(s["linear_momentum"]["error"], 1e-13)
            self.assertLess(s["energy"]["band"], 0.01)
            self.assertGreater(abs(history(results)["external_work"][-1]), 1.0)

    def test_a_periodic_box_joins_particles_across_its_faces(self):
        pair = {"particles": "mass = 1\nposition = [[0.5, 1], [9.6, 1]]\nbox = [10, 0]",
                "potential": 'type = "spring"\nwithin = 2\nstiffness = 4\nlength = 0.9',
                "probe": 'name = "p"\nparticles = [1]',
                "integrator": 'method = "newmark"\nstep = 0.001', "run": f"end_time = {math.pi / math.sqrt(8)!r}",
                "output": "frames = 1\nhistory = 1"}
        results = self.results(pair, particles=pair["particles"].replace("9.6", "9.5"))
        path = history(results)  # r = 1, rest length 0.9, frequency sqrt(2 k/m): half a period later r = 0.8
        self.assertAlmostEqual(0.1, path["p.displacement_x"][-1], delta=1e-5)
        self.assertIsNone(summary(results)["angular_momentum"]["error"])
        self.assertLess(summary(results)["linear_momentum"]["error"], 1e-13)

    def test_frames_hold_particles_and_bonds(self):
        results = self.results(CHAIN)
        frames = ElementTree.parse(results / "frames.pvd").getroot().iter("DataSet")
        self.assertEqual(3, len(list(frames)))
        content = (results / "frames" / "frame_00000.vtu").read_bytes()
        self.assertIn(b'NumberOfPoints="4" NumberOfCells="7"', content)

    def test_species_are_groups(self):
        xyz = "3\n\nA 0 0 0\nB 1 0 0\nA 5 0 0\n"
        base = {**CHAIN, "particles": 'file = "a.xyz"\nmass = 1', "potential":
                'type = "spring"\ngroup = "A"\npairs = "all"\nstiffness = 1\nlength = 4'}
        self.assertEqual(1, summary(self.results(base, {"a.xyz": xyz}))["elements"])

    def test_a_sphere_of_two_potentials_touches_a_wall_once(self):
        hertz = 'type = "hertz"\nyoung = 2e11\npoisson = 0.3\n'
        base = {"particles": "position = [[0, 0.006], [0.02, 0.006], [0.04, 0.006]]\nradius = 0.005\nmass = 0.004",
                "potential": [hertz + "particles = [0, 1]", hertz + "particles = [0, 2]"],
                "integrator": 'method = "newmark"\nstep = 1e-7', "run": "end_time = 1e-6"}
        wall = '\n[[wall]]\ntype = "plane"\npoint = [0, 0]\nnormal = [0, 1]\nyoung = 2e11\npoisson = 0.3\n'
        self.write("case.toml", text(base) + wall)
        told = self.tempi("check", "case.toml").stdout
        terms = [int(line.split(":")[1].split()[0]) for line in told.splitlines() if line.startswith("  forces   hertz")]
        self.assertEqual(2 + 3, sum(terms), told)  # two sums of pairs, three spheres at the wall
        self.assertRegex(told, "hertz: 5 terms in 4 potentials")

    def test_walls_that_spheres_cannot_touch_are_refused(self):
        spheres = {"particles": "position = [[0, 0.006], [0.02, 0.006]]\nradius = 0.005\nmass = 0.004",
                   "potential": 'type = "hertz"\nyoung = 2e11\npoisson = 0.3',
                   "integrator": 'method = "newmark"\nstep = 1e-7', "run": "end_time = 1e-6"}
        plane = 'type = "plane"\npoint = [0, 0]\nnormal = [0, 1]\n'
        for wall, words, changes in (
                (plane + "young = 2e11", ("go together",), {}),
                (plane + "young = 2e11\npoisson = 0.3\npenalty = 1e-9", ("without a penalty",), {}),
                (plane.replace("point = [0, 0]", "point = [0, 0.004]") + "young = 2e11\npoisson = 0.3", ("cuts the sphere",), {}),
                (plane + "young = 2e11\npoisson = 0.3", ("nodes 0 and 1", "overlap"),
                 {"particles": "position = [[0, 0.006], [0.006, 0.006]]\nradius = 0.005\nmass = 0.004"}),
                ('type = "box"\nlow = [-1, -1]\nhigh = [1, 0]\nyoung = 2e11\npoisson = 0.3', ("planes and spheres",), {}),
                (plane + "young = 2e11\npoisson = 0.3", ("Add a [[potential]] of type hertz",),
                 {"potential": 'type = "spring"\npairs = "all"\nstiffness = 1\nlength = 0.02'})):
            self.write("case.toml", text({**spheres, **changes}) + f"\n[[wall]]\n{wall}\n")
            done = self.tempi("check", "case.toml")
            self.assertEqual(2, done.returncode, wall)
            for word in words:
                self.assertIn(word, done.stderr)

    def test_what_does_not_fit_is_refused(self):
        spring = 'type = "spring"\nstiffness = 100\nlength = 1\n'
        self.refuse(CHAIN, "leng", "length", at="leng =", potential=spring + "leng = 1\nwithin = 2")
        self.refuse(CHAIN, "needs pairs", at="[[potential]]", potential=spring)
        self.refuse(CHAIN, "spring needs stiffness length", "Add length", potential='type = "spring"\nstiffness = 1\nwithin = 2')
        self.refuse(CHAIN, "epsilon belongs to lennard-jones", at="epsilon", potential=spring + "within = 2\nepsilon = 1")
        self.refuse(CHAIN, "Did you mean \"spring\"", at="type", potential=spring.replace('"spring"', '"sprin"') + "within = 2")
        self.refuse(CHAIN, "names 7", "from 0 to 3", at="pairs", potential=spring + "pairs = [[0, 7]]")
        self.refuse(CHAIN, "is there already", at="pairs", potential=spring + "pairs = [[0, 1], [1, 0]]")
        self.refuse(CHAIN, "to itself", potential=spring + "pairs = [[1, 1]]")
        self.refuse(CHAIN, "joins no pair", potential=spring + "within = 0.1")
        self.refuse(CHAIN, "line 2", at="pairs", files={"b.csv": "0,1\n1\n"}, potential=spring + 'pairs = "b.csv"')
        self.refuse(CHAIN, "cannot be read", at="pairs", potential=spring + 'pairs = "no.csv"')
        self.refuse(CHAIN, "length = 0 m", "> 0", at="[[potential]]", potential='type = "morse"\ndepth = 1\ninverse_width = 1\nlength = 0\nwithin = 2')
        self.refuse(CHAIN, "epsilon = -1", at="epsilon", potential='type = "lennard-jones"\nepsilon = -1\nsigma = 1')
        self.refuse(CHAIN, "Known names: r, pi", at="expression", potential='type = "expression"\nexpression = "R^2"')

    def test_particles_that_do_not_fit_are_refused(self):
        self.refuse(CHAIN, "length 0 m", "0", "1", particles="mass = 1\nposition = [[0, 0], [0, 0]]")
        self.refuse(CHAIN, "mass", at="[particles]", particles="position = [[0, 0], [1, 0]]")
        self.refuse(CHAIN, "3 entries for 2", at="mass", particles="mass = [1, 2, 3]\nposition = [[0, 0], [1, 0]]")
        self.refuse(CHAIN, "mass = 0", at="mass", particles="mass = 0\nposition = [[0, 0], [1, 0]]")
        self.refuse(CHAIN, "entry 1", at="position", particles="mass = 1\nposition = [[0, 0], [1]]")
        self.refuse(CHAIN, "velocity has 1", at="velocity",
                    particles="mass = 1\nposition = [[0, 0], [1, 0]]\nvelocity = [[0, 0]]")
        self.refuse(CHAIN, "a.csv", "does it exist", at="[particles]", particles='file = "a.csv"')
        self.refuse(CHAIN, "neither file nor position", at="[particles]", particles="mass = 1")
        self.refuse(CHAIN, "no [[material]]", mesh='file = "a.msh"')
        self.refuse({k: v for k, v in CHAIN.items() if k != "particles"}, "neither [mesh]")
        self.refuse(CHAIN, "courant", at="courant", integrator="courant = 0.1")
        self.refuse(CHAIN, "a list of integers", load='type = "force"\nvalue = [1, 0]\nparticles = [true]')
        self.refuse(CHAIN, "pressure belongs to meshes", load='type = "pressure"\nvalue = 1\nparticles = [0]')
        self.refuse(CHAIN, "particle 9 does not exist", at="particles = [9]", fix="particles = [9]")
        self.refuse(CHAIN, "cutoff", "half", potential='type = "lennard-jones"\nepsilon = 1\nsigma = 1\ncutoff = 3',
                    particles=CHAIN["particles"] + "\nbox = [5, 5]")
        self.refuse(CHAIN, "nothing acts", potential="")

    def test_a_cutoff_larger_than_needed_is_noted(self):
        self.write("case.toml", text(CHAIN, potential='type = "lennard-jones"\nepsilon = 1\nsigma = 1\ncutoff = 30'))
        done = self.tempi("check", "case.toml")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("cutoff = 30 m is larger than needed", done.stderr)

    def test_particles_that_meet_end_the_run_with_exit_3(self):
        meeting = {**CHAIN, "particles": "mass = 1\nposition = [[0, 0], [1, 0]]", "potential": 'type = "gravity"\nG = 1',
                   "integrator": 'method = "newmark"\nstep = 0.001'}
        self.write("case.toml", text(meeting, run="end_time = 1e4", integrator='method = "midpoint"\nstep = 0.5'))
        done = self.tempi("run", "case.toml")
        self.assertEqual(3, done.returncode, done.stderr)


if __name__ == "__main__":
    unittest.main()
