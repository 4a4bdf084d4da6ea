# SPDX-License-Identifier: Apache-2.0
"""Case files that are wrong in themselves are refused with one message: value, unit, reason, line, what to do."""

import unittest

from case_folder import case_text
from refused import Refused

ELASTIC = "lambda = 1e6\nmu = 1e6\n"
MATERIAL = ELASTIC + "density = 1000"


class TheFile(Refused):
    def test_a_case_file_that_is_missing_or_a_folder(self):
        for name, word in (("nowhere.toml", "nowhere.toml"), (".", "'.'"), ("", "''")):
            done = self.tempi("run", name)
            with self.subTest(name=name, message=done.stderr):
                self.assertEqual((2, ""), (done.returncode, done.stdout))
                self.assertIn(word, done.stderr)

    def test_broken_toml_names_the_line(self):
        self.refused("TOML", at="broken", text='title = "x"\nbroken = \n')
        self.refused("TOML", "end_time", at="end_time = 2", run="end_time = 1\nend_time = 2")
        self.refused("TOML", "table 'run'", at="[run]", text=case_text() + "\n[run]\nend_time = 1\n")

    def test_an_empty_file_says_what_is_needed(self):
        self.refused("file", "[mesh]", text="")

    def test_unknown_keys_offer_the_nearest_one(self):
        self.refused("'end_tme'", "[run]", "'end_time'", at="end_tme", run="end_time = 1\nend_tme = 2")
        self.refused("'titel'", "'title'", at="titel", text='titel = "x"\n' + case_text())
        self.refused("'foo'", "tempi options", at="foo", run="end_time = 1\nfoo = 2")

    def test_unknown_sections_offer_the_nearest_one(self):
        self.refused("outptu", "output", at="[outptu]", text=case_text() + "\n[outptu]\nframes = 1\n")
        self.refused("zzzzzzzz", "tempi options", at="[zzzzzzzz]", text=case_text() + "\n[zzzzzzzz]\nframes = 1\n")

    def test_sections_of_the_wrong_form(self):
        self.refused("[[material]]", at="[material]", text=case_text().replace("[[material]]", "[material]"))
        self.refused("[run]", at="[[run]]", text=case_text().replace("[run]", "[[run]]"))
        self.refused("[run]", at="run = 3", text="run = 3\n" + case_text(run=""))

    def test_unknown_choices_offer_the_nearest_one(self):
        self.refused('method = "avy"', "avi | avi-implicit", 'mean "avi"', at="method", integrator='method = "avy"')
        self.refused('method = "rk45"', "avi | avi-implicit", at="method", integrator='method = "rk45"')
        self.refused('model = "neohookean"', 'mean "neo-hookean"', at="model",
                     material=MATERIAL + '\nmodel = "neohookean"')
        self.refused('steps = "onering"', 'mean "one-ring"', at="steps", integrator='steps = "onering"')
        self.refused('type = "presure"', 'mean "pressure"', at="type",
                     load='type = "presure"\ngroup = "left"\nvalue = 1')

    def test_missing_keys_are_named_with_their_section(self):
        self.refused("file", "[mesh]", mesh="")
        self.refused("file", "[mesh]", at="[mesh]", mesh="order = 1")
        self.refused("[[material]]", material="")
        self.refused("density", "[[material]]", "kg/m^3", at="[[material]]", material=ELASTIC)
        self.refused("end_time", "[run]", run="")
        self.refused("type", "[[load]]", at="[[load]]", load="value = [0, 1]")
        self.refused("value", "[[load]]", at="[[load]]", load='type = "gravity"')
        self.refused("name", "[[probe]]", at="[[probe]]", probe="point = [0, 0]")

    def test_values_of_the_wrong_type(self):
        self.refused("end_time", "number", at="end_time", run='end_time = "0.1"')
        self.refused("end_time", "number", at="end_time", run="end_time = [1]")
        self.refused("end_time", "number", at="end_time", run="end_time = 2020-01-01")
        self.refused("velocity", "list", at="velocity", initial="velocity = 1")
        self.refused("file", "text", at="file", mesh="file = 3")
        self.refused("residual", "true or false", at="residual", integrator='residual = "yes"')
        self.refused("residual", "true or false", at="residual", integrator="residual = 1")
        self.refused("frames", "integer", at="frames", output="frames = 2.5")
        self.refused("components", "list", at="components", fix='group = "left"\ncomponents = "x"')
        self.refused("components", "list", at="components", fix='group = "left"\ncomponents = [1]')
        self.refused("group", "name", "integer", at="group", fix="group = 1.5")
        self.refused("group", "name", "integer", at="group", fix='group = ["left", "right"]')
        self.refused("where", "text", at="where", fix="where = 1")
        self.refused("point", "numbers", at="point", probe='name = "a"\npoint = ["0", "0"]')
        self.refused("point", "numbers", at="point", probe='name = "a"\npoint = [true, false]')


class Numbers(Refused):
    def test_density_must_be_positive_and_finite(self):
        for value in ("0", "-7800", "nan", "inf"):
            self.refused(f"density = {value} kg/m^3", "must be", at="density", material=ELASTIC + f"density = {value}")

    def test_times_must_be_positive_and_finite(self):
        for value in ("0", "-0.001", "nan", "inf"):
            self.refused(f"end_time = {value} s", "must be", at="end_time", run=f"end_time = {value}")
            self.refused(f"step = {value} s", "must be", at="step", integrator=f"step = {value}")

    def test_only_one_of_safety_courant_and_step(self):
        self.refused("safety", "step", "one", integrator="step = 1e-5\nsafety = 0.5")
        self.refused("safety", "courant", "one", integrator="courant = 0.1\nsafety = 0.5")
        self.refused("safety", "courant", "step", "one", integrator="courant = 0.1\nsafety = 0.5\nstep = 1e-5")

    def test_safety_and_courant_have_ranges(self):
        for value in ("1.1", "0", "-0.5", "nan"):
            self.refused(f"safety = {value}", "must be", at="safety", integrator=f"safety = {value}")
        for value in ("0", "-1", "nan"):
            self.refused(f"courant = {value}", "must be", at="courant", integrator=f"courant = {value}")

    def test_a_step_beyond_the_stable_one_names_the_element_and_both(self):
        for setting in ("step = 0.01", "courant = 5", 'step = 0.01\nmethod = "newmark"'):
            self.refused("cell ", " at (", "stable step 0.00593", " s", "Choose",
                         integrator=setting + '\nmass_shares = "own"')

    def test_a_step_too_small_to_count_its_updates(self):
        self.refused("1e-300 s", at="step", integrator="step = 1e-300")

    def test_elastic_constants(self):
        for value in ("0.5", "0.6", "-1", "nan"):
            self.refused(f"poisson = {value}", "must be", at="poisson",
                         material=f"young = 1e6\npoisson = {value}\ndensity = 1000")
        self.refused("young = 0 Pa", at="young", material="young = 0\npoisson = 0.3\ndensity = 1000")
        self.refused("mu = -1 Pa", at="mu", material="lambda = 1\nmu = -1\ndensity = 1000")
        self.refused("lambda = -2000000 Pa", "bulk modulus", material="lambda = -2e6\nmu = 1e6\ndensity = 1000")

    def test_elastic_constants_come_in_pairs(self):
        for pair in ("lambda = 1e6", "mu = 1e6", "young = 1e6", "poisson = 0.3", "young = 1e6\nmu = 1e6",
                     "lambda = 1e6\npoisson = 0.3", MATERIAL.replace("density = 1000", "young = 1e6"), ""):
            self.refused("lambda and mu", "young and poisson", at="[[material]]", material=pair + "\ndensity = 1000")

    def test_counts_and_sizes_have_ranges(self):
        self.refused("frames = -1", at="frames", output="frames = -1")
        self.refused("frames = 5000000000", at="frames", output="frames = 5000000000")
        self.refused("history = 0", at="history", output="history = 0")
        self.refused("order = 3", at="order", mesh='file = "square.msh"\norder = 3')
        self.refused("size = 0", at="size", mesh='file = "square.msh"\nsize = 0')
        self.refused("scale = -1", at="scale", mesh='file = "square.msh"\nscale = -1')


if __name__ == "__main__":
    unittest.main()
