#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Steps without a root of the energy equation, three ways: the nominal step, the step of least residual, and the squares of
the equations of motion and of energy minimised together (Kane, Marsden, Ortiz 1999): what each costs. docs/adaption.md
has the table.

Two bodies of masses 1 and 1/2 on ellipses of eccentricity 0.5 about a centre of mass that drifts, ten periods, nominal
step period/120, bounds 0.25 to 4 of it. usage: minimising.py (minutes)
"""

from math import pi, sqrt

import numpy as np

ECCENTRICITY, PERIODS, STEPS, BOUNDS = 0.5, 10, 120, (0.25, 4.0)
MASSES = np.array([1.0, 0.5])
MASS = np.repeat(MASSES, 2)  # of each coordinate
TOTAL, REDUCED = MASSES.sum(), MASSES.prod() / MASSES.sum()
BINDING = REDUCED * TOTAL / 2  # energy of the orbit with semi-axis 1, G = 1
PERIOD = 2 * pi / sqrt(TOTAL)
ANGULAR = REDUCED * sqrt(TOTAL * (1 - ECCENTRICITY**2))
DRIFT = 0.1  # velocity of the centre of mass


def potential(q):
    return -MASSES.prod() / np.hypot(*(q[2:] - q[:2]))


def gradient(q):
    r = q[2:] - q[:2]
    g = MASSES.prod() * r / np.hypot(*r) ** 3
    return np.concatenate([-g, g])


class Verlet:
    """L_d = h (T(v) - (V(q0) + V(q1)) / 2), v = (q1 - q0) / h."""

    at_start = 0.5


class RightEndpoint:
    """L_d = h (T(v) - V(q1))."""

    at_start = 0.0


def p0_of(action, q, q1, h):
    return MASS * (q1 - q) / h + action.at_start * h * gradient(q)


def p1_of(action, q, q1, h):
    return MASS * (q1 - q) / h - (1 - action.at_start) * h * gradient(q1)


def energy_of(action, q, q1, h):
    v = (q1 - q) / h
    return 0.5 * (MASS * v * v).sum() + action.at_start * potential(q) + (1 - action.at_start) * potential(q1)


def moved(action, q, p, h):
    return q + h / MASS * (p - action.at_start * h * gradient(q))


def minimised(action, q, p, h, E, bounds):
    """(q1, h) of the least |R_p|^2 / |p|^2 + R_E^2 / E_binding^2, by Levenberg and Marquardt's method from DEL's solution."""
    scale = np.linalg.norm(p)

    def residual(z):
        return np.append((p - p0_of(action, q, z[:4], z[4])) / scale, (energy_of(action, q, z[:4], z[4]) - E) / BINDING)

    z = np.append(moved(action, q, p, h), h)
    spacing = 1e-7 * np.append(np.ones(4), h)
    now, damping = residual(z), 1e-3
    for _ in range(100):
        J = np.array([(residual(z + d) - residual(z - d)) / (2 * d.sum()) for d in np.diag(spacing)]).T
        A = J.T @ J
        trial = z - np.linalg.solve(A + damping * np.diag(np.diag(A) + 1e-30), J.T @ now)
        trial[4] = np.clip(trial[4], *bounds)
        then = residual(trial)
        gain = now @ now - then @ then
        if gain > 0:
            z, now, damping = trial, then, 0.3 * damping
            if gain < 1e-10 * (now @ now):
                break
        else:
            damping *= 10
            if damping > 1e10:
                break
    return z[:4], z[4]


def run(action, fallback):
    r, v = np.array([1 - ECCENTRICITY, 0.0]), np.array([0.0, sqrt(TOTAL * (1 + ECCENTRICITY) / (1 - ECCENTRICITY))])
    shares = np.array([-MASSES[1], MASSES[0]]) / TOTAL
    q = np.concatenate([shares[0] * r, shares[1] * r])
    p = MASS * (np.concatenate([shares[0] * v, shares[1] * v]) + DRIFT)
    nominal = PERIOD / STEPS
    h, E = nominal, energy_of(action, q, moved(action, q, p, nominal), nominal)

    def momenta():
        return p[:2] + p[2:], (q[0] * p[1] - q[1] * p[0]) + (q[2] * p[3] - q[3] * p[2])

    first = momenta()
    steps = nominal * np.geomspace(*BOUNDS, 40)
    t, count, without, linear, angular, off, total = 0.0, 0, 0, 0.0, 0.0, 0.0, []
    while t < PERIODS * PERIOD:
        values = [energy_of(action, q, moved(action, q, p, x), x) - E for x in steps]
        crossings = [i for i in range(len(steps) - 1) if values[i] * values[i + 1] <= 0]
        if crossings:
            i = min(crossings, key=lambda k: abs(steps[k] - h))
            low, high, below = steps[i], steps[i + 1], values[i]
            for _ in range(60):
                h = 0.5 * (low + high)
                value = energy_of(action, q, moved(action, q, p, h), h) - E
                low, high, below = (low, h, below) if below * value <= 0 else (h, high, value)
            q1 = moved(action, q, p, h)
        else:
            without += 1
            h = nominal if fallback == "nominal step" else steps[np.argmin(np.abs(values))]
            q1 = moved(action, q, p, h)
            if fallback == "minimised":
                q1, h = minimised(action, q, p, h, E, (steps[0], steps[-1]))
        off = max(off, abs(energy_of(action, q, q1, h) - E) / BINDING)
        p, q, t, count = p1_of(action, q, q1, h), q1, t + h, count + 1
        now = momenta()
        linear = max(linear, np.abs(now[0] - first[0]).max() / (DRIFT * TOTAL))
        angular = max(angular, abs(now[1] - first[1]) / ANGULAR)
        total.append((0.5 * p * p / MASS).sum() + potential(q))
    return count, without, off, (max(total) - min(total)) / BINDING, linear, angular


def main():
    print("| action | without a root | steps | without | largest change of E_d | band of T + V | linear momentum off by | angular |")
    print("|---|---|---|---|---|---|---|---|")
    for name, action in (("velocity Verlet", Verlet), ("right endpoint", RightEndpoint)):
        for fallback in ("nominal step", "least residual", "minimised"):
            count, without, off, band, linear, angular = run(action, fallback)
            print(f"| {name} | {fallback} | {count} | {without} | {off:.1e} | {band:.1e} | {linear:.1e} | {angular:.1e} |", flush=True)


if __name__ == "__main__":
    main()
