# SPDX-License-Identifier: Apache-2.0
"""What a finished run leaves: summary, history and frames agree with the case, each other and every repeat."""

import math
import unittest
import xml.etree.ElementTree as ElementTree

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader

from case_folder import SQUARE_NAMES, CaseFolder, case_text, history, msh, square_elements, summary

END = 0.1
DENSITY = 1000.0
SECTIONS = {
    "title": "A graded square",
    "constants": "a = 0.02",
    "fix": ['name = "wall"\ngroup = "left"', 'where = "X > 0.999"\ncomponents = ["y"]\ndisplacement = ["a*t/0.1"]'],
    "load": ['type = "gravity"\nvalue = [0, -9.81]', 'type = "pressure"\nwhere = "Y > 0.999"\nvalue = "2e3*t/0.1"'],
    "initial": 'position = ["1.05*X", "Y"]\nvelocity = ["0", "X*(1 - X)"]',
    "probe": ['name = "tip"\npoint = [1, 1]', 'name = "mean"\ngroup = "body"'],
    "integrator": 'method = "avi"\nsafety = 0.3\nlattice = "powers-of-two"\nresidual = true',
    "run": f"end_time = {END}",
    "output": "frames = 50\nhistory = 1000",
}


def graded_square():
    points, elements = square_elements(5)
    return msh([(x**1.6, y**1.3, z) for x, y, z in points], elements, SQUARE_NAMES)


def frame_files(results):
    """(time, file) of every frame."""
    collection = ElementTree.parse(results / "frames.pvd").getroot()
    return [(float(item.get("timestep")), results / item.get("file")) for item in collection.iter("DataSet")]


def read_frame(file):
    """points, connectivity, point data and cell data, read with VTK's own reader."""
    reader = vtkXMLUnstructuredGridReader()
    reader.SetFileName(str(file))
    reader.Update()
    if reader.GetErrorCode() != 0:
        raise AssertionError(f"VTK cannot read {file}")
    grid = reader.GetOutput()
    arrays = [{data.GetArrayName(i): vtk_to_numpy(data.GetArray(i)) for i in range(data.GetNumberOfArrays())}
              for data in (grid.GetPointData(), grid.GetCellData(), grid.GetFieldData())]
    points = vtk_to_numpy(grid.GetPoints().GetData())
    cells = vtk_to_numpy(grid.GetCells().GetConnectivityArray())
    return points, cells, *arrays


class OneRun(unittest.TestCase):
    """Looks at one run from all sides."""

    @classmethod
    def setUpClass(cls):
        case = CaseFolder()
        case.setUp()
        cls.addClassCleanup(case.doCleanups)
        cls.results = case.run_case(meshes={"square.msh": graded_square()}, **SECTIONS)
        cls.summary = summary(cls.results)
        cls.history = history(cls.results)
        cls.frames = frame_files(cls.results)
        cls.points, cls.cells, cls.point_data, cls.cell_data, cls.field_data = read_frame(cls.frames[-1][1])

    def test_the_summary_has_every_key_with_a_sane_value(self):
        made = self.summary
        self.assertEqual("completed", made["status"])
        self.assertEqual("A graded square", made["title"])
        self.assertIn("avi", made["method"])
        self.assertRegex(made["version"], r"\A\d+\.\d+\.\d+")
        self.assertEqual((50, 36, END), (made["elements"], made["nodes"], made["end_time"]))
        self.assertEqual({"initial", "final", "min", "max", "drift", "band"},
                         made["energy"].keys() & {"initial", "final", "min", "max", "drift", "band"})
        for momentum in ("linear_momentum", "angular_momentum"):
            self.assertEqual({"initial", "final", "error"}, set(made[momentum]))
            self.assertEqual((3, 3), (len(made[momentum]["initial"]), len(made[momentum]["final"])))
        self.assertGreaterEqual(made["threads"], 1)
        self.assertGreater(made["wall_time"], 0.0)
        self.assertGreater(made["total_time"], made["wall_time"])
        self.assertEqual(made["wall_time"] / made["updates"]["total"], made["time_per_update"])
        self.assertEqual({"1": "body"}, made["groups"])

    def test_updates_are_those_before_the_end_for_every_element(self):
        expected = []
        for step in self.cell_data["step"]:
            count = 0
            while (count + 1) * step < END:
                count += 1
            expected.append(count)
        self.assertEqual(expected, list(self.cell_data["updates"]))
        self.assertEqual({"total": sum(expected), "min": min(expected), "max": max(expected)}, self.summary["updates"])
        self.assertGreaterEqual(max(expected), 2 * min(expected), "steps differ")

    def test_speedups_are_counted_against_newmark_at_the_smallest_step(self):
        steps = self.cell_data["step"]
        newmark = len(steps) * math.ceil(END / self.summary["newmark_step"])
        self.assertEqual(newmark, self.summary["newmark_updates"])
        self.assertEqual(newmark / self.summary["updates"]["total"], self.summary["counted_speedup"])
        # Steps on the lattice are whole multiples of the tick, none larger than they were before.
        ticks = steps / self.summary["lattice"]["tick"]
        np.testing.assert_allclose(ticks, np.round(ticks), rtol=1e-12)
        self.assertGreaterEqual(self.summary["predicted_speedup"], len(steps) / self.summary["newmark_step"] / (1 / steps).sum())

    def test_history_has_the_columns_of_the_case(self):
        self.assertEqual(
            ["time", "kinetic_energy", "potential_energy", "total_energy", "external_work", "ledger_error"]
            + [f"{kind}_momentum_{axis}" for kind in ("linear", "angular") for axis in "xyz"]
            + [f"{name}.reaction_{axis}" for name in ("wall", "fix2") for axis in "xy"]
            + [f"{probe}.{what}_{axis}" for probe in ("tip", "mean") for what in ("displacement", "velocity")
               for axis in "xy"],
            list(self.history))

    def test_history_has_evenly_spaced_rows_from_start_to_end(self):
        times = self.history["time"]
        self.assertEqual((1001, 0.0, END), (len(times), times[0], times[-1]))
        np.testing.assert_allclose(times, [k * END / 1000 for k in range(1001)], rtol=4e-16, atol=0)

    def test_energies_of_history_frames_and_summary_agree(self):
        h, made = self.history, self.summary["energy"]
        self.assertEqual([k + p for k, p in zip(h["kinetic_energy"], h["potential_energy"])], h["total_energy"])
        self.assertEqual((h["total_energy"][0], h["total_energy"][-1], min(h["total_energy"]), max(h["total_energy"])),
                         (made["initial"], made["final"], made["min"], made["max"]))
        speed2 = (self.point_data["velocity"] ** 2).sum(axis=1)
        self.assertAlmostEqual(0.5 * (self.point_data["mass"] * speed2).sum() / h["kinetic_energy"][-1], 1.0, places=12)
        self.assertAlmostEqual(self.cell_data["strain_energy"].sum() / h["potential_energy"][-1], 1.0, places=12)
        self.assertAlmostEqual(DENSITY, self.point_data["mass"].sum(), places=9)

    def test_energy_is_balanced_by_the_work_of_loads_and_supports(self):
        self.assertLess(self.summary["energy"]["band"], 0.05)
        self.assertLess(abs(self.summary["energy"]["drift"]), 0.01)

    def test_momenta_are_balanced_to_rounding(self):
        for momentum in ("linear_momentum", "angular_momentum"):
            self.assertLess(self.summary[momentum]["error"], 1e-12)
        h = self.history
        p = (self.point_data["mass"][:, None] * self.point_data["velocity"]).sum(axis=0)
        np.testing.assert_allclose([h[f"linear_momentum_{c}"][-1] for c in "xyz"], p, rtol=1e-12, atol=1e-10)

    def test_frames_are_evenly_spaced_from_start_to_end(self):
        times = [time for time, _ in self.frames]
        self.assertEqual((51, 0.0, END), (len(times), times[0], times[-1]))
        np.testing.assert_allclose(times, [k * END / 50 for k in range(51)], rtol=4e-16, atol=0)
        self.assertEqual(51, len(list((self.results / "frames").iterdir())))
        for time, file in self.frames[::10]:
            self.assertEqual(time, read_frame(file)[4]["TimeValue"][0])

    def test_frames_have_every_field_in_double_precision(self):
        shapes = {name: array.shape for name, array in self.point_data.items()}
        self.assertEqual({"displacement": (36, 3), "velocity": (36, 3), "mass": (36,)}, shapes)
        shapes = {name: array.shape for name, array in self.cell_data.items()}
        scalars = ("updates", "step", "strain_energy", "von_mises", "energy_residual", "energy_residual_last", "group")
        self.assertEqual({"stress": (50, 6)} | {name: (50,) for name in scalars}, shapes)
        for array in (self.points, *self.point_data.values(), self.cell_data["step"], self.cell_data["stress"]):
            self.assertEqual(np.float64, array.dtype)
            self.assertTrue(np.isfinite(array).all())

    def test_frames_hold_the_mesh_in_its_own_order_at_its_deformed_places(self):
        points, elements = square_elements(5)
        mesh = np.array([(x**1.6, y**1.3, z) for x, y, z in points])
        np.testing.assert_allclose(self.points - mesh, self.point_data["displacement"], rtol=0, atol=2e-16)
        triangles = [list(nodes) for kind, _, nodes in elements if kind == 2]
        self.assertEqual(triangles, self.cells.reshape(-1, 3).tolist())
        self.assertFalse(self.point_data["displacement"][:, 2].any())
        first = read_frame(self.frames[0][1])
        np.testing.assert_allclose(first[0], mesh * [1.05, 1, 1], rtol=1e-15, atol=0)
        self.assertFalse(first[3]["updates"].any())

    def test_supports_are_kept_exactly(self):
        points, _ = square_elements(5)
        for time, file in self.frames[::10]:
            shape, _, data, _, _ = read_frame(file)
            for a, (x, _y, _z) in enumerate(points):
                if x == 0:
                    self.assertEqual([0, 0, 0], data["displacement"][a].tolist())
                if x == 1:
                    self.assertEqual(0.02 * time / 0.1, data["displacement"][a][1])
                    self.assertAlmostEqual(0.2, data["velocity"][a][1], places=9)
            self.assertEqual(36, len(shape))

    def test_probes_follow_their_nodes(self):
        tip = self.point_data["displacement"][35]
        self.assertEqual(tip[:2].tolist(), [self.history[f"tip.displacement_{c}"][-1] for c in "xy"])
        mean = self.point_data["velocity"].mean(axis=0)
        np.testing.assert_allclose([self.history[f"mean.velocity_{c}"][-1] for c in "xy"], mean[:2], rtol=1e-12)

    def test_reactions_and_loads_change_the_momentum(self):
        # dp/dt = reactions + loads; the central difference of the recorded momentum is second order in the spacing.
        h, dt = self.history, END / 1000
        weight = 9.81 * DENSITY
        for k in (200, 500, 800):
            rate = (h["linear_momentum_x"][k + 1] - h["linear_momentum_x"][k - 1]) / (2 * dt)
            reaction = h["wall.reaction_x"][k] + h["fix2.reaction_x"][k]
            scale = max(abs(r) for r in h["wall.reaction_x"])
            self.assertAlmostEqual(rate / scale, reaction / scale, delta=0.05)
        self.assertGreater(max(h["wall.reaction_y"]) - min(h["wall.reaction_y"]), 0.1 * weight)


class Repeats(CaseFolder):
    """Short runs against each other."""

    SHORT = {key: value for key, value in SECTIONS.items() if key not in ("run", "output")} | {"run": "end_time = 0.02"}

    def run_short(self, name, output="frames = 4\nhistory = 40", integrator="safety = 0.3", code=0, threads=2, **changes):
        self.write("square.msh", graded_square())
        self.write("case.toml", case_text(**{**self.SHORT, "output": output, "integrator": integrator, **changes}))
        done = self.tempi("run", "case.toml", "--quiet", "--out", name, "--threads", str(threads))
        errors = [line for line in done.stderr.splitlines() if not line.startswith("tempi: caution: ")]
        self.assertEqual((code, []), (done.returncode, errors))
        return self.folder / name

    def last(self, results):
        return read_frame(frame_files(results)[-1][1])

    def test_on_the_queue_the_predicted_speedup_is_that_of_the_steps(self):
        results = self.run_short("queue", integrator='safety = 0.3\nlattice = "exact"')
        steps, made = self.last(results)[3]["step"], summary(results)
        self.assertAlmostEqual(len(steps) / steps.min() / (1 / steps).sum(), made["predicted_speedup"], places=12)
        self.assertEqual(steps.min(), made["newmark_step"])
        self.assertGreater(steps.max(), 2 * steps.min(), "steps differ")
        self.assertNotIn("lattice", made)

    def test_any_number_of_threads_gives_the_same_bits(self):
        one = self.run_short("one", threads=1)
        for threads in (2, 3):
            other = self.run_short(f"threads{threads}", threads=threads)
            self.assertEqual(threads, summary(other)["threads"])
            for name in ("history.csv", *(f"frames/frame_{k:05}.vtu" for k in range(5))):
                self.assertEqual((one / name).read_bytes(), (other / name).read_bytes(), name)

    def test_the_same_run_twice_has_the_same_bits(self):
        first, second = self.run_short("first"), self.run_short("second")
        for name in ("history.csv", "frames.pvd", *(f"frames/frame_{k:05}.vtu" for k in range(5))):
            self.assertEqual((first / name).read_bytes(), (second / name).read_bytes(), name)
        a, b = summary(first), summary(second)
        for volatile in ("wall_time", "predicted_wall_time", "total_time", "time_per_update", "start_time",
                         "history_time", "frame_time"):
            a.pop(volatile), b.pop(volatile)
        self.assertEqual(a, b)

    def test_what_is_written_does_not_change_what_is_computed(self):
        plain = self.run_short("plain", output="frames = 1\nhistory = 1", integrator="safety = 0.3\nresidual = false")
        for name, output, residual in (("often", "frames = 7\nhistory = 1001", "true"),
                                       ("seldom", "frames = 1\nhistory = 3", "true"),
                                       ("bare", "frames = 3\nhistory = 1", "false")):
            other = self.run_short(name, output=output, integrator=f"safety = 0.3\nresidual = {residual}")
            for mine, its in zip(self.last(plain)[:2], self.last(other)[:2]):
                np.testing.assert_array_equal(mine, its)
            for data in (2, 3):
                for field, array in self.last(plain)[data].items():
                    np.testing.assert_array_equal(array, self.last(other)[data][field], field)
            rows, its_rows = history(plain), history(other)
            its_rows.pop("ledger_error", None)  # of watched runs only
            self.assertEqual({k: v[-1] for k, v in rows.items()}, {k: v[-1] for k, v in its_rows.items()})

    def test_threads_do_not_change_the_bits(self):
        one = self.run_short("one")
        self.assertEqual(0, self.tempi("run", "case.toml", "--quiet", "--out", "two", "--threads", 2).returncode)
        self.assertEqual((one / "history.csv").read_bytes(), (self.folder / "two" / "history.csv").read_bytes())

    def test_without_frames_and_residual_none_are_written(self):
        results = self.run_short("bare", output="frames = 0\nhistory = 10", integrator="residual = false")
        self.assertEqual([], list(results.glob("**/*.vtu")))
        self.assertFalse((results / "frames.pvd").exists())
        self.assertNotIn("energy_residual", summary(results))
        self.assertEqual(11, len(history(results)["time"]))

    def test_frames_hold_the_fields_asked_for_in_single_precision(self):
        whole = self.last(self.run_short("whole", output="frames = 1\nhistory = 5"))
        output = 'frames = 1\nhistory = 5\nfields = ["velocity", "stress"]\nfloat32 = true'
        points, _, point_data, cell_data, _ = self.last(self.run_short("some", output=output))
        self.assertEqual(({"velocity"}, {"stress"}), (set(point_data), set(cell_data)))
        for found, expected in ((points, whole[0]), (point_data["velocity"], whole[2]["velocity"]),
                                (cell_data["stress"], whole[3]["stress"])):
            self.assertEqual(np.float32, found.dtype)
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())

    def test_frames_hold_the_points_at_rest_where_that_is_asked_for(self):
        moved = self.last(self.run_short("moved", output="frames = 1\nhistory = 5"))
        rest = self.last(self.run_short("rest", output="frames = 1\nhistory = 5\ndeformed = false"))
        np.testing.assert_array_equal(moved[2]["displacement"], rest[2]["displacement"])
        np.testing.assert_allclose(moved[0] - rest[0], rest[2]["displacement"], rtol=0, atol=1e-15)
        self.assertGreater(np.abs(rest[2]["displacement"]).max(), 1e-4, "it moves")
        for name, told in (("moved", b">1<"), ("rest", b">0<")):
            frame = (self.folder / name / "frames" / "frame_00001.vtu").read_bytes()
            self.assertIn(b'Name="PointsAreDeformed" NumberOfTuples="1" format="ascii"' + told, frame)
        self.write("case.toml", case_text(output='deformed = false\nfields = ["velocity"]'))
        done = self.tempi("check", "case.toml")
        self.assertEqual(2, done.returncode)
        self.assertIn("show no motion", done.stderr)

    def test_a_probe_tells_stress_and_strain_of_the_cells_around_it(self):
        results = self.run_short("stress", output="frames = 1\nhistory = 5",
                                 probe=['name = "tip"\npoint = [1, 1]\nstress = true'])
        points, cells, point_data, cell_data, _ = self.last(results)
        reference = points - point_data["displacement"]
        corner = np.argmin(np.linalg.norm(reference - [1, 1, 0], axis=1))
        weight, stress, strain = 0.0, np.zeros(6), np.zeros(6)
        for c, nodes in enumerate(cells.reshape(-1, 3)):
            if corner not in nodes:
                continue
            edges = [(x[nodes[1:]] - x[nodes[0]])[:, :2].T for x in (reference, points)]
            F = edges[1] @ np.linalg.inv(edges[0])
            E = 0.5 * (F.T @ F - np.eye(2))
            area = abs(np.linalg.det(edges[0]))
            stress += area * cell_data["stress"][c]
            strain += area * np.array([E[0, 0], E[1, 1], 0, E[0, 1], 0, 0])
            weight += area
        rows = history(results)
        for what, expected in (("stress", stress / weight), ("strain", strain / weight)):
            found = [rows[f"tip.{what}_{name}"][-1] for name in ("xx", "yy", "zz", "xy", "yz", "xz")]
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())

    def test_newmark_takes_one_step_for_all(self):
        results = self.run_short("newmark", integrator='method = "newmark"\nsafety = 0.3')
        cells = self.last(results)[3]
        self.assertEqual(1, len(set(cells["step"])))
        self.assertEqual(1, len(set(cells["updates"])))
        made = summary(results)
        self.assertEqual(50 * cells["updates"][0], made["updates"]["total"])
        for momentum in ("linear_momentum", "angular_momentum"):
            self.assertLess(made[momentum]["error"], 1e-12)

    def test_one_ring_steps_are_the_smallest_around_each_node(self):
        queue = 'safety = 0.3\nlattice = "exact"'
        own = self.last(self.run_short("own", integrator=queue))[3]["step"]
        results = self.run_short("ring", integrator=queue + '\nsteps = "one-ring"')
        _, cells, _, data, _ = self.last(results)
        cells = cells.reshape(-1, 3)
        for c, nodes in enumerate(cells):
            near = [k for k, others in enumerate(cells) if set(nodes) & set(others)]
            self.assertEqual(min(own[near]), data["step"][c])

    def test_a_mesh_in_millimetres_is_scaled(self):
        metres = self.last(self.run_short("metres"))
        points, elements = square_elements(5)
        self.write("mm.msh", msh([(1e3 * x**1.6, 1e3 * y**1.3, z) for x, y, z in points], elements, SQUARE_NAMES))
        scaled = self.last(self.run_short("millimetres", mesh='file = "mm.msh"\nscale = 1e-3'))
        np.testing.assert_allclose(scaled[0], metres[0], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(scaled[3]["step"], metres[3]["step"], rtol=1e-12)

    def test_a_motion_that_is_defined_until_the_end_gives_numbers_until_the_end(self):
        results = self.run_short("power", initial="",
                                 fix='group = "left"\ndisplacement = ["(0.02-t)^1.5 - 0.02^1.5", "0"]')
        for name, column in history(results).items():
            self.assertTrue(all(math.isfinite(value) for value in column), name)


if __name__ == "__main__":
    unittest.main()
