"""Whether a GPU computes what it should, and how fast beside what it could.

Input: the name of a device. Output: `GpuCheck`: products checked against NumPy and timed, and the peaks that
they are compared with. Times are those of the device's own clock (`runtime/measure/profiles.py`), and of a
CUDA device without NVIDIA's CUPTI those of calls on the host's. Idea: where the driver does not say what its
device can do, chains of multiply-adds in registers show it, and an addition to a large array what its memory
moves. What fails is named, and the rest is done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, Final, TypeVar

import numpy as np

from ...dialects.dataclass import dataclass
from ...dialects.errors import AdzeError
from ...runtime.execute.array import DeviceArray, from_host
from ...runtime.execute.devices import get_device, gpu_facts
from ...runtime.execute.gpu_drivers import GpuFacts
from ...runtime.execute.program import Executable, Function
from ...runtime.measure.latency import measure
from ...runtime.measure.profiles import has_profiles, kernels, record
from ..staging.compiled import Compiled
from ..staging.jit import trace

Result = TypeVar("Result")

STATED: Final = "stated by the driver"
MEASURED: Final = "measured"
_CHAINS: Final = 8  # side by side, so that no multiply-add waits for the one before it
_STEPS: Final = 32
_CALLS: Final = 3
_HOST_SECONDS: Final = 0.2
_PEAK_SECONDS: Final = 0.01  # what a measured program should take about
_PRODUCT_SECONDS: Final = 0.05
_SIZES: Final = (256, 512, 1024, 2048, 4096)
_SMALL_SIZE: Final = 64  # for a GPU that a processor imitates
_LARGEST_ERROR: Final = {"float32": 1e-5, "float16": 5e-3}
"""What a product may be off by, in parts of its largest element: the sums of a long row are rounded often."""
PRODUCT_DTYPES: Final = tuple(_LARGEST_ERROR)


@dataclass(frozen=True, slots=True)
class Peak:
    """What a device can do: a number a second, and where it comes from (`STATED` or `MEASURED`)."""

    value: float
    source: str


@dataclass(frozen=True, slots=True)
class CheckedProduct:
    """A product of square matrices: its largest error, and its time, None where that was not measured."""

    size: int
    dtype: str
    error: float
    seconds: float | None

    @property
    def is_right(self) -> bool:
        return self.error <= _LARGEST_ERROR[self.dtype]

    @property
    def flops(self) -> float | None:
        """Operations a second."""
        return 2.0 * self.size**3 / self.seconds if self.seconds else None

    def to_json(self) -> dict[str, Any]:
        """As values that JSON has."""
        return {**asdict(self), "is_right": self.is_right, "flops": self.flops}


@dataclass(frozen=True, slots=True)
class GpuCheck:
    """What was seen of a GPU; `failures` say why the rest of it was not."""

    device: str
    description: str
    facts: GpuFacts
    peak: Peak | None
    bandwidth: Peak | None
    products: tuple[CheckedProduct, ...]
    failures: tuple[str, ...] = ()

    @property
    def clock(self) -> str:
        """Whose clock measured."""
        return "the device's clock" if has_profiles(self.device) else "the host's clock"

    def to_json(self) -> dict[str, Any]:
        """As values that JSON has."""
        return {
            "device": self.device,
            "description": self.description,
            "driver": self.facts.driver,
            "clock": self.clock,
            "memory": self.facts.memory,
            "peak": None if self.peak is None else asdict(self.peak),
            "bandwidth": None if self.bandwidth is None else asdict(self.bandwidth),
            "products": [each.to_json() for each in self.products],
            "failures": list(self.failures),
        }


def check_gpu(device: str, *, dtypes: Sequence[str] = PRODUCT_DTYPES, small: bool = False) -> GpuCheck:
    """Measure what `device` can do, and run a product of each of `dtypes` on it.

    `small`: products are small, whatever the peak is. Raises `DeviceError` where there is no such device.
    """
    held = get_device(device)
    failures: list[str] = []
    facts = gpu_facts(held.name)
    peak = _attempt("peak", lambda: peak_flops(held.name, facts), failures)
    moved = _attempt("bandwidth", lambda: bandwidth(held.name, facts), failures)
    size = _SMALL_SIZE if small else _fitting_size(peak)
    products = [
        _attempt(f"product of {dtype}", partial(checked_product, held.name, size, dtype), failures)
        for dtype in dtypes
    ]
    checked = tuple(product for product in products if product is not None)
    return GpuCheck(held.name, held.description, facts, peak, moved, checked, tuple(failures))


def _fitting_size(peak: Peak | None) -> int:
    fitting = [n for n in _SIZES if peak is not None and 2.0 * n**3 / peak.value <= _PRODUCT_SECONDS]
    return max(fitting, default=_SIZES[0])


def _attempt(what: str, function: Callable[[], Result], failures: list[str]) -> Result | None:
    """The result of a part, None where it fails, in whatever way: a driver has its own errors."""
    try:
        return function()
    except Exception as error:
        failures.append(f"{what}: {error.message if isinstance(error, AdzeError) else repr(error)}")
        return None


def peak_flops(device: str, facts: GpuFacts) -> Peak:
    """Operations a second in float32 outside of matrix units."""
    if facts.peak_flops is not None:
        return Peak(facts.peak_flops, STATED)

    def seconds(count: int) -> float:
        x = np.linspace(0, 1, count, dtype=np.float32)
        return device_seconds(_chains, [x, np.float32(0.5), np.float32(0.25)], device)

    work = 2 * _CHAINS * _STEPS
    count = 1 << 14
    rate = work * count / seconds(count)
    count = _rounded(rate * _PEAK_SECONDS / work, count)
    return Peak(max(rate, work * count / seconds(count)), MEASURED)


def bandwidth(device: str, facts: GpuFacts) -> Peak:
    """Bytes a second that the memory moves, read and written."""
    if facts.bandwidth is not None:
        return Peak(facts.bandwidth, STATED)
    x = np.zeros(1 << 24, np.float32)
    return Peak(2 * x.nbytes / device_seconds(lambda x: x + 1, [x], device), MEASURED)


def checked_product(device: str, size: int, dtype: str) -> CheckedProduct:
    """A product of random matrices on `device` beside NumPy's."""
    random = np.random.default_rng(0)
    x, y = (random.standard_normal((size, size)).astype(dtype) for _ in range(2))
    program = Subject.of(lambda x, y: x @ y, [x, y], device)
    got = np.asarray(program.call()[0].numpy(), np.float64)
    want = x.astype(np.float64) @ y.astype(np.float64)
    difference = np.where(np.isfinite(got), np.abs(got - want), np.inf)
    error = float(np.max(difference) / np.max(np.abs(want)))
    return CheckedProduct(size, dtype, error, program.seconds_or_none())


def device_seconds(function: Callable[..., Any], arguments: Sequence[Any], device: str) -> float:
    """The least time of the kernels of one call of `function`: what the device can do."""
    return Subject.of(function, arguments, device).seconds(is_least=True)


@dataclass(frozen=True)
class Subject:
    """A function compiled for a device, loaded there, and arguments for it."""

    program: Compiled
    function: Function
    arguments: tuple[np.ndarray, ...]
    device: str

    @classmethod
    def of(cls, function: Callable[..., Any], arguments: Sequence[Any], device: str) -> Subject:
        """`function` for arguments that NumPy reads, on `device`."""
        held = tuple(np.asarray(argument) for argument in arguments)
        program = trace(function, *held).lower(get_device(device).target).compile()
        signatures = program.manifest.signatures
        loaded = Executable(program.vmfb, device, signatures).function(signatures[0].name)
        return cls(program, loaded, held, device)

    def call(self) -> list[DeviceArray]:
        """One call, with arguments of the host."""
        return self.function.call(self.arguments)

    def seconds_or_none(self) -> float | None:
        """As `seconds`, None where the device fails to be timed: what it computed is known all the same."""
        try:
            return self.seconds()
        except (AdzeError, OSError):
            return None

    def seconds(self, *, is_least: bool = False) -> float:
        """The time of the kernels of one call, median or least; without profiles the least of a call."""
        if has_profiles(self.device):
            name = self.function.signature.name
            times = kernels(record(self.program.vmfb, self.device, name, self.arguments, _CALLS))
            whole = sum(kernel.least * kernel.runs if is_least else kernel.time for kernel in times)
            return whole / _CALLS
        on_device = [from_host(argument, self.device) for argument in self.arguments]
        [latency] = measure([lambda: self.function.call(on_device)], _HOST_SECONDS)
        return latency.quantile(0)


def _chains(x: Any, factor: Any, term: Any) -> Any:
    """Chains of multiply-adds, which take long and move little."""
    values = [x + start for start in range(_CHAINS)]
    for _ in range(_STEPS):
        values = [value * factor + term for value in values]
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


def _rounded(count: float, least: int) -> int:
    """A power of two near `count`, which neither the tiles of a kernel nor memory object to."""
    return int(np.clip(1 << max(int(count), 1).bit_length() - 1, least, 1 << 24))
