# SPDX-License-Identifier: Apache-2.0
"""The command line: options, where things are found and written, what goes to stdout and what to stderr."""

import os
import re
import subprocess
import unittest
from pathlib import Path

from case_folder import COMMAND, CaseFolder, case_text, cube, square, summary
from refused import Refused

SOURCE = Path(os.environ.get("TEMPI_SOURCE_DIR", Path(__file__).parents[2]))


class Words(CaseFolder):
    def test_version_and_help_go_to_stdout(self):
        done = self.tempi("--version")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertRegex(done.stdout, r"\Atempi \d+\.\d+\.\d+")
        for command in ("", "run", "check", "plot", "options", "methods"):
            done = self.tempi(*command.split(), "--help")
            self.assertEqual((0, ""), (done.returncode, done.stderr))
            self.assertIn("Usage: tempi", done.stdout)
        for word in ("run", "check", "plot", "options", "methods"):
            self.assertIn(f"  {word} ", self.tempi("--help").stdout)

    def test_options_lists_every_key_with_unit_default_and_range(self):
        done = self.tempi("options")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        for key in ("title", "file", "order", "size", "refine", "scale", "group", "where", "model", "lambda", "mu",
                    "young", "poisson", "density", "components", "displacement", "type", "value", "dead", "position",
                    "velocity", "name", "point", "method", "safety", "courant", "step", "steps", "lattice",
                    "residual", "end_time", "frames", "history", "fields", "float32", "stress"):
            self.assertRegex(done.stdout, rf"(?m)^  {key} ")
        for section in ("[constants]", "[mesh]", "[[material]]", "[[fix]]", "[[load]]", "[initial]", "[[probe]]",
                        "[integrator]", "[run]", "[output]"):
            self.assertRegex(done.stdout, rf"(?m)^{re.escape(section)} ")
        self.assertRegex(done.stdout, r"density +\[kg/m\^3\] \(number > 0; required\)")
        self.assertRegex(done.stdout, r"safety .*default 0\.9")

    def test_the_page_of_options_in_the_documentation_is_the_program_s_own(self):
        page = SOURCE / "docs" / "input.md"
        if not page.exists():
            self.skipTest("there is no docs/input.md")
        self.assertEqual(page.read_text(encoding="utf-8"), self.tempi("options", "--markdown").stdout)

    def test_the_page_of_methods_in_the_documentation_is_what_they_claim(self):
        page = (SOURCE / "docs" / "methods.md").read_text(encoding="utf-8")
        self.assertEqual(page, self.tempi("methods").stdout)

    def test_the_table_of_methods_in_readme_is_the_program_s_own(self):
        readme = (SOURCE / "README.md").read_text(encoding="utf-8")
        table = self.tempi("methods", "--table").stdout
        self.assertGreater(table.count("\n"), 15)
        self.assertIn("\n\n" + table + "\n", readme, "renew it: tempi methods --table")

    def test_a_standard_output_that_is_full_ends_with_4(self):
        self.write("square.msh", square())
        self.write("case.toml", case_text())
        for arguments in (["--help"], ["options"], ["methods"], ["check", "case.toml"], ["run", "case.toml"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([COMMAND, *arguments], cwd=self.folder, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual(4, done.returncode, (arguments, done.stderr))
            self.assertIn("standard output", done.stderr)

    def test_messages_are_one_line_of_bounded_length_whatever_they_quote(self):
        for title in ("x" * 1_000_000, "two\\nlines", "bell\\u0007 and \\u001b[31m red"):
            self.write("case.toml", case_text() + f'\n[[probe]]\nname = "{title}"\ngroup = "{title}"\n')
            self.write("square.msh", square())
            done = self.tempi("check", "case.toml")
            self.assertEqual(2, done.returncode)
            self.assertEqual(1, done.stderr.count("\n"))
            self.assertLess(len(done.stderr), 2200)
            self.assertFalse([c for c in done.stderr[:-1] if ord(c) < 32])

    def test_threads_that_cannot_start_are_done_without_and_told(self):
        self.write("square.msh", square(6))
        self.write("case.toml", case_text())
        self.tempi("run", "case.toml", "--out", "one", "--threads", "1")
        limited = subprocess.run(["sh", "-c", f'ulimit -v 3000000; ulimit -s 100000; "{COMMAND}" run case.toml --out few --threads 200'],
                                 cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(0, limited.returncode, limited.stderr)
        self.assertRegex(limited.stderr, r"only \d+ of 200 threads could be started")
        for name in ("history.csv", "frames/frame_00002.vtu"):
            self.assertEqual((self.folder / "one" / name).read_bytes(), (self.folder / "few" / name).read_bytes())

    def test_a_check_never_ends_with_3(self):
        self.write("square.msh", square())
        self.write("case.toml", case_text(initial='position = ["-X", "Y"]'))
        for command in ("check", "run"):
            done = self.tempi(command, "case.toml")
            self.assertEqual(2, done.returncode, done.stderr)

    def test_usage_errors_end_with_2_and_one_short_message(self):
        self.write("case.toml", case_text())
        for arguments, word in (
            ([], "run"),
            (["rnu", "case.toml"], "rnu"),
            (["run"], "CASE"),
            (["run", "case.toml", "extra"], "extra"),
            (["run", "case.toml", "--foo"], "--foo"),
            (["--quiet", "run", "case.toml"], "--quiet"),
            (["run", "case.toml", "--out"], "--out"),
            (["run", "case.toml", "--set"], "--set"),
            (["run", "case.toml", "--threads", "0"], "--threads"),
            (["run", "case.toml", "--threads", "x"], "--threads"),
            (["run", "case.toml", "--threads", "1.5"], "--threads"),
            (["check", "case.toml", "--out", "x"], "--out"),
            (["options", "--foo"], "--foo"),
            (["plot"], "DIR"),
        ):
            done = self.tempi(*arguments)
            with self.subTest(arguments=arguments, message=done.stderr):
                self.assertEqual((2, ""), (done.returncode, done.stdout))
                self.assertIn(word, done.stderr)
                self.assertLess(len(done.stderr), 300)
        self.assertEqual(["case.toml"], os.listdir(self.folder))


class Settings(Refused):
    def test_set_changes_and_adds_values(self):
        results = self.run_case("--set", "run.end_time=0.01", "--set", "title=another one", "--set", "output.frames=3",
                                "--set", "material.0.density=2000", "--set", "integrator.method=newmark")
        made = summary(results)
        self.assertEqual((0.01, "another one"), (made["end_time"], made["title"]))
        self.assertEqual(4, len(list((results / "frames").iterdir())))
        self.assertIn("newmark", made["method"])

    def test_the_last_of_two_settings_holds(self):
        results = self.run_case("--set", "run.end_time=1", "--set", "run.end_time=2e-3")
        self.assertEqual(2e-3, summary(results)["end_time"])

    def test_settings_that_are_wrong_are_named(self):
        for setting in ("end_time", "=3", "run.end_tim=3", "end_time=3", "run.end_time=abc", "run.end_time=",
                        "run.end_time=-1", "material.density=3", "material.3.density=3", "material.0=3", "material=3",
                        "run=3", "title.a=3", "initial.velocity=[1", "integrator.method=avy"):
            self.refused(f"--set {setting}", arguments=["--set", setting])

    def test_a_setting_beside_its_section_says_which_section(self):
        self.refused("run.end_time", arguments=["--set", "end_time=3"])


class Places(CaseFolder):
    def test_out_is_the_case_s_name_with_out_in_the_current_folder(self):
        self.write("some cases/first try.toml", case_text(title="Grüße ∂Ω 木"))
        self.write("some cases/square.msh", square())
        done = self.tempi("run", "some cases/first try.toml")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual("Grüße ∂Ω 木", summary(self.folder / "first try.out")["title"])
        self.assertIn("first try.out", done.stdout)
        self.assertIn("Grüße ∂Ω 木", done.stdout)

    def test_the_mesh_is_found_beside_the_case_or_by_its_whole_path(self):
        mesh = self.write("my meshes/square.msh", square())
        self.write("cases/case.toml", case_text(mesh='file = "../my meshes/square.msh"'))
        self.assertEqual(0, self.tempi("check", "cases/case.toml").returncode)
        self.write("cases/case.toml", case_text(mesh=f'file = "{mesh}"'))
        self.assertEqual(0, self.tempi("check", "cases/case.toml").returncode)

    def test_out_makes_folders_and_leaves_what_it_did_not_make(self):
        self.write("a/b c/mine.txt", "mine")
        results = self.run_case("--out", "a/b c").parent / "a" / "b c"
        self.assertEqual({"mine.txt", "summary.json", "history.csv", "frames.pvd", "frames", "run.log"}, set(os.listdir(results)))
        self.assertEqual(0, self.tempi("run", "case.toml", "--out", "d/e/f").returncode)
        self.assertEqual("completed", summary(self.folder / "d" / "e" / "f")["status"])

    def test_results_are_not_overwritten_unless_allowed(self):
        results = self.run_case("--set", "output.frames=5")
        before = (results / "summary.json").read_bytes()
        done = self.tempi("run", "case.toml")
        self.assertEqual((2, ""), (done.returncode, done.stdout))
        for word in ("'case.out'", "--overwrite", "--out"):
            self.assertIn(word, done.stderr)
        self.assertEqual(before, (results / "summary.json").read_bytes())
        self.assertEqual(0, self.tempi("run", "case.toml", "--overwrite", "--set", "run.end_time=0.01").returncode)
        self.assertEqual(0.01, summary(results)["end_time"])
        self.assertEqual(3, len(list((results / "frames").iterdir())), "no frames of the earlier run")

    def test_a_case_that_is_refused_leaves_older_results_alone(self):
        results = self.run_case()
        before = {file: file.read_bytes() for file in results.rglob("*") if file.is_file()}
        done = self.tempi("run", "case.toml", "--overwrite", "--set", "run.end_time=-1")
        self.assertEqual(2, done.returncode)
        self.assertEqual(before, {file: file.read_bytes() for file in results.rglob("*") if file.is_file()})

    def refused_folder(self, folder, *words):
        self.write("square.msh", square())
        self.write("case.toml", case_text())
        done = self.tempi("run", "case.toml", "--out", folder)
        with self.subTest(folder=folder, message=done.stderr):
            self.assertEqual((2, ""), (done.returncode, done.stdout))
            for word in words:
                self.assertIn(word, done.stderr)

    def test_folders_that_cannot_be_written_to(self):
        self.refused_folder("square.msh", "'square.msh'", "is a file", "--out")
        self.refused_folder("square.msh/sub", "'square.msh/sub'", "not a folder", "--out")
        self.refused_folder("", "--out")
        if Path("/proc/self").exists():
            self.refused_folder("/proc/results", "'/proc/results'", "--out")
        self.assertEqual(["case.toml", "square.msh"], sorted(os.listdir(self.folder)))

    @unittest.skipIf(os.geteuid() == 0, "root writes everywhere")
    def test_a_folder_that_is_read_only(self):
        closed = self.folder / "closed"
        closed.mkdir(mode=0o555)
        self.refused_folder("closed", "'closed'", "--out")
        self.refused_folder("closed/sub", "'closed/sub'", "--out")
        self.assertEqual([], os.listdir(closed))


class Talk(CaseFolder):
    def test_a_run_tells_its_result_on_stdout_and_quiet_says_nothing(self):
        self.write("square.msh", square())
        self.write("case.toml", case_text(title="A square"))
        done = self.tempi("run", "case.toml")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        for word in ("A square", "completed", "8 elements", "9 nodes", "48", "case.out"):
            self.assertIn(word, done.stdout)
        done = self.tempi("run", "case.toml", "--quiet", "--overwrite")
        self.assertEqual((0, "", ""), (done.returncode, done.stdout, done.stderr))

    def test_errors_are_told_although_quiet(self):
        done = self.tempi("run", "nowhere.toml", "--quiet")
        self.assertEqual((2, ""), (done.returncode, done.stdout))
        self.assertIn("nowhere.toml", done.stderr)

    def test_warnings_go_to_stderr_and_into_the_summary(self):
        geometry = "Point(1) = {0,0,0}; Point(2) = {1,0,0}; Point(3) = {0,1,0}; Point(9) = {5,5,0};\n" \
                   "Line(1) = {1,2}; Line(2) = {2,3}; Line(3) = {3,1}; Curve Loop(1) = {1,2,3};\n" \
                   'Plane Surface(1) = {1}; Physical Surface("body") = {1}; Physical Point("far") = {9};\n'
        self.write("corner.geo", geometry)
        self.write("case.toml", case_text(mesh='file = "corner.geo"\nsize = 0.5'))
        done = self.tempi("run", "case.toml")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertRegex(done.stderr, r"\Atempi: warning: 1 point [^\n]+\n\Z")
        self.assertEqual(1, len(summary(self.folder / "case.out")["warnings"]))
        self.assertEqual("", self.tempi("run", "case.toml", "--quiet", "--overwrite").stderr)

    def test_settings_that_a_finished_mesh_cannot_follow_are_not_passed_over_in_silence(self):
        self.write("square.msh", square())
        for setting in ("order = 2", "size = 0.1", "refine = 1"):
            self.write("case.toml", case_text(mesh=f'file = "square.msh"\n{setting}'))
            with self.subTest(setting=setting):
                self.assertIn(setting.split()[0], self.tempi("check", "case.toml").stderr)

    def test_check_prints_model_steps_and_updates_and_writes_nothing(self):
        self.write("cube.msh", cube(1))
        text = case_text(title="A cube", mesh='file = "cube.msh"', initial="", fix='group = "bottom"',
                         material='model = "linear-elastic"\nyoung = 2.5e6\npoisson = 0.25\ndensity = 1000')
        self.write("case.toml", text)
        done = self.tempi("check", "case.toml")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        for word in ("A cube", "6 cells", "8 nodes", "3-D", "linear-elastic", "lambda 1e+06 Pa", "mu 1e+06 Pa",
                     "density 1000 kg/m^3", "54.7723 m/s", "1000 kg", "bottom: 4 nodes", "avi", "newmark"):
            self.assertIn(word, done.stdout)
        self.assertEqual(["case.toml", "cube.msh"], sorted(os.listdir(self.folder)))
        predicted = int(re.search(r"avi +(\d+)", done.stdout)[1])
        newmark = int(re.search(r"newmark +(\d+)", done.stdout)[1])
        self.assertEqual(0, self.tempi("run", "case.toml").returncode)
        made = summary(self.folder / "case.out")
        self.assertEqual((predicted, newmark), (made["updates"]["total"], made["newmark_updates"]))

    def test_check_counts_that_rows_cut_the_run_into_pieces(self):
        self.write("square.msh", square(12))
        updates = []
        for rows in (10, 100000):
            self.write("case.toml", case_text(run="end_time = 0.1", output=f"frames = 0\nhistory = {rows}"))
            told = re.search(r"time here.*?: ([0-9.e+-]+) s updates", self.tempi("check", "case.toml").stdout)
            updates.append(float(told[1]))
        self.assertGreater(updates[1], 1.5 * updates[0])  # pieces shorter than a step

    def test_check_refuses_what_run_refuses(self):
        self.write("square.msh", square())
        for sections in ({"run": "end_time = -1"}, {"fix": 'group = "lfet"'}, {"integrator": "step = 1"}):
            self.write("case.toml", case_text(**sections))
            run, check = self.tempi("run", "case.toml"), self.tempi("check", "case.toml")
            self.assertEqual((2, "", run.stderr), (check.returncode, check.stdout, check.stderr))


if __name__ == "__main__":
    unittest.main()
