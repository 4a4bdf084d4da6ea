# SPDX-License-Identifier: Apache-2.0
"""Runs that are cut off go on to the bits of a run that was not: killed, interrupted, at a wall limit, on a full disk."""

import os
import random
import shutil
import signal
import subprocess
import time
import unittest
from pathlib import Path

from case_folder import COMMAND, CaseFolder, case_text, cube, square, summary

KILLS = int(os.environ.get("TEMPI_KILLS", "8"))
DAMAGES = int(os.environ.get("TEMPI_DAMAGES", "16"))

SOLID = "young = 1e6\npoisson = 0.3\ndensity = 1000"
TWIST = 'velocity = ["0.5*(Y-0.5)*X", "0.5*X*(0.5-Y)", "0.2*X"]'
LOADED = {
    "mesh": 'file = "cube.msh"',
    "material": SOLID,
    "fix": ['group = "bottom"', 'where = "X > 0.99 && Z > 0.99"\ncomponents = ["x"]\ndisplacement = ["0.01*sin(40*t)"]'],
    "load": ['type = "gravity"\nvalue = [0, 0, -9.81]', 'type = "pressure"\ngroup = "skin"\nvalue = "100*sin(50*t)"',
             'type = "traction"\ngroup = "skin"\nvalue = ["0", "20*t", "0"]',
             'type = "traction"\ngroup = "skin"\nvalue = ["5*Y*sin(30*t)", "0", "0"]'],
    "initial": TWIST,
    "probe": ['name = "corner"\npoint = [1, 1, 1]', 'name = "stress"\npoint = [0.5, 0.5, 0.5]\nstress = true'],
    "run": "end_time = 0.4\ncheckpoint = 0.02",
    "output": "frames = 7\nhistory = 60",
}
DAMPED = ("\n[[damping]]\ntype = \"rayleigh\"\nalpha = 0.5\nbeta = 1e-4\n"
          "\n[[damping]]\ntype = \"drag\"\ncoefficient = 0.3\n")
GAS = '''title = "gas"
[particles]
mass = {mass}
position = {position}
velocity = {velocity}
box = [{box}, {box}, {box}]
[[potential]]
type = "lennard-jones"
epsilon = 1.0
sigma = 1.0
cutoff = 1.7
[[damping]]
type = "drag"
coefficient = 0.01
[integrator]
method = "{method}"
step = 0.002
[run]
end_time = {end}
checkpoint = 0.02
[output]
frames = 5
history = 40
'''


def gas(method, end, n=4):
    dice = random.Random(7)
    places = [[1.2 * i, 1.2 * j, 1.2 * k] for i in range(n) for j in range(n) for k in range(n)]
    speeds = [[dice.gauss(0, 0.7) for _ in range(3)] for _ in places]
    return GAS.format(mass=[1.0] * len(places), position=places, velocity=speeds, box=1.2 * n, method=method, end=end)


GRAINS = '''title = "grains in a corner"
[particles]
mass = 0.004
position = [[0, 0.0052], [0.0101, 0.006], [0.0202, 0.0052], [0.005, 0.016], [0.0151, 0.0162]]
velocity = [[0.1, -0.2], [0, -0.3], [-0.2, 0], [0.1, -0.5], [0, -0.4]]
radius = 0.005
[[potential]]
type = "hertz"
young = 1e8
poisson = 0.3
restitution = "1 - 0.3*v^0.2"
[[load]]
type = "gravity"
value = [0, -9.81]
[[wall]]
type = "plane"
point = [0, 0]
normal = [0, 1]
young = 1e8
poisson = 0.3
[integrator]
method = "{method}"
step = 2e-6
[run]
end_time = 0.1
checkpoint = 0.02
[output]
frames = 5
history = 40
'''


def cases():
    """Name, text: every engine, bodies with everything on them, particles."""
    def body(integrator, more="", **sections):
        return case_text(**{**LOADED, "integrator": integrator, **sections}) + more
    yield "lattice, watched", body('method = "avi"\nsafety = 0.5\nresidual = true')
    yield "lattice, damped", body('method = "avi"\nsafety = 0.5', DAMPED)
    yield "queue", body('method = "avi"\nsafety = 0.5\nlattice = "exact"', DAMPED, run="end_time = 0.05\ncheckpoint = 0.02")
    yield "newmark", body('method = "newmark"\nsafety = 0.5\nresidual = true', run="end_time = 0.1\ncheckpoint = 0.02")
    yield "gauss", body('method = "gauss"\norder = 2\nstep = 1e-3', run="end_time = 0.03\ncheckpoint = 0.02")
    yield "static", body('method = "static"\nload_steps = 40')
    yield "energy steps", body('method = "async-energy-stepping"\nenergy_step = 1e-3\nsubdomains = "terms"', load="",
                               fix='group = "bottom"', run="end_time = 0.05\ncheckpoint = 0.02")
    yield "begun again with smaller steps", case_text(  # twice: failures_test.py
        material='model = "saint-venant-kirchhoff"\nlambda = 1e6\nmu = 1e6\ndensity = 1000', initial="", integrator='method = "avi"',
        fix='where = "X > -1"\ndisplacement = ["X*t/20", "0"]', run="end_time = 20\ncheckpoint = 0.02", output="frames = 7\nhistory = 60")
    yield "gas on the lattice", gas("avi", 60.0)
    yield "gas by Verlet", gas("newmark", 60.0)
    yield "grains that remember their impacts", GRAINS.format(method="avi")


class Resume(CaseFolder):
    def setUp(self):
        super().setUp()
        self.write("cube.msh", cube(4, power=2.2))
        self.write("square.msh", square(6))

    def run_it(self, *more, code=0, out="case.out", **options):
        done = self.tempi("run", "case.toml", "--out", out, *more, **options)
        self.assertEqual(code, done.returncode, done.stderr)
        return done

    def assert_same(self, one, other):
        """The same bits of history and frames."""
        one, other = self.folder / one, self.folder / other
        self.assertEqual((one / "history.csv").read_bytes(), (other / "history.csv").read_bytes())
        self.assertEqual((one / "frames.pvd").read_bytes(), (other / "frames.pvd").read_bytes())
        names = sorted(file.name for file in (one / "frames").iterdir())
        self.assertEqual(names, sorted(file.name for file in (other / "frames").iterdir()))
        for name in names:
            self.assertEqual((one / "frames" / name).read_bytes(), (other / "frames" / name).read_bytes(), name)
        a, b = summary(one), summary(other)
        for key in ("status", "updates", "energy", "linear_momentum", "angular_momentum", "energy_residual", "measures", "tries"):
            self.assertEqual(a.get(key), b.get(key), key)

    def kill_until_done(self, duration, dice, out):
        """Starts the run again and again, each time killed after a random while. Returns how often it was."""
        kills = 0
        while True:
            command = [COMMAND, "run", "case.toml", "--out", out, "--quiet", "--resume", "--threads", str(dice.randint(1, 2))]
            process = subprocess.Popen(command, cwd=self.folder, stderr=subprocess.PIPE)
            try:
                _, said = process.communicate(timeout=dice.uniform(0.0, 1.3 * duration))
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                kills += 1
                continue
            self.assertEqual(0, process.returncode, said)
            return kills

    def test_killed_at_any_moment_and_resumed_it_ends_with_the_same_bits(self):
        dice = random.Random(20261122)
        kills, runs, texts = 0, 0, list(cases())
        while kills < KILLS or runs < len(texts):
            name, text = texts[runs % len(texts)]
            self.write("case.toml", text)
            if runs < len(texts):
                start = time.monotonic()
                self.run_it("--quiet", out=f"whole{runs}")
                setattr(self, name, time.monotonic() - start)
            shutil.rmtree(self.folder / "cut", ignore_errors=True)
            with self.subTest(case=name, run=runs):
                kills += self.kill_until_done(getattr(self, name), dice, "cut")
                self.assert_same(f"whole{runs % len(texts)}", "cut")
                left = {file.name for file in (self.folder / "cut").iterdir()}
                self.assertEqual({"summary.json", "history.csv", "frames.pvd", "frames", "run.log"}, left - {".lock"})
            runs += 1

    def test_a_control_without_its_checkpoint_does_not_go_on(self):
        self.write("case.toml", case_text(**{**LOADED, "run": "end_time = 400\ncheckpoint = 0.05"}))
        self.interrupt(signal.SIGKILL)
        for name in ("checkpoint.bin", "checkpoint.previous.bin"):
            (self.folder / "case.out" / name).unlink(missing_ok=True)
        done = self.run_it("--resume", code=2)
        self.assertIn("no checkpoint", done.stderr)
        self.assertIn("--overwrite", done.stderr)

    def history_written(self):
        file = self.folder / "case.out" / "history.csv"
        return file.stat().st_mtime_ns if file.exists() else None

    def wait_for_history(self, process, before=None):
        """Until it is there, or newer than that of the run before: from then on signals are heard."""
        while self.history_written() == before:
            self.assertIsNone(process.poll(), "it has ended")
            time.sleep(0.01)

    def interrupt(self, kind, *more, after=0.6):
        before = self.history_written() if "--resume" in more else None
        process = subprocess.Popen([COMMAND, "run", "case.toml", *more], cwd=self.folder, stderr=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        self.wait_for_history(process, before)
        time.sleep(after)
        process.send_signal(kind)
        _, said = process.communicate(timeout=60)
        return process.returncode, said

    def test_signals_write_a_checkpoint_and_the_run_goes_on(self):
        self.write("case.toml", case_text(**{**LOADED, "run": "end_time = 300\ncheckpoint = 0"}))
        whole = False
        for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            code, said = self.interrupt(kind, "--resume", after=0.7)
            self.assertEqual(130, code, said)
            self.assertIn("--resume", said)
            made = summary(self.folder / "case.out")
            self.assertEqual("interrupted", made["status"])
            self.assertTrue(whole or made["resumed"] == 0)
            whole = True
        self.assertEqual(2, made["resumed"])
        self.run_it("--resume")
        self.run_it("--quiet", out="whole")
        self.assert_same("whole", "case.out")

    def test_a_signal_that_comes_twice_at_once_loses_nothing(self):
        self.write("case.toml", case_text(**{**LOADED, "run": "end_time = 3000\ncheckpoint = 0"}))
        process = subprocess.Popen([COMMAND, "run", "case.toml"], cwd=self.folder, stderr=subprocess.PIPE)
        self.wait_for_history(process)
        for _ in range(2):
            process.send_signal(signal.SIGTERM)
            time.sleep(0.02)
        process.communicate(timeout=60)
        self.assertEqual(130, process.returncode)
        self.assertGreater((self.folder / "case.out" / "checkpoint.bin").stat().st_size, 5000)

    def test_a_wall_limit_ends_with_a_checkpoint_in_time(self):
        self.write("case.toml", case_text(**{**LOADED, "run": "end_time = 400\nwall_limit = 2.5"}))
        start = time.monotonic()
        done = self.run_it(code=130)
        self.assertLess(time.monotonic() - start, 3.5)
        self.assertIn("wall limit", done.stderr)
        self.assertGreater((self.folder / "case.out" / "checkpoint.bin").stat().st_size, 5000)

    def test_results_that_are_complete_are_not_computed_again(self):
        self.write("case.toml", case_text())
        self.run_it("--resume")
        before = (self.folder / "case.out" / "summary.json").stat().st_mtime_ns
        done = self.run_it("--resume")
        self.assertIn("complete already", done.stderr)
        self.assertEqual(before, (self.folder / "case.out" / "summary.json").stat().st_mtime_ns)
        done = self.run_it("--resume", "--set", "run.end_time=0.03", code=2)
        self.assertIn("another case", done.stderr)

    def test_a_case_that_has_changed_is_refused_by_what_has(self):
        self.write("case.toml", case_text(**{**LOADED, "run": "end_time = 3000\ncheckpoint = 0"}))
        self.interrupt(signal.SIGTERM)
        for change, words in (("run.end_time=5", ("end_time = 5", "end_time = 3000")), ("material.0.young=2e6", ("young",)),
                              ("integrator.safety=0.4", ("safety",)), ("load.0.value=[0,0,-1]", ("value",)),
                              ('integrator.method="newmark"', ("newmark",))):
            done = self.run_it("--resume", "--set", change, code=2)
            for word in (*words, "has changed", "--overwrite"):
                self.assertIn(word, done.stderr)
        self.write("cube.msh", cube(4, power=2.1))
        done = self.run_it("--resume", code=2)
        self.assertIn("another model", done.stderr)
        self.write("cube.msh", cube(4, power=2.2))
        self.run_it("--resume", "--set", "run.wall_limit=0.7", "--set", "run.energy_tolerance=0", code=130)

    def test_a_folder_belongs_to_one_run_at_a_time(self):
        self.write("case.toml", case_text(**{**LOADED, "run": "end_time = 400"}))
        first = subprocess.Popen([COMMAND, "run", "case.toml"], cwd=self.folder, stderr=subprocess.DEVNULL)
        self.addCleanup(first.communicate)
        self.addCleanup(first.kill)
        self.wait_for_history(first)
        before = {name for name in os.listdir(self.folder / "case.out") if not name.endswith(".part")}
        for how in ("--resume", "--overwrite"):
            done = self.run_it(how, code=2)
            self.assertIn("another run is writing", done.stderr)
        self.assertEqual(set(), before - set(os.listdir(self.folder / "case.out")), "nothing was moved")

    def test_overwriting_keeps_what_was_there_once(self):
        self.write("case.toml", case_text())
        self.run_it()
        before = (self.folder / "case.out" / "history.csv").read_bytes()
        for safety in (0.25, 0.2):
            self.run_it("--overwrite", "--set", f"integrator.safety={safety}")
            self.assertEqual(before, (self.folder / "case.out" / "previous" / "history.csv").read_bytes())
            before = (self.folder / "case.out" / "history.csv").read_bytes()
        self.assertFalse((self.folder / "case.out" / "previous" / "previous").exists())
        self.assertTrue((self.folder / "case.out" / "previous" / "frames" / "frame_00000.vtu").exists())

    def test_damaged_checkpoints_are_refused_or_the_one_before_is_taken(self):
        self.write("case.toml", gas("avi", 200.0))
        self.interrupt(signal.SIGTERM, after=0.3)
        self.interrupt(signal.SIGTERM, "--resume", after=0.1)
        results = self.folder / "case.out"
        good = (results / "checkpoint.bin").read_bytes()
        before = (results / "checkpoint.previous.bin").read_bytes()
        dice = random.Random(3)
        shutil.copytree(results, self.folder / "kept")
        taken = 0
        for i in range(DAMAGES):
            bad = damaged(good, dice)
            if bad == good:
                continue
            both = dice.random() < 0.5
            shutil.rmtree(results)
            shutil.copytree(self.folder / "kept", results)
            (results / "checkpoint.bin").write_bytes(bad)
            if both:
                (results / "checkpoint.previous.bin").write_bytes(damaged(before, dice) or b"x")
            done = self.tempi("run", "case.toml", "--resume", "--set", "run.wall_limit=1e-9")
            log = (results / "run.log").read_text()
            if both:
                self.assertEqual(2, done.returncode, f"{i}: {done.stderr}")
                self.assertIn("checkpoint.bin", done.stderr)
            else:
                self.assertEqual(130, done.returncode, f"{i}: {done.stderr}")
                self.assertIn("The one before is taken", done.stderr)
                self.assertIn("The one before is taken", log)
                taken += 1
        self.assertGreater(taken, DAMAGES // 4)
        shutil.rmtree(results)
        shutil.copytree(self.folder / "kept", results)
        (results / "checkpoint.bin").write_bytes(damaged(good, dice))
        self.run_it("--resume")
        self.run_it("--quiet", out="whole")
        self.assert_same("whole", "case.out")

    def test_another_build_or_machine_is_told(self):
        self.write("case.toml", case_text(**{**LOADED, "run": "end_time = 3000\ncheckpoint = 0"}))
        self.interrupt(signal.SIGTERM)
        environment = {**os.environ, "TEMPI_INSTRUCTIONS": "baseline"}
        done = self.run_it("--resume", "--set", "run.wall_limit=1e-9",
                           code=130, env=environment)
        if " avx2 " in Path("/proc/cpuinfo").read_text():
            self.assertIn("another build or on another machine", done.stderr)

    def test_histories_and_frames_that_are_gone_are_told(self):
        self.write("case.toml", case_text(**{**LOADED, "run": "end_time = 3000\ncheckpoint = 0"}))
        self.interrupt(signal.SIGTERM)
        results = self.folder / "case.out"
        text = (results / "history.csv").read_text()
        (results / "history.csv").write_text(text[:len(text) // 3])
        self.assertIn("history.csv", self.run_it("--resume", code=2).stderr)
        (results / "history.csv").write_text(text)
        (results / "frames" / "frame_00000.vtu").unlink()
        self.assertIn("frame_00000.vtu", self.run_it("--resume", code=2).stderr)


def damaged(data, dice):
    """A byte changed, bytes left out or put in, cut off, or zeros as a crash leaves them."""
    data = bytearray(data)
    at = dice.randrange(len(data))
    kind = dice.randrange(6)
    if kind <= 1:
        data[at] ^= 1 << dice.randrange(8)
    elif kind == 2:
        del data[at:at + dice.randint(1, 64)]
    elif kind == 3:
        data[at:at] = bytes(dice.randrange(256) for _ in range(dice.randint(1, 64)))
    elif kind == 4:
        del data[at:]
    else:
        end = min(len(data), at + dice.randint(1, 4096))
        data[at:end] = bytes(end - at)
        data[0] ^= 0 if any(data[:17]) else 1
    return bytes(data)


if __name__ == "__main__":
    unittest.main()
