# SPDX-License-Identifier: Apache-2.0
"""Sheets that stretch and bend, beside energies and a motion of their own."""

import shells
from motion import Beside, main


class Shells(Beside):
    def test_drawn_ones_come_to_their_motion(self):
        self.assertEqual(24, self.hold(shells.draw, range(24)))


if __name__ == "__main__":
    main()
