# SPDX-License-Identifier: Apache-2.0
"""Particles from files in any units, with every potential, beside laws and a motion of their own."""

import particles
from motion import Beside, main


class Particles(Beside):
    def test_drawn_ones_come_to_their_motion(self):
        self.assertGreater(self.hold(particles.draw, range(100)), 80)


if __name__ == "__main__":
    main()
