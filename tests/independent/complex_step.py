# SPDX-License-Identifier: Apache-2.0
"""Gradients of energies that are written for complex numbers: exact to rounding, without a derivative by hand."""

import numpy as np

STEP = 1e-30


def gradient(energies, x):
    """Of energies(x) of terms, (terms), with x of (terms, nodes, dim): energies, gradients of the same shape as x."""
    _, nodes, dim = x.shape
    moved = np.repeat(x.astype(complex)[None], nodes * dim, 0)
    for k in range(nodes * dim):
        moved[k, :, k // dim, k % dim] += 1j * STEP
    found = energies(moved)
    return found[0].real, np.moveaxis(found.imag / STEP, 0, -1).reshape(x.shape)


def sum_of(energies, stencils):
    """The potential of places with a term for each of the stencils, (terms, nodes)."""
    def potential(x):
        energy, slopes = gradient(energies, x[stencils])
        total = np.zeros_like(x)
        np.add.at(total, stencils, slopes)
        return energy.sum(), total

    return potential


def dot(a, b):
    return (a * b).sum(-1)


def cross(a, b):
    return np.stack([a[..., i] * b[..., j] - a[..., j] * b[..., i] for i, j in ((1, 2), (2, 0), (0, 1))], -1)


def arc_tangent(y, x):
    """atan2, to first order in the imaginary parts."""
    slope = (x.real * y.imag - y.real * x.imag) / (x.real**2 + y.real**2)
    return np.arctan2(y.real, x.real) + 1j * slope
