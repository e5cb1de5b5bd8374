"""Linear algebra programs in plain NumPy, as a user would bring them: no adze in this file.

The PolyBench kernels by their published definitions, in whole-array form, and a few physics codes that
are built of products and sums. Updates are returned, not written into an argument.
"""

import numpy as np


def gemm(alpha, beta, c, a, b):
    return alpha * a @ b + beta * c


def gemver(alpha, beta, a, u1, v1, u2, v2, y, z):
    a = a + np.outer(u1, v1) + np.outer(u2, v2)
    x = beta * y @ a + z
    return a, x, alpha * a @ x


def gesummv(alpha, beta, a, b, x):
    return alpha * a @ x + beta * b @ x


def k2mm(alpha, beta, a, b, c, d):
    return alpha * a @ b @ c + beta * d


def k3mm(a, b, c, d):
    return a @ b @ c @ d


def atax(a, x):
    return (a @ x) @ a


def bicg(a, p, r):
    return r @ a, a @ p


def mvt(x1, x2, y1, y2, a):
    return x1 + a @ y1, x2 + y2 @ a


def doitgen(a, c4):
    """A 3-d array times a matrix along its last axis, slab by slab."""
    slabs, rows, depth = a.shape
    return np.reshape(np.reshape(a, (slabs, rows, 1, depth)) @ c4, (slabs, rows, depth))


def syrk(alpha, beta, c, a):
    lower = np.tril(alpha * a @ a.T + beta * c)
    return lower + np.triu(c, 1)


def syr2k(alpha, beta, c, a, b):
    product = a @ b.T
    return np.where(np.tri(c.shape[0], dtype=bool), beta * c + alpha * (product + product.T), c)


def trmm(alpha, a, b):
    unit_lower = np.tril(a, -1) + np.eye(a.shape[0])
    return alpha * (unit_lower.T @ b)


def symmetric_product(alpha, beta, c, a, b):
    """symm: only the lower triangle of `a` is meant."""
    symmetric = np.tril(a) + np.tril(a, -1).T
    return alpha * symmetric @ b + beta * c


def covariance(data):
    centred = data - np.mean(data, axis=0)
    return centred.T @ centred / (data.shape[0] - 1.0)


def correlation(data):
    deviation = np.std(data, axis=0)
    deviation = np.where(deviation <= 0.1, 1.0, deviation)
    scaled = (data - data.mean(axis=0)) / (np.sqrt(data.shape[0]) * deviation)
    return scaled.T @ scaled


def floyd_warshall(path):
    """All shortest paths: one rank-one minimum for each intermediate node."""
    for k in range(path.shape[0]):
        path = np.minimum(path, path[:, k, None] + path[k])
    return path


def gram_schmidt(a):
    """Orthonormal columns and the triangular factor, one column after the other."""
    columns, factor = [], []
    for k in range(a.shape[1]):
        column = a[:, k]
        products = []
        for q in columns:
            product = np.dot(q, column)
            products.append(product)
            column = column - product * q
        length = np.sqrt(np.sum(column * column))
        columns.append(column / length)
        padding = [np.zeros_like(length)] * (a.shape[1] - k - 1)
        factor.append(np.stack([*products, length, *padding]))
    return np.stack(columns, axis=1), np.stack(factor, axis=1)


def power_iteration(a, x, steps):
    for _ in range(steps):
        x = a @ x
        x = x / np.linalg.norm(x)
    return np.vdot(x, a @ x), x


def contour_integral(matrix, weights, points):
    """Moments of a matrix polynomial along a circle: sum_j w_j z_j^m (A^2 + z_j A + z_j^2 I)."""
    identity = np.eye(matrix.shape[0])
    square = matrix @ matrix
    moments = []
    for m in range(3):
        values = square + points[:, None, None] * matrix + points[:, None, None] ** 2 * identity
        moments.append(np.sum((weights * points**m)[:, None, None] * values, axis=0) / (2j * np.pi))
    return np.stack(moments)


def scattering_self_energies(green, coupling, displacement):
    """Electron-phonon self-energies: sums over neighbours, phonon modes and energy shifts."""
    energies = green.shape[1]
    total = 0
    for shift in range(displacement.shape[0]):
        shifted = np.roll(green, shift, axis=1)
        reaching = np.arange(energies) >= shift
        left = np.einsum("keaxy,abiyz->keabixz", shifted, coupling)
        right = np.einsum("abjxy,abij->abixy", coupling, displacement[shift])
        term = np.einsum("keabixy,abiyz->keaxz", left, right)
        total = total + np.where(reaching[:, None, None, None], term, 0)
    return total


def kron_sum(a, b):
    """a (x) I + I (x) b, with the products written out by broadcasting."""
    n, m = a.shape[0], b.shape[0]
    left = (a[:, None, :, None] * np.eye(m)[None, :, None, :]).reshape(n * m, n * m)
    right = (np.eye(n)[:, None, :, None] * b[None, :, None, :]).reshape(n * m, n * m)
    return left + right
