"""`convert` between all pairs of dtypes, and the bit-level ops, against NumPy and ml_dtypes."""

import ml_dtypes
import numpy as np
import pytest

from adze.passes.lower.scalars import Scalars

from ....selection import quick_first
from .kernels import Kernel, compile_kernels, op_kernel

BOOL = np.dtype(bool)
NAMES = (
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
)
REAL = [*(np.dtype(name) for name in NAMES), np.dtype(ml_dtypes.bfloat16)]
COMPLEX = [np.dtype("complex64"), np.dtype("complex128")]
HALVES = [np.dtype("float16"), np.dtype(ml_dtypes.bfloat16)]


def _is_float(dtype: np.dtype) -> bool:
    return dtype.kind == "f" or dtype == ml_dtypes.bfloat16


def _samples(dtype: np.dtype) -> np.ndarray:
    """Bit patterns: all of them where there are 2**16 at most; edges of every other type, and random ones."""
    if dtype == BOOL:
        return np.array([False, True])
    if dtype.itemsize <= 2:
        return np.arange(2 ** (8 * dtype.itemsize)).astype(f"u{dtype.itemsize}").view(dtype)
    rng = np.random.default_rng(1)
    random = rng.integers(0, 2**64, 4000, dtype=np.uint64, endpoint=False)
    powers = np.array(
        [sign * (2.0**p + d) for p in range(65) for d in (-1.5, -1, -0.5, 0, 0.5, 1) for sign in (1, -1)]
    )
    if _is_float(dtype):
        bits = random.astype(f"u{dtype.itemsize}").view(dtype)
        spread = (rng.standard_normal(4000) * 10.0 ** rng.uniform(-12, 12, 4000)).astype(dtype)
        near_halves = ml_dtypes.bfloat16(1.0) + (rng.integers(0, 2**12, 4000) * 2.0**-11 + 2.0**-40).astype(
            dtype
        )
        values = np.concatenate(
            [bits, spread, near_halves, powers.astype(dtype), np.array([0.0, -0.0, np.inf, -np.inf], dtype)]
        )
        normal = (np.abs(values) >= np.finfo(dtype).tiny) | (values == 0) | np.isnan(values)
        return values[normal]
    limits = np.iinfo(dtype)
    edges = [int(p) for p in powers if limits.min <= int(p) <= limits.max]
    shifted = (random >> rng.integers(0, 64, 4000).astype(np.uint64)).astype(dtype)
    return np.concatenate([np.array(edges, dtype), shifted])


def _round_to_half(values: np.ndarray, target: np.dtype) -> np.ndarray:
    """Rounded once, through exact longdouble neighbours: other casts from f64 round twice."""
    wide = values.astype(np.longdouble)
    guess = values.astype(np.float32).astype(target)
    bits = guess.view(np.uint16)
    best, error = guess, np.abs(guess.astype(np.float64).astype(np.longdouble) - wide)
    for step in (-1, 1):
        other = (bits + np.uint16(step % 2**16)).view(target)
        distance = np.abs(other.astype(np.float64).astype(np.longdouble) - wide)
        better = (distance < error) | ((distance == error) & (other.view(np.uint16) & 1 == 0))
        usable = better & np.isfinite(other.astype(np.float32)) & np.isfinite(guess.astype(np.float32))
        best, error = np.where(usable, other, best), np.where(usable, distance, error)
    return best


def _expected(values: np.ndarray, target: np.dtype) -> np.ndarray:
    source = values.dtype
    if target == BOOL:
        return values != 0
    if _is_float(source) and not _is_float(target):
        limits = np.iinfo(target)
        wide = values.astype(np.longdouble)
        whole = np.trunc(np.where(np.isnan(wide), 0, wide))
        clipped = np.clip(whole, np.longdouble(limits.min), np.longdouble(limits.max))
        return np.array([int(v) for v in clipped], dtype=object).astype(target)
    if target in HALVES and source != BOOL and source.itemsize > 2:
        return _round_to_half(values, target)
    if target == ml_dtypes.bfloat16:
        return values.astype(np.float32).astype(target)
    return values.astype(target)


# A dtype of each kind, the widest, comes first: what a narrower one does is part of it.
KINDS = [*(np.dtype(name) for name in ("bool", "int64", "uint64", "float32", "float64")), *HALVES]
WIDEST_FIRST = [*KINDS, *(dtype for dtype in REAL if dtype not in KINDS)]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("source", quick_first(WIDEST_FIRST, len(KINDS)), ids=str)
def test_every_conversion_rounds_once_and_saturates(source: np.dtype, thorough: bool) -> None:
    scalars = Scalars("cpu")
    kernels = {
        target.name: Kernel(lambda x, t=target: scalars.convert(source, t, x), (source,), target)
        for target in REAL
    }
    # IREE refuses a kernel of several results one of which is its i1 operand.
    run = compile_kernels(kernels, joined=not thorough and source != BOOL)
    values = _samples(source)
    if source == ml_dtypes.bfloat16:  # its denormals are those of f32, which IREE's CPU drivers flush
        exponent = values.view(np.uint16) & 0x7F80
        values = values[(exponent != 0) | (values.view(np.uint16) & 0x7F == 0)]
    for target in REAL:
        with np.errstate(all="ignore"):
            expected, seen = _expected(values, target), run(target.name, values)
            expected_wide, seen_wide = expected.astype(np.float64), seen.astype(np.float64)
        if _is_float(target):
            tiny = float(ml_dtypes.finfo(target).tiny)
            flushed = (np.abs(expected_wide) < tiny) & (seen_wide == 0)
            same = (expected_wide == seen_wide) | (np.isnan(expected_wide) & np.isnan(seen_wide)) | flushed
        else:
            same = expected == seen
        bad = np.flatnonzero(~same)[:5]
        assert not bad.size, f"{source} -> {target}: {[(values[i], seen[i], expected[i]) for i in bad]}"


def test_complex_numbers_convert_part_by_part() -> None:
    scalars = Scalars("cpu")
    single, double = COMPLEX
    pairs = [(single, double), (double, single), (np.dtype("int32"), double), (double, np.dtype("float32")),
             (double, np.dtype("int32")), (double, BOOL), (np.dtype("float32"), single)]  # fmt: skip
    kernels = {
        f"k{i}": Kernel(lambda x, s=s, t=t: scalars.convert(s, t, x), (s,), t)
        for i, (s, t) in enumerate(pairs)
    }
    run = compile_kernels(kernels)
    for i, (source, target) in enumerate(pairs):
        values = np.array([0, 1, -2, 7, 100]).astype(source)
        if source.kind == "c":
            values = values + np.array([0, 0.5, 3, -1, 0]).astype(source) * 1j
        expected = (
            values != 0 if target == BOOL else (values.real if target.kind != "c" else values).astype(target)
        )
        np.testing.assert_array_equal(
            run(f"k{i}", values.astype(source)), expected, err_msg=f"{source} -> {target}"
        )


@pytest.mark.parametrize(
    "dtype", quick_first([HALVES[1], np.dtype("float64"), HALVES[0], np.dtype("float32")], 2), ids=str
)
def test_nextafter_steps_one_bit(dtype: np.dtype) -> None:
    run = compile_kernels({"nextafter": op_kernel(Scalars("cpu"), "nextafter", dtype, 2)})
    tiny, largest = float(ml_dtypes.finfo(dtype).tiny), float(ml_dtypes.finfo(dtype).max)
    values = np.array(
        [0.0, -0.0, 1.0, -1.0, 2.0, 3.5, tiny, -tiny, largest, -largest, np.inf, -np.inf, np.nan]
    ).astype(dtype)
    x, y = (v.ravel() for v in np.meshgrid(values, values))
    with np.errstate(all="ignore"):
        expected = np.nextafter(x, y)
    seen, bits = run("nextafter", x, y), f"u{dtype.itemsize}"
    free = np.isnan(expected) & np.isnan(seen) | (
        (x == 0) & (y == 0)
    )  # NumPy's f16 keeps the sign of x at 0, 0
    np.testing.assert_array_equal(np.where(free, 0, seen.view(bits)), np.where(free, 0, expected.view(bits)))
    assert (np.signbit(seen) == np.signbit(y))[(x == 0) & (y == 0)].all()


def test_bitcast_keeps_the_bits() -> None:
    scalars = Scalars("cpu")
    single, unsigned = np.dtype("float32"), np.dtype("uint32")
    run = compile_kernels(
        {"bits": Kernel(lambda x: scalars.bitcast_convert(single, unsigned, x), (single,), unsigned)}
    )
    values = np.array([1.0, -0.0, np.inf, 3.25], np.float32)
    np.testing.assert_array_equal(run("bits", values), values.view(np.uint32))
