# SPDX-License-Identifier: Apache-2.0
"""A mechanical system by its forces, and its motion by Dormand and Prince's method of order 8 (SciPy's DOP853).

What is compared with Tempi here shares nothing with it: elements, laws, loads, contact and the way through time are
written anew, from the documentation. A `System` is what a drawn case comes to, `Drawn` the case with its text."""

import re
import sys
import unittest
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))
from case_folder import CaseFolder, history, msh  # noqa: E402

AXES = "xyz"


@dataclass
class Motion:
    """What a support is displaced by: `amplitude` sin(`rate` t)."""
    amplitude: np.ndarray
    rate: float

    def at(self, t):
        """Displacement, velocity, acceleration."""
        sine, cosine = np.sin(self.rate * t), np.cos(self.rate * t)
        return (self.amplitude * sine, self.amplitude * self.rate * cosine, -self.amplitude * self.rate**2 * sine)


@dataclass
class System:
    """Shapes: (nodes, dim) of places, velocities and forces, (nodes) of masses."""
    reference: np.ndarray
    mass: np.ndarray
    places: np.ndarray  # at the start
    velocities: np.ndarray
    potentials: list[Callable] = field(default_factory=list)  # x -> energy [J], gradient [N]
    loads: list[Callable] = field(default_factory=list)  # t, x, v -> force [N]
    dampers: list[Callable] = field(default_factory=list)  # the same
    constraints: list[Callable] = field(default_factory=list)  # x, v -> (gradients, their change along v times v)
    held: np.ndarray = None  # components that supports hold
    support: Motion = None  # how they move; at rest without

    def __post_init__(self):
        if self.held is None:
            self.held = np.zeros(self.reference.shape, bool)

    def potential(self, x):
        return sum(energy(x)[0] for energy in self.potentials)

    def kinetic(self, v):
        return 0.5 * (self.mass[:, None] * v**2).sum()

    def impose(self, t, x, v):
        """Places and velocities with those of the supports, and the supports' accelerations."""
        shape = self.reference.shape
        u, w, a = (np.broadcast_to(c, shape) for c in (self.support.at(t) if self.support else (0.0, 0.0, 0.0)))
        return np.where(self.held, self.reference + u, x), np.where(self.held, w, v), np.where(self.held, a, 0.0)

    def start(self):
        """Places and velocities, these along constraints only."""
        x, v, _ = self.impose(0.0, self.places, self.velocities)
        return x, v - self._push(x, v, v, 0.0)

    def rates(self, t, x, v):
        """Velocities, accelerations, and the powers of loads and supports and of dampers [W]."""
        x, v, of_supports = self.impose(t, x, v)
        none = np.zeros_like(x)
        inner = -sum((energy(x)[1] for energy in self.potentials), none)
        loads = sum((f(t, x, v) for f in self.loads), none)
        dampers = sum((f(t, x, v) for f in self.dampers), none)
        total = inner + loads + dampers
        a = np.where(self.held, of_supports, total / self.mass[:, None])
        a = a - self._push(x, v, a, 1.0)
        reactions = np.where(self.held, self.mass[:, None] * a - total, 0.0)
        return v, a, np.array([((loads + reactions) * v).sum(), (dampers * v).sum()])

    def _push(self, x, v, rate, curvature):
        """What constraints take from `rate`, M^-1 G^T lambda, so that G rate + curvature (G' v) v is zero."""
        if not self.constraints:
            return np.zeros_like(x)
        rows, bends = zip(*(row for constraint in self.constraints for row in constraint(x, v)))
        G = np.array(rows).reshape(len(rows), -1)
        inverse_mass = np.where(self.held, 0.0, 1.0 / self.mass[:, None]).ravel()
        missing = G @ rate.ravel() + curvature * np.array(bends)
        multipliers = np.linalg.lstsq((G * inverse_mass) @ G.T, missing, rcond=1e-9)[0]
        return (inverse_mass * (G.T @ multipliers)).reshape(x.shape)

    def motion(self, end, tolerance, unit):
        """Of a time: places, velocities, works of loads and supports and of dampers until then; `tolerance` of each
        step, relative and of `unit` [m]."""
        shape, size = self.reference.shape, self.reference.size

        def split(y):
            return y[:size].reshape(shape), y[size:2 * size].reshape(shape), y[2 * size:]

        def rate(t, y):
            return np.concatenate([part.ravel() for part in self.rates(t, *split(y)[:2])])

        x, v = self.start()
        work = self.mass.sum() * (unit / end)**2
        small = 0.1 * tolerance * np.repeat([unit, unit / end, work], [size, size, 2])
        found = solve_ivp(rate, (0.0, end), np.concatenate([x.ravel(), v.ravel(), np.zeros(2)]), method="DOP853",
                          dense_output=True, rtol=tolerance, atol=small)
        assert found.success, found.message

        def at(t):
            x, v, works = split(found.sol(min(t, end)))
            return *self.impose(t, x, v)[:2], works

        return at


@dataclass
class Drawn:
    """A case file without [integrator], [run] and [output], the files it names, and what it comes to."""
    text: str
    files: dict[str, str]
    system: System
    end: float
    method: str = "avi"
    keys: str = ""  # of [integrator]
    order: int = 2
    coarse: float = 0.2  # safety
    fine: float = 0.05
    # Of a safety: what [integrator] has of steps, and sections that have steps of their own.
    steps: Callable = staticmethod(lambda safety: f"safety = {safety!r}\n")
    more: Callable = staticmethod(lambda safety: "")
    tolerance: float = 1e-9  # of each step of the motion
    unit: float = 1.0  # of lengths [m]
    smallest: float = 2e-7  # what the motion leaves open of all that is compared
    nearer: float = None  # how many times at least with the fine steps; default: half of what the order says

    def is_nearer(self, coarse, fine):
        """Whether errors fall as they should; where coarse steps see another motion, at all."""
        # Steps that are powers of three may be no more than three times smaller.
        smaller = 3.0 if "three" in self.keys else self.coarse / self.fine
        at_least = self.nearer if self.nearer is not None else 0.5 * smaller**self.order
        if coarse > 0.03:
            at_least = min(at_least, 2.0)
        return fine <= self.smallest or coarse >= at_least * fine

    def case(self, safety):
        node_probes = "".join(f'[[probe]]\nname = "node{i}"\npoint = {x.tolist()}\n'
                              for i, x in enumerate(self.system.reference))
        return (f'{self.text}{node_probes}{self.more(safety)}[integrator]\nmethod = "{self.method}"\n{self.keys}'
                f"{self.steps(safety)}[run]\nend_time = {self.end!r}\nenergy_tolerance = 0\n"
                "[output]\nframes = 1\nhistory = 20\n")

    def __str__(self):
        kinds = re.findall(r'^(?:type|model) = "(.*)"', self.text, re.MULTILINE)
        return f"{self.method} {' '.join(self.keys.split())}, {len(self.system.mass)} nodes, {', '.join(kinds)}"


class Beside(CaseFolder):
    """Drawn cases: energies at every row, where the run says its nodes are, and where they are."""

    def rows(self, drawn, safety):
        """Columns of history.csv, and the places of all nodes in each row."""
        for name, text in drawn.files.items():
            self.write(name, text)
        self.write("case.toml", drawn.case(safety))
        done = self.tempi("run", "case.toml", "--overwrite", "--quiet", timeout=300)
        self.assertEqual(0, done.returncode, done.stderr)
        columns = history(self.folder / "case.out")
        nodes, dim = drawn.system.reference.shape
        moved = [[columns[f"node{i}.displacement_{c}"] for c in AXES[:dim]] for i in range(nodes)]
        return columns, drawn.system.reference + np.moveaxis(np.array(moved), -1, 0)

    def compare(self, drawn):
        """How far the run with the coarse and with the fine steps is from the motion at the most, each by name: places
        in units of length, works in the largest kinetic energy, momenta in the largest sum of their sizes."""
        system, errors = drawn.system, []
        nothing = 1e-20 * system.mass.sum() * (drawn.unit / drawn.end)**2  # [J]
        motion = system.motion(drawn.end, drawn.tolerance, drawn.unit)
        for safety in (drawn.coarse, drawn.fine):
            columns, places = self.rows(drawn, safety)
            if not errors:
                x, v = system.start()
                self.assertAlmostEqual(1.0, columns["kinetic_energy"][0] / system.kinetic(v) if v.any() else 1.0,
                                       delta=1e-6 if system.support else 1e-9)
            size = max(map(abs, columns["potential_energy"] + columns["kinetic_energy"]))
            for energy, x in zip(columns["potential_energy"], places):
                self.assertAlmostEqual(system.potential(x), energy, delta=1e-9 * size + nothing)
            self.shown = places
            errors.append(self.deviations(drawn, columns, places, [motion(t) for t in columns["time"]]))
        return {name: (errors[0][name], errors[1][name]) for name in errors[0]}

    @staticmethod
    def deviations(drawn, columns, places, motion):
        mass, dim, slow = drawn.system.mass, places.shape[-1], 1e-6 * drawn.unit / drawn.end
        x, v, works = (np.array(part) for part in zip(*motion))
        energy = mass.sum() * slow**2 + max(columns["kinetic_energy"])
        speed = slow + np.linalg.norm(v, axis=-1)
        away = drawn.unit + np.linalg.norm(x, axis=-1)
        found = {"places": np.abs(places - x).max() / drawn.unit}
        for k, name in enumerate(("external_work", "damping_work")):
            if name in columns:
                found[name] = np.abs(columns[name] - works[:, k]).max() / energy
        shown = np.array([columns[f"linear_momentum_{c}"] for c in AXES[:dim]]).T
        expected = np.einsum("a,tac->tc", mass, v)
        found["linear momentum"] = np.abs(shown - expected).max() / (speed @ mass).max()
        turning = (x[..., 0] * v[..., 1] - x[..., 1] * v[..., 0]) @ mass
        found["angular momentum"] = (np.abs(columns["angular_momentum_z"] - turning).max()
                                     / ((away * speed) @ mass).max())
        return found

    def hold(self, draw, seeds):
        """`draw` makes a case of each seed; None: not this one. Returns how many there were."""
        cases = 0
        for seed in seeds:
            drawn = draw(seed)
            if drawn is None:
                continue
            with self.subTest(seed=seed, case=str(drawn)):
                try:
                    errors = self.compare(drawn)
                except ArithmeticError:  # an element is inverted, by the motion itself
                    continue
                far = {name: pair for name, pair in errors.items() if not drawn.is_nearer(*pair)}
                self.assertEqual({}, far)
                cases += 1
        return cases


main = unittest.main
__all__ = ["Beside", "Drawn", "Motion", "System", "main", "msh"]
