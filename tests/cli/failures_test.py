# SPDX-License-Identifier: Apache-2.0
"""Runs that end early: numerical failures (3), writes that fail (4) and interruptions (130) leave what they can."""

import math
import os
import pty
import resource
import shutil
import signal
import subprocess
import time
import unittest
import xml.etree.ElementTree as ElementTree

from case_folder import (
    COMMAND, SQUARE_NAMES, TRIANGLE, CaseFolder, case_text, history, msh, square, square_elements, summary,
)

OUTPUT = "frames = 20\nhistory = 100"


class NumericalFailure(CaseFolder):
    def failed(self, *words, **sections):
        """Runs a case that must fail; returns summary and history."""
        results = self.run_case("--overwrite", code=3, output=OUTPUT, **sections)
        made, rows = summary(results), history(results)
        self.assertEqual("failed", made["status"])
        for word in words:
            self.assertIn(word, made["message"])
        self.assertTrue(all(math.isfinite(value) for column in rows.values() for value in column), "only numbers")
        self.assertEqual(made["reached_time"], rows["time"][-1])
        self.assertEqual(sorted(set(rows["time"])), rows["time"])
        self.assertEqual(made["energy"]["final"], rows["total_energy"][-1])
        frames = ElementTree.parse(results / "frames.pvd").findall(".//DataSet")
        self.assertGreaterEqual(len(frames), 1)
        for frame in frames:
            self.assertTrue((results / frame.get("file")).read_bytes().endswith(b"</VTKFile>\n"))
        return made, rows

    def test_an_element_that_inverts_is_named_with_time_and_J_and_advice(self):
        for method in ("avi", "newmark"):
            made, rows = self.failed("cell 5 at (0.333333, 0.166667)", "t = 0.0029673", " s", "J", "-0.0244", "Try",
                                     initial='velocity = ["-400*(X-0.5)", "0"]', run="end_time = 0.1",
                                     integrator=f'safety = 0.1\nmethod = "{method}"\nmass_shares = "own"')
            self.assertEqual([0, 0.001, 0.002], rows["time"])

    def test_a_state_that_is_shown_or_left_is_sound_or_the_run_has_failed_whatever_the_method(self):
        # So few updates that no strike meets the inversion: at the end, and at rows, elements are looked at anyway.
        stiff = 'model = "neo-hookean"\nyoung = 1e6\npoisson = 0.3\ndensity = 1000'
        for law in ("neo-hookean", "saint-venant-kirchhoff", "linear-elastic"):
            for method in ("avi", "newmark", "gauss", "rk4", "symplectic-euler-a", "trapezoidal", "avi-adaptive"):
                made, rows = self.failed(material=stiff.replace("neo-hookean", law), run="end_time = 0.0042",
                                         initial='velocity = ["-400*(X-0.5)", "0"]', integrator=f'safety = 0.5\nmethod = "{method}"')
                self.assertLess(rows["time"][-1], 0.0026)
        for method in ("avi", "newmark"):
            self.failed("t = ", "Try", material="young = 1e-9\npoisson = 0.3\ndensity = 1e200", run="end_time = 1e-5",
                        initial='velocity = ["1e6*Y", "1e6*X"]', integrator=f'safety = 0.5\nmethod = "{method}"')

    def test_the_message_is_the_summary_s_and_says_where_the_results_are(self):
        self.write("square.msh", square())
        self.write("case.toml", case_text(initial='velocity = ["-400*(X-0.5)", "0"]', run="end_time = 0.1"))
        done = self.tempi("run", "case.toml")
        self.assertEqual((3, ""), (done.returncode, done.stdout))
        self.assertIn(summary(self.folder / "case.out")["message"], done.stderr)
        self.assertIn("case.out", done.stderr)

    def test_a_step_that_becomes_unsafe_is_named_with_the_stable_one(self):
        # Stretched by its supports to twice its length, Saint Venant-Kirchhoff's material is 3.5 times as stiff.
        for method in ("avi", "newmark"):
            self.failed("the step 0.0059", "cell ", "unsafe at t = ", "stable step", " s", "Choose",
                        material='model = "saint-venant-kirchhoff"\nlambda = 1e6\nmu = 1e6\ndensity = 1000',
                        fix='where = "X > -1"\ndisplacement = ["X*t", "0"]', initial="",
                        integrator=f'safety = 1\nmethod = "{method}"\nmass_shares = "own"', run="end_time = 1")

    def test_an_expression_without_value_for_a_while_is_named_with_its_time(self):
        for name, section in (
            ("gravity", {"load": 'type = "gravity"\nvalue = ["0", "t > 0.004 && t < 0.007 ? 0/0 : 1"]'}),
            ("displacement", {"fix": 'group = "left"\ndisplacement = ["t > 0.004 && t < 0.007 ? 0/0 : 0", "0"]'}),
        ):
            self.failed(name, "0/0", "nan", "t = 0.00", " s", **section, run="end_time = 0.02")


class LargeSteps(CaseFolder):
    """Steps that nobody chose and that prove too large: the run begins again with smaller ones, or says why not."""

    # Stretched to twice its length Saint Venant-Kirchhoff's material is 3.5 times as stiff: steps of more than 0.53 of the
    # stable ones become unsafe under way, at t = 0.5 with 0.9.
    STRETCHED = {"material": 'model = "saint-venant-kirchhoff"\nlambda = 1e6\nmu = 1e6\ndensity = 1000', "initial": "",
                 "fix": 'where = "X > -1"\ndisplacement = ["X*t", "0"]', "run": "end_time = 1", "output": OUTPUT}

    def test_they_are_made_smaller_from_the_start_as_if_the_case_had_said_so(self):
        for method in ("avi", "newmark"):
            with self.subTest(method=method):
                results = self.run_case("--overwrite", **self.STRETCHED, integrator=f'method = "{method}"')
                made, log = summary(results), (results / "run.log").read_text()
                self.assertEqual([0.9, 0.6], [round(one["safety"], 9) for one in made["tries"]])
                self.assertLess(made["tries"][0]["time"], made["tries"][1]["time"])
                self.assertEqual(2, sum("begins again" in warning for warning in made["warnings"]))
                self.assertIn("unsafe at t = ", log)
                self.assertGreater(made["total_time"], made["tries_time"])
                self.run_case("--overwrite", "--out", "asked", **self.STRETCHED,
                              integrator=f'method = "{method}"\nsafety = {2 / 3 * (2 / 3 * 0.9)!r}')
                asked = self.folder / "asked"
                self.assertNotIn("tries", summary(asked))
                self.assertEqual((asked / "history.csv").read_bytes(), (results / "history.csv").read_bytes())
                frames = sorted((results / "frames").iterdir())
                self.assertEqual([file.name for file in frames], sorted(file.name for file in (asked / "frames").iterdir()))
                for file in frames:
                    self.assertEqual((asked / "frames" / file.name).read_bytes(), file.read_bytes())

    def test_steps_that_the_case_gives_are_its_own(self):
        results = self.run_case("--overwrite", code=3, **self.STRETCHED, integrator="safety = 0.9")
        self.assertNotIn("tries", summary(results))
        self.assertIn("unsafe at t = ", summary(results)["message"])

    def test_a_motion_that_inverts_an_element_whatever_the_steps_is_tried_once_more(self):
        results = self.run_case("--overwrite", code=3, initial='velocity = ["-400*(X-0.5)", "0"]', run="end_time = 0.1",
                                integrator='method = "avi"', output=OUTPUT)
        made = summary(results)
        self.assertEqual(1, len(made["tries"]))
        self.assertIn("smaller steps do not spare it", made["message"])
        self.assertIn("0.9 (at t = ", made["message"])
        self.assertEqual("failed", made["status"])


class Contrast(CaseFolder):
    """The right half so much stiffer: rounding in it is far above 1e-11 of the largest impulse."""

    def test_implicit_steps_are_solved_at_any_contrast_of_stiffness(self):
        points, elements = square_elements(4)
        halves = [(kind, 4 if kind == TRIANGLE and sum(points[a][0] for a in nodes) > 1.5 else group, nodes)
                  for kind, group, nodes in elements]
        mesh = msh(points, halves, {**SQUARE_NAMES, 4: (2, "hard")})
        for contrast in ("1e6", "1e9", "1e12"):
            for method, step in (("newmark\"\nbeta = 0.25 #", "0.05"), ("newmark\"\nbeta = 0.25 #", "0.0005"),
                                 ("gauss", "0.05"), ("energy-momentum", "0.05")):
                with self.subTest(contrast=contrast, method=method, step=step):
                    results = self.run_case(
                        "--overwrite", meshes={"square.msh": mesh}, fix='group = "left"',
                        material=['group = "body"\nyoung = 1\npoisson = 0.3\ndensity = 1',
                                  f'group = "hard"\nyoung = {contrast}\npoisson = 0.3\ndensity = 1'],
                        initial='velocity = ["0.05*X", "0.1*X*Y"]', run=f"end_time = {10 * float(step)}",
                        integrator=f'method = "{method}"\nstep = {step}', output="frames = 0\nhistory = 4")
                    made = summary(results)
                    if contrast != "1e12":  # where gauss strays by 0.35: steps 1e6 times the stable one
                        self.assertLess(max(abs(made["energy"]["drift"]), made["energy"]["band"]), 0.02)
                    self.assertLess(made["linear_momentum"]["error"], 1e-11)


class Energy(CaseFolder):
    STARS = """[particles]
mass = [1, 1]
position = [[0, 0], [1, 0]]
velocity = [[0, 0], [0, 0.01]]
[[potential]]
type = "gravity"
G = 1.0
[integrator]
method = "{method}"
step = 1e-3
[run]
end_time = 5
{more}
"""

    def run_stars(self, method, more="", *arguments):
        self.write("case.toml", self.STARS.format(method=method, more=more))
        return self.tempi("run", "case.toml", "--overwrite", *arguments)

    def test_energy_from_nowhere_ends_the_run_where_it_came(self):
        for method in ("newmark", "symplectic-euler-a", "rk4"):
            done = self.run_stars(method, "", "--quiet")
            self.assertEqual(3, done.returncode, (method, done.stderr))
            for word in ("gained", "t = ", "energy_tolerance = 0.5", "smaller"):
                self.assertIn(word, done.stderr)
            made, rows = summary(self.folder / "case.out"), history(self.folder / "case.out")
            self.assertEqual("failed", made["status"])
            self.assertLess(max(rows["total_energy"]) - rows["total_energy"][0], 0.5 * max(rows["kinetic_energy"]), "good rows")
            self.assertIn("gained", (self.folder / "case.out" / "run.log").read_text())

    def test_asked_to_it_goes_on_with_a_caution_that_quiet_does_not_hide(self):
        for method in ("newmark", "rk4"):
            done = self.run_stars(method, "energy_tolerance = 0", "--quiet")
            self.assertEqual((0, ""), (done.returncode, done.stdout), done.stderr)
            made = summary(self.folder / "case.out")
            for told in (done.stderr, made["caution"], (self.folder / "case.out" / "run.log").read_text()):
                self.assertIn("the energy strays by", told)

    def test_the_gain_is_held_against_what_was_there_before_it(self):
        # E_ref grows with a blow-up, and the change over it never passes 1: a tolerance of 1 still finds it.
        done = self.run_stars("newmark", "energy_tolerance = 1")
        self.assertEqual(3, done.returncode, done.stderr)
        wide = self.run_stars("newmark", "energy_tolerance = 1e9")
        self.assertEqual(0, wide.returncode, wide.stderr)

    def test_loads_supports_and_dampers_give_and_take_without_alarm(self):
        self.write("square.msh", square(4))
        shaken = 'group = "left"\ndisplacement = ["0.02*sin(60*t)", "0"]'
        for sections in ({"load": 'type = "gravity"\nvalue = [0, -9.81]', "initial": "", "fix": 'group = "left"'},
                         {"load": 'type = "gravity"\nvalue = ["0", "t > 0.05 ? -500 : 0"]', "initial": "", "fix": 'group = "left"'},
                         {"load": 'type = "pressure"\ngroup = "right"\nvalue = "1e4*sin(30*t)"', "initial": ""},
                         {"fix": shaken, "initial": ""}):
            for method in ("avi", "newmark", "trapezoidal"):
                for rows in (3, 1000):
                    text = case_text(**{"run": "end_time = 0.2", "integrator": f'safety = 0.9\nmethod = "{method}"',
                                        "output": f"frames = 0\nhistory = {rows}", **sections})
                    self.write("case.toml", text)
                    done = self.tempi("run", "case.toml", "--overwrite")
                    self.assertEqual(0, done.returncode, (sections, method, rows, done.stderr))


class WriteFailure(CaseFolder):
    def limited(self, size, n=2, **sections):
        """Runs a case that may write no file larger than `size` bytes."""

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        self.write("square.msh", square(n))
        self.write("case.toml", case_text(**sections))
        return self.tempi("run", "case.toml", preexec_fn=limit)

    def test_a_history_that_cannot_grow_ends_the_run(self):
        done = self.limited(20_000, run="end_time = 1", output="frames = 20\nhistory = 1000")
        self.assertEqual((4, ""), (done.returncode, done.stdout), done.stderr)
        for word in ("case.out/history.csv", "File too large", "space"):
            self.assertIn(word, done.stderr)
        made = summary(self.folder / "case.out")
        self.assertEqual("failed", made["status"])
        self.assertIn("history.csv", made["message"])
        whole = (self.folder / "case.out" / "history.csv").read_text().rsplit("\n", 1)[0].splitlines()
        self.assertEqual(made["reached_time"], float(whole[-1].split(",")[0]))

    def test_a_history_that_cannot_grow_ends_with_a_whole_row(self):
        self.limited(20_000, run="end_time = 1", output="frames = 20\nhistory = 1000")
        self.assertTrue((self.folder / "case.out" / "history.csv").read_text().endswith("\n"))

    def test_a_frame_that_cannot_be_written_ends_the_run(self):
        done = self.limited(8_000, n=20)
        self.assertEqual((4, ""), (done.returncode, done.stdout), done.stderr)
        for word in ("case.out/frames/frame_00000.vtu", "File too large", "space"):
            self.assertIn(word, done.stderr)
        self.assertEqual("failed", summary(self.folder / "case.out")["status"])
        self.assertEqual([], list((self.folder / "case.out" / "frames").iterdir()), "no half frame")

    def test_a_place_without_room_for_a_summary_is_refused_before_the_run(self):
        done = self.limited(1_000)
        self.assertEqual((2, ""), (done.returncode, done.stdout), done.stderr)
        self.assertIn("case.out", done.stderr)
        self.assertFalse((self.folder / "case.out").exists(), "nothing is left behind")


class Interruption(CaseFolder):
    def started(self, *arguments, stderr=subprocess.PIPE, **sections):
        """A run that would take minutes, on its way."""
        self.write("square.msh", square(6))
        self.write("case.toml", case_text(run="end_time = 1e4", **sections))
        shutil.rmtree(self.folder / "case.out", ignore_errors=True)
        process = subprocess.Popen([COMMAND, "run", "case.toml", *arguments], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=stderr, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        table = self.folder / "case.out" / "history.csv"
        limit = time.monotonic() + 30
        while not table.exists() or table.read_bytes().count(b"\n") < 2:
            self.assertLess(time.monotonic(), limit, "no row in 30 s")
            time.sleep(0.01)
        time.sleep(0.2)
        return process

    def assert_readable(self):
        results = self.folder / "case.out"
        made, rows = summary(results), history(results)
        self.assertEqual("interrupted", made["status"])
        self.assertGreater(rows["time"][-1], 0.0)
        self.assertEqual(made["reached_time"], rows["time"][-1])
        self.assertEqual(made["energy"]["final"], rows["total_energy"][-1])
        self.assertEqual(sorted(set(rows["time"])), rows["time"], "every time once")
        frames = ElementTree.parse(results / "frames.pvd").findall(".//DataSet")
        self.assertEqual(rows["time"][-1], float(frames[-1].get("timestep")))
        self.assertEqual(len(frames), len({frame.get("timestep") for frame in frames}))
        for frame in frames:
            self.assertTrue((results / frame.get("file")).read_bytes().endswith(b"</VTKFile>\n"))
        return made

    def test_one_interruption_ends_the_run_cleanly(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.started(output="frames = 2\nhistory = 2")
            process.send_signal(number)
            out, err = process.communicate(timeout=20)
            self.assertEqual(130, process.returncode, err)
            self.assertIn("interrupted", err)
            self.assertIn("case.out", err)
            self.assertIn("interrupted", out)
            self.assert_readable()

    def test_an_interruption_at_the_time_of_an_output_writes_it_once(self):
        process = self.started("--quiet", output="frames = 50\nhistory = 1000000")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        self.assertEqual((130, ""), (process.returncode, out), err)
        self.assert_readable()

    def test_an_interrupted_run_claims_no_speedup_it_did_not_count(self):
        process = self.started(output="frames = 2\nhistory = 2")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        made = self.assert_readable()
        if made["counted_speedup"] is not None:
            self.assertAlmostEqual(1.0, made["counted_speedup"], places=1)

    def test_the_second_interruption_ends_the_run_at_once(self):
        process = self.started(output="frames = 2\nhistory = 2")
        process.send_signal(signal.SIGINT)
        time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=5)
        self.assertEqual(130, process.returncode)

    def test_a_terminal_sees_progress_and_nobody_else(self):
        leader, follower = pty.openpty()
        process = self.started(stderr=follower, output="frames = 2\nhistory = 2")
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        os.close(follower)
        seen = os.read(leader, 100_000).decode()
        os.close(leader)
        for word in ("%", "updates/s", "energy", "left", " s "):
            self.assertIn(word, seen)


if __name__ == "__main__":
    unittest.main()
