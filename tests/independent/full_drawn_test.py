# SPDX-License-Identifier: Apache-2.0
"""More of each kind than the short tests draw."""

import constrained
import contact
import particles
import shells
import solids
from motion import Beside, main


class Drawn(Beside):
    def test_bodies(self):
        self.assertGreater(self.hold(solids.draw, range(400)), 360)

    def test_shells(self):
        self.assertEqual(400, self.hold(shells.draw, range(400)))

    def test_constrained_bodies(self):
        self.assertGreater(self.hold(constrained.draw, range(400)), 320)

    def test_contact(self):
        self.assertGreater(self.hold(contact.draw, range(200)), 140)

    def test_particles(self):
        self.assertGreater(self.hold(particles.draw, range(2000)), 1700)


if __name__ == "__main__":
    main()
