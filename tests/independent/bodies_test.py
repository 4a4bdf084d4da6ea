# SPDX-License-Identifier: Apache-2.0
"""Bodies of triangles and tetrahedra with loads, dampers and supports, beside elements and a motion of their own."""

import numpy as np
import solids
from motion import Beside, main
from results_test import frame_files, read_frame


class Bodies(Beside):
    def test_drawn_ones_come_to_their_motion(self):
        self.assertGreater(self.hold(solids.draw, range(24)), 20)

    def test_frames_have_their_fields(self):
        for seed in range(12):
            drawn = solids.draw(seed)
            with self.subTest(seed=seed, case=str(drawn)):
                self.rows(drawn, drawn.coarse)
                points, _, of_points, of_cells, _ = read_frame(frame_files(self.folder / "case.out")[-1][1])
                cells = drawn.system.potentials[0].__self__
                energy, stress, von_mises = cells.fields(points[:, :cells.dim])
                in_order = stress[:, [0, 1, 2, 0, 1, 0], [0, 1, 2, 1, 2, 2]]  # XX YY ZZ XY YZ XZ
                for expected, shown in ((cells.mass, of_points["mass"]), (energy, of_cells["strain_energy"]),
                                        (in_order, of_cells["stress"]), (von_mises, of_cells["von_mises"])):
                    np.testing.assert_allclose(shown, expected, rtol=0.0, atol=1e-10 * np.abs(expected).max())

    def loaded(self):
        """One with a load and a method of order 2."""
        return next(drawn for drawn in map(solids.draw, range(100))
                    if drawn.order == 2 and drawn.system.loads and "[[damping]]" not in drawn.text)

    def test_without_a_load_a_motion_is_another(self):
        drawn = self.loaded()
        drawn.system.loads.pop()
        coarse, fine = self.compare(drawn)["places"]
        self.assertLess(coarse / fine, 1.5)

    def test_lighter_nodes_have_other_energies(self):
        drawn = self.loaded()
        drawn.system.mass *= 0.999
        with self.assertRaises(AssertionError):
            self.compare(drawn)


if __name__ == "__main__":
    main()
