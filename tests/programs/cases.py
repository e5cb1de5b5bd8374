"""The table of programs: which function, on which inputs, and how close compiled must be to NumPy.

In: the kernels of this folder. Out: `CASES`, one row a program. Inputs are small (the compiler's time is
what a test costs) and seeded by the program's name; settings are Python values and static in the trace.
"""

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import array_api, linear_algebra, networks, science, stencils

# By precision of the inputs: sums are taken in another order and fused multiply-adds round once.
TOLERANCE = {"f32": 2e-5, "f64": 1e-11, "exact": 0.0}


@dataclass(frozen=True)
class Case:
    """One program: `arrays` are traced, `settings` are keyword arguments that stay Python values."""

    kernel: Callable[..., Any]
    arrays: tuple[Any, ...]
    tolerance: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.kernel.__module__.rsplit('.', 1)[-1]}.{self.kernel.__name__}"


class Draw:
    """Random inputs, a stream for each program."""

    def __init__(self, name: str) -> None:
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))

    def f64(self, *shape: int) -> Any:
        return self.rng.uniform(0.1, 1.0, shape)

    def f32(self, *shape: int) -> Any:
        return self.rng.standard_normal(shape).astype(np.float32)

    def c128(self, *shape: int) -> Any:
        return self.rng.standard_normal(shape) + 1j * self.rng.standard_normal(shape)

    def integers(self, low: int, high: int, shape: tuple[int, ...], dtype: Any = np.int64) -> Any:
        return self.rng.integers(low, high, shape, dtype=dtype)


def of_stencils() -> list[Case]:
    d = Draw("stencils")
    s = stencils
    return [
        Case(s.jacobi_1d, (d.f64(40), d.f64(40)), "f64", {"steps": 2}),
        Case(s.jacobi_2d, (d.f64(12, 10), d.f64(12, 10)), "f64", {"steps": 2}),
        Case(s.heat_3d, (d.f64(7, 8, 9),), "f64", {"steps": 2}),
        Case(s.fdtd_2d, (d.f64(9, 11), d.f64(9, 11), d.f64(9, 11), d.f64(2)), "f64"),
        Case(s.horizontal_diffusion, (d.f64(12, 11, 3), d.f64(8, 7, 3)), "f64"),
        Case(s.vertical_advection, tuple(d.f64(5, 4, 6) for _ in range(3)), "f64", {"time_step": 0.2}),
        Case(s.cavity_flow, (d.f64(9, 10), d.f64(9, 10), d.f64(9, 10)), "f64", {"iterations": 3}),
        Case(s.channel_flow, (d.f64(8, 10), d.f64(8, 10), d.f64(8, 10), 1.0), "f64", {"iterations": 3}),
        Case(s.game_of_life, (d.integers(0, 2, (12, 14)),), "exact", {"generations": 2}),
    ]


def of_linear_algebra() -> list[Case]:
    d = Draw("linear_algebra")
    s = linear_algebra
    a, b = 1.5, 1.2
    angle = np.exp(2j * np.pi * (np.arange(8) + 0.5) / 8)
    return [
        Case(s.gemm, (a, b, d.f64(12, 14), d.f64(12, 16), d.f64(16, 14)), "f64"),
        Case(s.gemver, (a, b, d.f64(9, 9), *(d.f64(9) for _ in range(6))), "f64"),
        Case(s.gesummv, (a, b, d.f64(9, 9), d.f64(9, 9), d.f64(9)), "f64"),
        Case(s.k2mm, (a, b, d.f64(8, 9), d.f64(9, 10), d.f64(10, 11), d.f64(8, 11)), "f64"),
        Case(s.k3mm, (d.f64(8, 9), d.f64(9, 10), d.f64(10, 11), d.f64(11, 7)), "f64"),
        Case(s.atax, (d.f64(10, 12), d.f64(12)), "f64"),
        Case(s.bicg, (d.f64(10, 12), d.f64(12), d.f64(10)), "f64"),
        Case(s.mvt, (d.f64(10), d.f64(10), d.f64(10), d.f64(10), d.f64(10, 10)), "f64"),
        Case(s.doitgen, (d.f64(4, 5, 6), d.f64(6, 6)), "f64"),
        Case(s.syrk, (a, b, d.f64(8, 8), d.f64(8, 5)), "f64"),
        Case(s.syr2k, (a, b, d.f64(8, 8), d.f64(8, 5), d.f64(8, 5)), "f64"),
        Case(s.trmm, (a, d.f64(7, 7), d.f64(7, 9)), "f64"),
        Case(s.symmetric_product, (a, b, d.f64(7, 9), d.f64(7, 7), d.f64(7, 9)), "f64"),
        Case(s.covariance, (d.f64(15, 6),), "f64"),
        Case(s.correlation, (d.f64(15, 6),), "f64"),
        Case(s.floyd_warshall, (d.integers(1, 50, (8, 8)),), "exact"),
        Case(s.gram_schmidt, (d.f64(8, 4) + np.eye(8, 4),), "f64"),
        Case(s.power_iteration, (d.f64(6, 6), d.f64(6)), "f64", {"steps": 4}),
        Case(s.contour_integral, (d.f64(5, 5), d.c128(8), 2 * angle), "f64"),
        Case(
            s.scattering_self_energies,
            (d.c128(2, 5, 3, 2, 2), d.c128(3, 3, 2, 2, 2), d.c128(2, 3, 3, 2, 2)),
            "f64",
        ),
        Case(s.kron_sum, (d.f64(3, 3), d.f64(4, 4)), "f64"),
    ]


def of_networks() -> list[Case]:
    d = Draw("networks")
    s = networks

    def w(*shape: int) -> Any:
        return d.f32(*shape) * np.float32(0.3)

    return [
        Case(s.softmax, (d.f32(3, 4, 17),), "f32"),
        Case(
            s.mlp,
            (d.f32(6, 20), w(20, 32), w(32), w(32, 24), w(24), w(24, 10), w(10)),
            "f32",
        ),
        Case(s.conv2d_bias, (d.f32(2, 7, 6, 3), w(3, 3, 3, 4), w(4)), "f32"),
        Case(s.conv2d_by_taps, (d.f32(2, 7, 6, 3), w(2, 2, 3, 5)), "f32"),
        Case(s.batch_norm, (d.f32(8, 5),), "f32"),
        Case(s.resnet_basic_block, (d.f32(4, 6, 6, 8), w(1, 1, 8, 4), w(3, 3, 4, 4), w(1, 1, 4, 8)), "f32"),
        Case(
            s.lenet,
            (
                *(d.f32(2, 16, 16, 1), w(5, 5, 1, 3), w(3), w(3, 3, 3, 4), w(4)),
                *(w(16, 12), w(12), w(12, 8), w(8), w(8, 10), w(10)),
            ),
            "f32",
        ),
        Case(s.layer_norm, (d.f32(5, 16), d.f32(16), d.f32(16)), "f32"),
        Case(s.causal_attention, (d.f32(2, 6, 8), d.f32(2, 6, 8), d.f32(2, 6, 8)), "f32"),
        Case(
            s.lstm,
            (d.f32(3, 4, 5), d.f32(4, 6), d.f32(4, 6), w(5, 24), w(6, 24), w(24)),
            "f32",
        ),
        Case(s.embedding_bag, (d.f32(20, 6), d.integers(0, 20, (4, 5)), np.array([5, 0, 2, 3])), "f32"),
    ]


def of_science() -> list[Case]:
    d = Draw("science")
    s = science
    grid = np.linspace(-2.1, 0.6, 13) + 1j * np.linspace(-1.15, 1.2, 11)[:, None]
    return [
        Case(s.go_fast, (d.f64(9, 9),), "f64"),
        Case(s.compute, (d.integers(0, 1000, (9, 8)), d.integers(0, 1000, (9, 8)), 4, 3, 9), "exact"),
        Case(s.arc_distance, (d.f64(50), d.f64(50), d.f64(50), d.f64(50)), "f64"),
        Case(s.azimuthal_integration, (d.f64(300), d.f64(300)), "f64", {"bins": 6}),
        Case(s.azimuthal_histogram, (d.f64(300), np.linspace(0, 0.999, 300)), "f64", {"bins": 6}),
        Case(s.mandelbrot, (grid,), "f64", {"iterations": 6}),
        Case(s.nbody, (d.f64(7, 3), d.f64(7, 3), d.f64(7)), "f64", {"steps": 2}),
        Case(s.black_scholes, (d.f64(40) * 100, d.f64(40) * 100, d.f64(40) * 3, 0.02, 0.3), "f64"),
        Case(s.crc16, (d.integers(0, 256, (6, 4), np.uint8),), "exact"),
        Case(s.xorshift, (d.integers(1, 2**62, (30,), np.uint64),), "exact", {"rounds": 3}),
        Case(s.population_count, (d.integers(0, 2**32 - 1, (30,), np.uint32),), "exact"),
        # A difference of nearly equal squares under a root: the error is the root of the rounding.
        Case(s.pairwise_distances, (d.f64(9, 3),), "f32"),
        Case(s.k_means, (d.f64(30, 2), d.f64(4, 2)), "f64", {"steps": 3}),
        Case(s.rolling_statistics, (d.f64(40),), "f64", {"window": 5}),
        Case(s.robust_scale, (d.f64(17, 3),), "f64"),
        Case(s.interpolate_table, (d.f64(30), np.linspace(0, 1, 9), d.f64(9)), "f64"),
        Case(s.discrete_fourier, (d.c128(16),), "f64"),
        Case(s.runge_kutta_lorenz, (d.f64(3, 5),), "f64", {"steps": 3}),
    ]


def of_array_api() -> list[Case]:
    d = Draw("array_api")
    s = array_api
    return [
        Case(s.softmax, (d.f32(5, 11),), "f32"),
        Case(s.standardize, (d.f64(9, 4),), "f64"),
        Case(s.polynomial, (d.f64(12), d.f64(5)), "f64"),
        Case(s.gaussian_kernel, (d.f64(6, 3), d.f64(5, 3)), "f64"),
        Case(s.plane_rotation, (np.float64(0.7), d.f64(6, 2)), "f64"),
        Case(s.grid_energy, (d.f64(6, 7),), "f64"),
        Case(s.ranking, (d.f64(4, 9),), "f64"),
        Case(s.bit_mix, (d.integers(0, 2**32 - 1, (20,), np.uint32),), "exact"),
        Case(s.blocks, (d.f64(5, 4),), "f64"),
        Case(s.complex_phase, (d.c128(9),), "f64"),
    ]


# Each group becomes one compiled module.
NUMPY_GROUPS: dict[str, list[Case]] = {
    "stencils": of_stencils(),
    "linear_algebra": of_linear_algebra(),
    "networks": of_networks(),
    "science": of_science(),
}
ARRAY_API_CASES = of_array_api()
