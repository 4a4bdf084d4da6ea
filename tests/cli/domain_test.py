# SPDX-License-Identifier: Apache-2.0
"""Domains by the command: sections, cuts, ties and what is told of them, threads, going on, what is refused and why."""

from case_folder import SQUARE_NAMES, TRIANGLE, case_text, history, msh, square, square_elements, summary
from refused import Refused

METHOD = 'method = "multi-domain"'
FIRST = 'substeps = 4\nintegrator = "midpoint"'
HALVES = f"""
[[domain]]
name = "first"
where = "X < 0.5"
{FIRST}
[[domain]]
name = "second"
where = "X > 0.5"
substeps = 1
"""


def with_domains(domains=HALVES, **sections):
    return case_text(**({"integrator": METHOD + "\nsafety = 0.5"} | sections)) + domains


def beside(n, names):
    """A square from x = 1 on, its groups named otherwise."""
    points, elements = square_elements(n)
    return msh([(x + 1, y, z) for x, y, z in points], elements, names)


class Domains(Refused):
    def run_text(self, text, *arguments, meshes=None, out="case.out"):
        for name, content in ({"square.msh": square(6)} if meshes is None else meshes).items():
            self.write(name, content)
        self.write("case.toml", text)
        done = self.tempi("run", "case.toml", "--out", out, *arguments)
        self.assertEqual(0, done.returncode, done.stderr)
        return self.folder / out

    def test_sections_divide_a_body_and_momenta_stay(self):
        results = self.run_text(with_domains())
        told = summary(results)
        self.assertLess(told["linear_momentum"]["error"], 1e-13)
        self.assertLess(told["angular_momentum"]["error"], 1e-12)
        self.assertEqual(4, round(told["updates"]["max"] / told["updates"]["min"]))
        measures = told["measures"]
        self.assertLess(abs(measures["interface_imbalance"]), 1e-9 * measures["interface_work"])
        self.assertGreater(measures["newton_iterations"], 0)

    def test_check_tells_domains_and_proposes_them(self):
        self.write("square.msh", square(6))
        self.write("case.toml", with_domains())
        told = self.tempi("check", "case.toml").stdout
        for word in ("first", "second", "4 substeps", "explicit", "system   steps"):
            self.assertIn(word, told)
        soft = 'where = "X > 0.3"\nlambda = 1e6\nmu = 1e6\ndensity = 1000'
        stiff = 'where = "X < 0.3"\nlambda = 1e8\nmu = 1e8\ndensity = 1000'
        self.write("square.msh", square(20))
        self.write("case.toml", with_domains("", material=[soft, stiff]))
        told = self.tempi("check", "case.toml").stdout
        self.assertIn("domain2", told)
        self.assertIn("substeps a system step", told)

    def test_every_rule_runs_and_moves_alike(self):
        reference = history(self.run_text(with_domains(), out="reference"))
        for name, rules in {"implicit": "alpha = 0.5\nsubsteps = 2", "avi": 'integrator = "avi"', "alpha": "alpha = 0.3\nsubsteps = 2"}.items():
            text = with_domains(HALVES.replace(FIRST, rules))
            found = history(self.run_text(text, out=name))
            for a, b in zip(reference["kinetic_energy"], found["kinetic_energy"]):
                self.assertAlmostEqual(a, b, delta=0.02 * max(reference["kinetic_energy"]))

    def test_elements_take_steps_of_their_own_and_soft_ones_along(self):
        stiff = 'where = "X < 0.3"\nlambda = 1e8\nmu = 1e8\ndensity = 1000'
        soft = 'where = "X > 0.3"\nlambda = 1e6\nmu = 1e6\ndensity = 1000'
        sections = '[[domain]]\nwhere = "X < 0.3"\n{}\n[[domain]]\nwhere = "X > 0.3"\n'
        meshes = {"square.msh": square(20)}
        free = summary(self.run_text(with_domains(sections.format(""), material=[soft, stiff]), meshes=meshes))
        self.assertEqual(0, free["measures"]["newton_iterations"])
        self.assertGreater(free["counted_speedup"], 2)
        none = sections.format("rings = 0")
        tried = summary(self.run_text(with_domains(none, material=[soft, stiff]), meshes=meshes, out="tried"))
        self.assertGreater(tried["measures"]["newton_iterations"], 0)
        paper = sections.format('integrator = "midpoint"\nrings = 2')
        paper = summary(self.run_text(with_domains(paper, material=[soft, stiff]), meshes=meshes, out="paper"))
        self.assertGreater(paper["updates"]["total"], free["updates"]["total"])

    def test_rings_nobody_asked_for_leave_something_of_everybody(self):
        soft = 'where = "X > 0.4 && X < 0.6"\nlambda = 1e6\nmu = 1e6\ndensity = 1000'
        stiff = 'where = "X < 0.4 || X > 0.6"\nlambda = 1e8\nmu = 1e8\ndensity = 1000'
        thin = '[[domain]]\nwhere = "X < 0.4 || X > 0.6"\n{}\n[[domain]]\nname = "thin"\nwhere = "X > 0.4 && X < 0.6"\n'
        meshes = {"square.msh": square(10)}
        self.run_text(with_domains(thin.format(""), material=[soft, stiff]), meshes=meshes, out="free")
        self.refused("rings", "thin", text=with_domains(thin.format("rings = 3"), material=[soft, stiff]), meshes=meshes)

    def test_frameworks_move_alike(self):
        found = {}
        for framework in ("canonical", "hamiltonian", "lagrangian"):
            text = with_domains(integrator=f'{METHOD}\nsafety = 0.5\nframework = "{framework}"')
            found[framework] = history(self.run_text(text, out=framework))["potential_energy"]
        self.assertEqual(found["canonical"], found["hamiltonian"])
        self.assertEqual(found["canonical"], found["lagrangian"])

    def test_metis_and_groups_cut(self):
        for cut in ("3", '"groups"'):
            text = with_domains("", integrator=f"{METHOD}\nsafety = 0.5\ndomains = {cut}")
            self.assertLess(summary(self.run_text(text, "--overwrite"))["angular_momentum"]["error"], 1e-12)

    def test_loads_supports_and_dampers_go_with_their_domains(self):
        damped = '\n[[damping]]\ntype = "drag"\ncoefficient = 20\n'
        text = with_domains(HALVES + damped, fix='group = "left"', load='type = "gravity"\nvalue = [0, -9.81]')
        found = history(self.run_text(text))
        self.assertIn("damping_work", found)
        told = summary(self.folder / "case.out")
        self.assertLess(told["energy"]["band"], 0.02)

    def test_a_particle_that_nothing_touches_flies(self):
        case = """[particles]
mass = [1, 1, 1, 2]
position = [[0, 0], [1, 0], [2, 0], [9, 9]]
velocity = [[0, 0], [0, 0.1], [0, 0], [0.5, -0.25]]
[[potential]]
type = "spring"
pairs = [[0, 1], [1, 2]]
stiffness = 100
length = 1
[integrator]
method = "multi-domain"
safety = 0.2
[[probe]]
name = "free"
particles = [3]
[run]
end_time = 1
"""
        for domains in ("", "[[domain]]\nparticles = [0, 1]\nalpha = 0.5\n[[domain]]\nparticles = [1, 2]\n"):
            results = self.run_text(case + domains, "--overwrite", meshes={})
            told = history(results)
            self.assertAlmostEqual(0.5, told["free.displacement_x"][-1], delta=1e-13)
            self.assertAlmostEqual(-0.25, told["free.velocity_y"][-1], delta=1e-13)
            self.assertLess(summary(results)["linear_momentum"]["error"], 1e-13)

    def test_threads_change_no_bit(self):
        text = with_domains()
        one = (self.run_text(text, "--threads", "1", out="one") / "history.csv").read_bytes()
        self.assertEqual(one, (self.run_text(text, "--threads", "3", out="three") / "history.csv").read_bytes())

    def test_two_files_are_tied(self):
        names = {1: (2, "other"), 2: (1, "joint"), 3: (1, "end")}
        meshes = {"square.msh": square(4), "other.msh": beside(7, names)}
        domains = '[[domain]]\ngroup = "body"\n[[domain]]\ngroup = "other"\n[[tie]]\ngroups = ["right", "joint"]\n'
        text = with_domains(domains, mesh='file = "square.msh"\nbeside = ["other.msh"]')
        told = summary(self.run_text(text, meshes=meshes))
        self.assertEqual([], [w for w in told["warnings"] if "share no node" in w])
        self.assertLess(told["linear_momentum"]["error"], 1e-13)
        self.assertLess(told["angular_momentum"]["error"], 1e-12)

    def refuse(self, *words, domains=HALVES, **sections):
        self.refused(*words, text=with_domains(domains, **sections), meshes={"square.msh": square(6)})

    def test_what_makes_no_sense_is_refused(self):
        self.refuse("in domain 'first' already", domains=HALVES.replace("X > 0.5", "X > 0.3"))
        self.refuse("is in no [[domain]]", domains=HALVES.replace("X > 0.5", "X > 0.7"))
        self.refuse("substeps", ">= 1", domains=HALVES.replace(FIRST, "substeps = 0"))
        self.refuse("alpha", domains=HALVES.replace(FIRST, "alpha = 2"))
        self.refuse("exceeds the stable one", "substeps", integrator=METHOD + "\nstep = 0.1")
        self.refuse("safety or step", integrator=METHOD + "\ncourant = 0.1")
        self.refuse("belongs to multi-domain", integrator='method = "avi"')
        drag = HALVES.replace(FIRST, 'integrator = "avi"') + '\n[[damping]]\ntype = "drag"\ncoefficient = 20\n'
        self.refuse("takes no dampers", domains=drag)
        self.refuse("does not go with it", domains=HALVES.replace(FIRST, 'alpha = 0.5\nintegrator = "avi"'))
        self.refuse("Give step", domains=HALVES.replace("substeps", "alpha = 0.5\nsubsteps"))
        self.refuse("rings", "leave nothing", domains=HALVES.replace(FIRST, "rings = 10"))
        tie = '[[tie]]\ngroups = ["left", "right"]\n'
        self.refuse("within", "reach", domains=HALVES + tie)
        self.refuse("has none", domains=tie, integrator='method = "avi"')
        self.refuse("(must be 2)", domains=HALVES + '[[tie]]\ngroups = ["left"]\n')
        self.refuse("neither groups nor pairs", domains=HALVES + "[[tie]]\nreach = 1\n")

    def test_domains_apart_are_refused(self):
        points, elements = square_elements(3)
        count = len(points)
        more = [(kind, 4 if kind == TRIANGLE else group, [a + count for a in nodes]) for kind, group, nodes in elements]
        mesh = msh(points + [(x + 3, y, z) for x, y, z in points], elements + more, SQUARE_NAMES | {4: (2, "far")})
        text = with_domains('[[domain]]\ngroup = "body"\n[[domain]]\ngroup = "far"\n')
        self.refused("empty interface", text=text, meshes={"square.msh": mesh})


if __name__ == "__main__":
    import unittest

    unittest.main()
