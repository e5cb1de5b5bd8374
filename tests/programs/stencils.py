"""Stencil programs in plain NumPy, as a user would bring them: no adze in this file.

The definitions are the public ones (PolyBench, weather and flow codes of the teaching literature). Where
the textbook writes into the interior of an array, these return a new array with the edges kept: the
functions are traced unchanged, and a traced array cannot be assigned to.
"""

import numpy as np


def with_interior(edges, interior):
    """A 2-d array with the border of `edges` and the inside of `interior`."""
    middle = np.concatenate((edges[1:-1, :1], interior, edges[1:-1, -1:]), axis=1)
    return np.concatenate((edges[:1], middle, edges[-1:]), axis=0)


def jacobi_1d(a, b, steps):
    for _ in range(steps):
        b = np.concatenate((b[:1], (a[:-2] + a[1:-1] + a[2:]) / 3, b[-1:]))
        a = np.concatenate((a[:1], (b[:-2] + b[1:-1] + b[2:]) / 3, a[-1:]))
    return a, b


def five_point_mean(a):
    return 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])


def jacobi_2d(a, b, steps):
    for _ in range(steps):
        b = with_interior(b, five_point_mean(a))
        a = with_interior(a, five_point_mean(b))
    return a, b


def heat_3d(a, steps):
    """Explicit heat equation; the border is held fixed through a mask."""
    inside = np.zeros(a.shape, dtype=bool)
    inside[1:-1, 1:-1, 1:-1] = True
    for _ in range(steps):
        core = a[1:-1, 1:-1, 1:-1]
        change = (
            0.125 * (a[2:, 1:-1, 1:-1] - 2.0 * core + a[:-2, 1:-1, 1:-1])
            + 0.125 * (a[1:-1, 2:, 1:-1] - 2.0 * core + a[1:-1, :-2, 1:-1])
            + 0.125 * (a[1:-1, 1:-1, 2:] - 2.0 * core + a[1:-1, 1:-1, :-2])
        )
        a = np.where(inside, np.pad(core + change, 1), a)
    return a


def fdtd_2d(ex, ey, hz, source):
    """Electromagnetic waves: one leapfrog step for each entry of `source`."""
    for pulse in source:
        ey = np.concatenate((np.full_like(ey[:1], 1.0) * pulse, ey[1:] - 0.5 * (hz[1:] - hz[:-1])))
        ex = np.concatenate((ex[:, :1], ex[:, 1:] - 0.5 * (hz[:, 1:] - hz[:, :-1])), axis=1)
        curl = ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1]
        hz = np.concatenate((np.concatenate((hz[:-1, :-1] - 0.7 * curl, hz[:-1, -1:]), axis=1), hz[-1:]))
    return ex, ey, hz


def horizontal_diffusion(field, coefficient):
    """Fourth-order diffusion with flux limiting; field is [i + 4, j + 4, k]."""
    laplacian = 4.0 * field[1:-1, 1:-1] - (
        field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2]
    )
    flux_i = laplacian[1:, 1:-1] - laplacian[:-1, 1:-1]
    flux_i = np.where(flux_i * (field[2:-1, 2:-2] - field[1:-2, 2:-2]) > 0, 0, flux_i)
    flux_j = laplacian[1:-1, 1:] - laplacian[1:-1, :-1]
    flux_j = np.where(flux_j * (field[2:-2, 2:-1] - field[2:-2, 1:-2]) > 0, 0, flux_j)
    divergence = flux_i[1:] - flux_i[:-1] + flux_j[:, 1:] - flux_j[:, :-1]
    return field[2:-2, 2:-2] - coefficient * divergence


def vertical_advection(wind, field, tendency, time_step):
    """Implicit vertical advection: a tridiagonal sweep down and up the levels (the last axis)."""
    levels = field.shape[-1]
    weight = 0.25 * time_step * wind
    upper, right = [], []
    for k in range(levels):
        below = -weight[..., k] if k > 0 else np.zeros_like(weight[..., k])
        above = weight[..., k + 1] if k < levels - 1 else np.zeros_like(weight[..., k])
        known = field[..., k] + time_step * tendency[..., k]
        diagonal = 1.0 - below - above
        if k > 0:
            diagonal = diagonal - below * upper[-1]
            known = known - below * right[-1]
        upper.append(above / diagonal)
        right.append(known / diagonal)
    solution = [right[-1]]
    for k in range(levels - 2, -1, -1):
        solution.insert(0, right[k] - upper[k] * solution[0])
    return np.stack(solution, axis=-1)


def central_difference(f, axis, spacing):
    ahead, behind = (f[1:-1, 2:], f[1:-1, :-2]) if axis == 1 else (f[2:, 1:-1], f[:-2, 1:-1])
    return (ahead - behind) / (2 * spacing)


def upwind(f, axis, spacing):
    behind = f[1:-1, :-2] if axis == 1 else f[:-2, 1:-1]
    return (f[1:-1, 1:-1] - behind) / spacing


def second_difference(f, axis, spacing):
    ahead, behind = (f[1:-1, 2:], f[1:-1, :-2]) if axis == 1 else (f[2:, 1:-1], f[:-2, 1:-1])
    return (ahead - 2 * f[1:-1, 1:-1] + behind) / spacing**2


def pressure_source(u, v, density, time_step, spacing):
    du_dx, dv_dy = central_difference(u, 1, spacing), central_difference(v, 0, spacing)
    du_dy, dv_dx = central_difference(u, 0, spacing), central_difference(v, 1, spacing)
    return density * ((du_dx + dv_dy) / time_step - du_dx**2 - 2 * du_dy * dv_dx - dv_dy**2)


def cavity_flow(u, v, p, iterations, time_step=0.001, spacing=0.1, density=1.0, viscosity=0.1):
    """One step of the lid-driven cavity: pressure by Jacobi iteration, then momentum; the lid moves."""
    source = pressure_source(u, v, density, time_step, spacing)
    for _ in range(iterations):
        neighbours = p[1:-1, 2:] + p[1:-1, :-2] + p[2:, 1:-1] + p[:-2, 1:-1]
        core = 0.25 * (neighbours - source * spacing**2)
        core = np.concatenate((core[:1], core, np.zeros_like(core[:1])))
        p = np.concatenate((core[:, :1], core, core[:, -1:]), axis=1)

    def momentum(f, axis):
        advection = u[1:-1, 1:-1] * upwind(f, 1, spacing) + v[1:-1, 1:-1] * upwind(f, 0, spacing)
        diffusion = second_difference(f, 1, spacing) + second_difference(f, 0, spacing)
        force = central_difference(p, axis, spacing) / density
        return f[1:-1, 1:-1] + time_step * (viscosity * diffusion - advection - force)

    next_u = np.pad(momentum(u, 1), 1)
    lid = np.concatenate((next_u[:-1], np.ones_like(next_u[-1:])))
    return lid, np.pad(momentum(v, 0), 1), p


def channel_flow(u, v, p, force, iterations):
    """One step of flow between plates: periodic along x through `np.roll`, walls along y."""
    spacing, time_step, viscosity = 0.1, 0.01, 0.1

    def east(f):
        return np.roll(f, -1, axis=1)

    def west(f):
        return np.roll(f, 1, axis=1)

    def inner(f):
        return f[1:-1]

    divergence = inner(east(u) - west(u)) / (2 * spacing) + (v[2:] - v[:-2]) / (2 * spacing)
    source = divergence / time_step
    for _ in range(iterations):
        core = 0.25 * (inner(east(p)) + inner(west(p)) + p[2:] + p[:-2] - source * spacing**2)
        p = np.concatenate((core[:1], core, core[-1:]))

    def step(f, gradient):
        advection = inner(u) * inner(f - west(f)) / spacing + inner(v) * (f[1:-1] - f[:-2]) / spacing
        diffusion = (inner(east(f)) + inner(west(f)) + f[2:] + f[:-2] - 4 * inner(f)) / spacing**2
        return inner(f) + time_step * (viscosity * diffusion - advection - gradient)

    next_u = step(u, inner(east(p) - west(p)) / (2 * spacing) - force)
    next_v = step(v, (p[2:] - p[:-2]) / (2 * spacing))
    return np.pad(next_u, ((1, 1), (0, 0))), np.pad(next_v, ((1, 1), (0, 0))), p


def game_of_life(cells, generations):
    """Conway's rules on a torus of 0 and 1."""
    for _ in range(generations):
        neighbours = sum(
            np.roll(cells, (dy, dx), axis=(0, 1))
            for dy in (-1, 0, 1)
            for dx in (-1, 0, 1)
            if (dy, dx) != (0, 0)
        )
        cells = ((neighbours == 3) | ((cells == 1) & (neighbours == 2))).astype(cells.dtype)
    return cells
