"""The kernels that sort and select: results as those of the evaluator, and every access within bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adze.dialects.ops.ordering import Sort, TopK
from adze.dialects.types import BFLOAT16, TensorType
from adze.passes.lower.tuning import ordering_forms
from adze.passes.pipeline import lower
from adze.runtime.targets import parse_target

from ....selection import part
from ..programs import Compiled, build
from .interpreter import KernelFault, run_kernel

RNG = np.random.default_rng(12)
SPECIAL = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-42, -1e-310, 3.5, -7.0])
DTYPES = part(
    ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16",
     "bfloat16", "float32", "float64", "complex64", "complex128"],
    ["bool", "uint16", "int32", "bfloat16", "float64", "complex64"],
)  # fmt: skip
ALONE = part(["bool", "int8", "uint64", "float32"], ["uint64", "float32"])
TOP = part(["bool", "uint8", "int64", "bfloat16", "float32", "float64"], ["bool", "int64", "float32"])


def dtype(name: str) -> np.dtype:
    return BFLOAT16 if name == "bfloat16" else np.dtype(name)


def numbers(name: str, *shape: int) -> np.ndarray:
    """Random elements with ties; of floats half are special."""
    kind = dtype(name)
    if kind.kind in "iu":
        info = np.iinfo(kind)
        wide = RNG.integers(info.min, info.max, shape, dtype=kind, endpoint=True)
        return np.where(RNG.random(shape) < 0.5, wide, wide % 7).astype(kind)
    if kind.kind == "b":
        return RNG.random(shape) < 0.5
    if kind.kind == "c":
        filled = np.empty(shape, kind)
        filled.real, filled.imag = numbers(f"float{4 * kind.itemsize}", 2, *shape)
        return filled
    with np.errstate(over="ignore", under="ignore"):
        return np.where(
            RNG.random(shape) < 0.5, RNG.choice(SPECIAL, shape), RNG.standard_normal(shape)
        ).astype(kind)


def ordered(axis: int, num_keys: int = 1) -> Any:
    return lambda b, *x: b.sort(*x, axis=axis, num_keys=num_keys, is_stable=True)


def with_places(axis: int) -> Any:
    def rule(b: Any, x: Any) -> Any:
        places = b.iota(shape=b.sizes(x), axis=axis, dtype=np.dtype(np.int64))
        return b.sort(x, places, axis=axis, num_keys=1, is_stable=True)

    return rule


def tensor(name: str, *shape: int | None) -> TensorType:
    return TensorType(shape, dtype(name))


ROW = 201  # sorted by the kernel, in a radix sort whose last vector is not full
LONG = 9001  # digits of more bits
run = Compiled(
    {
        **{f"values_{name}": (ordered(1), (tensor(name, 3, ROW),)) for name in ALONE},
        **{f"places_{name}": (with_places(0), (tensor(name, ROW, 3),)) for name in DTYPES},
        **{f"top_{name}": (lambda b, x: b.top_k(x, k=20), (tensor(name, 3, ROW),)) for name in TOP},
        **{f"few_{name}": (lambda b, x: b.top_k(x, k=5), (tensor(name, 3, ROW),)) for name in ALONE},
        "long": (with_places(0), (tensor("float32", LONG),)),
        "keys": (ordered(0, 2), (tensor("int8", 500), tensor("float64", 500), tensor("float32", 500))),
        "dynamic": (ordered(1), (tensor("float32", None, None), tensor("int32", None, None))),
        "dynamic_top": (lambda b, x: b.top_k(x, k=3), (tensor("float32", None, None),)),
    }
)


def same(got: np.ndarray, want: np.ndarray) -> bool:
    """Whether all bits are equal."""
    return got.dtype == want.dtype and got.tobytes() == np.ascontiguousarray(want).tobytes()


@pytest.mark.parametrize("name", ALONE)
def test_rows_without_a_payload_are_sorted(name: str) -> None:
    x = numbers(name, 3, ROW)
    (want,) = Sort.evaluate(x, axis=1, num_keys=1, is_stable=True)
    assert same(run(f"values_{name}", x)[0], want)


@pytest.mark.parametrize("name", DTYPES)
def test_elements_of_every_dtype_are_sorted_stably(name: str) -> None:
    x = numbers(name, ROW, 3)
    places = np.broadcast_to(np.arange(ROW)[:, None], (ROW, 3))
    want = Sort.evaluate(x, places, axis=0, num_keys=1, is_stable=True)
    got = run(f"places_{name}", x)
    assert same(got[0], want[0]) and same(got[1], want[1])


GREATEST = [*(("top", name, 20) for name in TOP), *(("few", name, 5) for name in ALONE)]


@pytest.mark.parametrize(("which", "name", "k"), GREATEST)
def test_the_greatest(which: str, name: str, k: int) -> None:
    x = numbers(name, 3, ROW)
    want = TopK.evaluate(x, k=k)
    got = run(f"{which}_{name}", x)
    assert same(got[0], want[0]) and same(got[1], want[1])


@pytest.mark.parametrize(
    "make", [lambda n: numbers("float32", n), np.ones, np.arange, lambda n: -np.arange(n)]
)
def test_long_rows(make: Any) -> None:
    x = make(LONG).astype(np.float32)
    got = run("long", x)
    order = np.argsort(x, kind="stable")
    assert same(got[0], x[order]) and same(got[1], order)


def test_several_keys_and_a_payload() -> None:
    keys, second, carried = numbers("int8", 500), numbers("float64", 500), numbers("float32", 500)
    want = Sort.evaluate(keys, second, carried, axis=0, num_keys=2, is_stable=True)
    assert all(same(g, w) for g, w in zip(run("keys", keys, second, carried), want, strict=True))


@pytest.mark.parametrize("shape", [(0, 5), (2, 0), (3, 1), (2, 32), (2, 33), (100, 40), (1, 20000)])
def test_sizes_known_at_run_time(shape: tuple[int, int]) -> None:
    x, carried = numbers("float32", *shape), numbers("int32", *shape)
    want = Sort.evaluate(x, carried, axis=1, num_keys=1, is_stable=True)
    assert all(same(g, w) for g, w in zip(run("dynamic", x, carried), want, strict=True))
    if shape[1] >= 3:
        greatest = zip(run("dynamic_top", x), TopK.evaluate(x, k=3), strict=True)
        assert all(same(g, w) for g, w in greatest)


def kernel_module(rule: Any, *types: TensorType) -> Any:
    """The lowered module of a program."""
    module, _ = build({"main": (rule, types)})
    lower(module, parse_target("cpu"))
    return module


@pytest.mark.one_in(2)
@pytest.mark.parametrize("size", [1, 2, 32, 33])
def test_all_accesses_are_within_bounds(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel's code, run by an interpreter that checks; what it sorts is right there too."""
    monkeypatch.setattr(ordering_forms, "KERNEL_SORTED", 0)
    x = numbers("float32", 2, size)
    want = Sort.evaluate(x, axis=1, num_keys=1, is_stable=True)[0]
    module = kernel_module(ordered(1), tensor("float32", None, None))
    values, *_ = run_kernel(module, "kernel_sort", [x, 2, size, 1], 1)
    assert same(values, want)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("size", [32, 35])
def test_all_accesses_are_within_bounds_with_an_order(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordering_forms, "KERNEL_SORTED", 0)
    monkeypatch.setattr(ordering_forms, "MOST_EXCHANGED", 0)
    x = numbers("float32", 2, size)
    places = kernel_module(with_places(1), tensor("float32", 2, size))
    values, *_, order = run_kernel(places, "kernel_sort", [x], 2)
    want = np.argsort(x, 1, kind="stable").astype(np.int32)
    assert same(order, want) and same(values, np.take_along_axis(x, want, 1))


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("size", "k"), [(1, 1), (17, 17), (40, 18), (40, 3), (16, 16)])
def test_all_accesses_of_a_selection_are_within_bounds(
    size: int, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ordering_forms, "KERNEL_SORTED", 0)
    monkeypatch.setattr(ordering_forms, "FEW_SELECTED", 0)
    x = numbers("float32", 2, size)
    module = kernel_module(lambda b, x: b.top_k(x, k=k), tensor("float32", None, None))
    few = [x, 2, size]
    results = run_kernel(module, "kernel_select", few if k <= 16 else [*few, 2], 2)
    assert same(results[0], TopK.evaluate(x, k=k)[0])


def test_the_interpreter_sees_faults() -> None:
    """A kernel that is told of a larger array than it gets accesses what is not there."""
    x = numbers("float32", 3, 200)
    module = kernel_module(ordered(1), tensor("float32", 3, 400))
    with pytest.raises(KernelFault, match="place"):
        run_kernel(module, "kernel_sort", [x], 3)
