"""Scientific, financial and bit-twiddling programs in plain NumPy: no adze in this file.

Written from the public definitions of well-known benchmark programs. Where the original picks elements by
a mask of unknown count or stops when a value has converged, these use `np.where` and a fixed count.
"""

import math

import numpy as np


def go_fast(a):
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace


def compute(array_1, array_2, a, b, c):
    return np.clip(array_1, 2, 10) * a + array_2 * b + c


def arc_distance(theta_1, phi_1, theta_2, phi_2):
    """Angular distance of points on a sphere."""
    temp = (
        np.sin((theta_2 - theta_1) / 2) ** 2
        + np.cos(theta_1) * np.cos(theta_2) * np.sin((phi_2 - phi_1) / 2) ** 2
    )
    return 2 * np.arctan2(np.sqrt(temp), np.sqrt(1 - temp))


def azimuthal_integration(data, radius, bins):
    """The mean of `data` over rings of equal width."""
    outermost = radius.max()
    means = []
    for i in range(bins):
        ring = np.logical_and(outermost * i / bins <= radius, radius < outermost * (i + 1) / bins)
        means.append(np.where(ring, data, 0.0).sum() / ring.sum())
    return np.stack(means)


def azimuthal_histogram(data, radius, bins):
    """The same through two histograms over fixed edges."""
    count = np.histogram(radius, bins, range=(0.0, 1.0))[0]
    total = np.histogram(radius, bins, range=(0.0, 1.0), weights=data)[0]
    return total / count


def mandelbrot(c, iterations, horizon=2.0):
    """Escape counts over a grid of complex points, and where the iteration ended."""
    z = np.zeros_like(c)
    count = np.zeros(c.shape, dtype=np.int64)
    for n in range(iterations):
        inside = np.abs(z) < horizon
        count = np.where(inside, n, count)
        z = np.where(inside, z**2 + c, z)
    return count, z


def acceleration(position, mass, softening):
    separation = position[None, :, :] - position[:, None, :]
    squared = np.sum(separation**2, axis=-1) + softening**2
    inverse_cube = np.where(squared > 0, squared, 1.0) ** -1.5
    return np.einsum("ijd,ij,j->id", separation, inverse_cube, mass)


def nbody(position, velocity, mass, steps, time_step=0.01, softening=0.1):
    """Leapfrog integration of gravity; returns the path's end and the energies along it."""
    velocity = velocity - np.mean(mass[:, None] * velocity, axis=0) / np.mean(mass)
    force = acceleration(position, mass, softening)
    kinetic = []
    for _ in range(steps):
        velocity = velocity + force * time_step / 2.0
        position = position + velocity * time_step
        force = acceleration(position, mass, softening)
        velocity = velocity + force * time_step / 2.0
        kinetic.append(0.5 * np.sum(mass[:, None] * velocity**2))
    return position, velocity, np.stack(kinetic)


def normal_cdf(x):
    """Abramowitz and Stegun 26.2.17: NumPy itself has no erf."""
    k = 1.0 / (1.0 + 0.2316419 * np.abs(x))
    series = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    tail = np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi) * series
    return np.where(x >= 0, 1.0 - tail, tail)


def black_scholes(spot, strike, years, rate, volatility):
    """European call and put prices."""
    deviation = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / deviation
    d2 = d1 - deviation
    discounted = strike * np.exp(-rate * years)
    call = spot * normal_cdf(d1) - discounted * normal_cdf(d2)
    put = discounted * normal_cdf(-d2) - spot * normal_cdf(-d1)
    return call, put


def crc16(messages):
    """CRC-16 (reversed polynomial 0x8408) of every row of bytes, bit by bit."""
    crc = np.full(messages.shape[0], 0xFFFF, dtype=np.uint16)
    for position in range(messages.shape[1]):
        byte = messages[:, position].astype(np.uint16)
        for _ in range(8):
            odd = ((crc ^ byte) & 1) == 1
            crc = np.where(odd, (crc >> 1) ^ 0x8408, crc >> 1)
            byte = byte >> 1
    crc = ~crc
    return (crc << 8) | (crc >> 8)


def xorshift(state, rounds):
    """Marsaglia's 64-bit generator on many streams; shifts drop bits, sums wrap."""
    total = np.zeros_like(state)
    for _ in range(rounds):
        state = state ^ (state << np.uint64(13))
        state = state ^ (state >> np.uint64(7))
        state = state ^ (state << np.uint64(17))
        total = total + state
    return state, total


def population_count(words):
    """Set bits of 32-bit words by the usual masks."""
    words = words - ((words >> 1) & 0x55555555)
    words = (words & 0x33333333) + ((words >> 2) & 0x33333333)
    words = (words + (words >> 4)) & 0x0F0F0F0F
    return (words * np.uint32(0x01010101)) >> 24


def pairwise_distances(points):
    squares = np.sum(points**2, axis=1)
    return np.sqrt(np.maximum(squares[:, None] + squares - 2 * points @ points.T, 0))


def k_means(points, centres, steps):
    """Lloyd's algorithm: the nearest centre by argmin, new centres through a one-hot product."""
    for _ in range(steps):
        nearest = np.argmin(((points[:, None] - centres) ** 2).sum(-1), axis=1)
        member = (nearest[:, None] == np.arange(centres.shape[0])).astype(points.dtype)
        centres = member.T @ points / np.maximum(member.sum(axis=0), 1)[:, None]
    return centres, nearest


def rolling_statistics(series, window):
    """Moving mean and deviation from cumulative sums, and the running maximum."""
    total = np.concatenate((np.zeros(1), np.cumsum(series)))
    squares = np.concatenate((np.zeros(1), np.cumsum(series**2)))
    mean = (total[window:] - total[:-window]) / window
    mean_square = (squares[window:] - squares[:-window]) / window
    return mean, np.sqrt(np.maximum(mean_square - mean**2, 0)), np.maximum.accumulate(series)


def robust_scale(samples):
    """Median and quartiles by sorting, then scaled samples and their ranks."""
    ordered = np.sort(samples, axis=0)
    count = samples.shape[0]
    median = 0.5 * (ordered[(count - 1) // 2] + ordered[count // 2])
    spread = ordered[3 * count // 4] - ordered[count // 4]
    return (samples - median) / spread, np.argsort(np.argsort(samples, axis=0), axis=0)


def interpolate_table(x, table_x, table_y):
    return np.interp(x, table_x, table_y), np.searchsorted(table_x, x)


def discrete_fourier(signal):
    """The transform as a matrix of roots of unity, and its power spectrum."""
    n = signal.shape[0]
    angles = -2j * np.pi * np.outer(np.arange(n), np.arange(n)) / n
    spectrum = np.exp(angles) @ signal
    return spectrum, (spectrum * np.conj(spectrum)).real


def runge_kutta_lorenz(state, steps, h=0.01):
    """Classical fourth-order steps of the Lorenz system for many starting points."""

    def slope(s):
        x, y, z = s
        return np.stack((10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z))

    for _ in range(steps):
        k1 = slope(state)
        k2 = slope(state + h / 2 * k1)
        k3 = slope(state + h / 2 * k2)
        k4 = slope(state + h * k3)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return state
