"""The kernel that sorts short rows by exchanges: the evaluator's bits, and every access within bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
from adze import lax
from adze import numpy as xp
from adze.dialects.ops.ordering import Sort, TopK
from adze.dialects.types import TensorType
from adze.passes.lower.tuning import ordering_forms
from adze.passes.pipeline import lower
from adze.runtime.targets import parse_target

from ....selection import part
from ..programs import Compiled, build
from .interpreter import KernelFault, counts_of, run_kernel
from .test_sorting import numbers, ordered, same, tensor, with_places

DTYPES = part(
    ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16",
     "bfloat16", "float32", "float64"],
    ["bool", "uint8", "uint32", "int64", "uint64", "float16", "float32", "float64"],
)  # fmt: skip
TOP = part(["bool", "uint8", "uint32", "int64", "bfloat16", "float32", "float64"], ["uint32", "float32"])
SHAPES = {
    "rows": ((19, 9), 1),
    "two": ((33, 2), 1),
    "long rows": ((17, 45), 1),
    "columns": ((9, 37), 0),
    "few columns": ((3, 13, 5), 1),
    "narrow": ((3, 14, 2), 1),
    "one row": ((16,), 0),
}
PLACES = part(
    [(s, d) for s in SHAPES for d in ("float32", "int16", "float64")],
    [(s, "float32") for s in SHAPES],
)
run = Compiled(
    {
        **{f"values_{d}": (ordered(1), (tensor(d, 11, 13),)) for d in DTYPES},
        **{f"columns_{d}": (with_places(0), (tensor(d, 13, 21),)) for d in DTYPES},
        **{f"top_{d}": (lambda b, x: b.top_k(x, k=5), (tensor(d, 11, 13),)) for d in TOP},
        **{f"all_{d}": (lambda b, x: b.top_k(x, k=13), (tensor(d, 11, 13),)) for d in TOP},
        **{f"{s} {d}": (with_places(SHAPES[s][1]), (tensor(d, *SHAPES[s][0]),)) for s, d in PLACES},
        "keys": (ordered(1, 2), tuple(tensor(d, 50, 12) for d in ("int8", "float32", "float64", "uint8"))),
        "counted rows": (ordered(1), (tensor("float32", None, 10), tensor("int32", None, 10))),
        "counted columns": (ordered(1), (tensor("float32", None, 10, None),)),
    }
)


@pytest.mark.parametrize("name", DTYPES)
def test_elements_of_every_dtype(name: str) -> None:
    x = numbers(name, 11, 13)
    assert same(run(f"values_{name}", x)[0], Sort.evaluate(x, axis=1, num_keys=1, is_stable=True)[0])
    x = numbers(name, 13, 21)
    places = np.broadcast_to(np.arange(13)[:, None], (13, 21))
    want = Sort.evaluate(x, places, axis=0, num_keys=1, is_stable=True)
    got = run(f"columns_{name}", x)
    assert same(got[0], want[0]) and same(got[1], want[1])


@pytest.mark.parametrize("name", TOP)
def test_the_greatest(name: str) -> None:
    x = numbers(name, 11, 13)
    for which, k in (("top", 5), ("all", 13)):
        got, want = run(f"{which}_{name}", x), TopK.evaluate(x, k=k)
        assert same(got[0], want[0]) and same(got[1], want[1])


@pytest.mark.parametrize(("shape", "name"), PLACES)
def test_rows_and_columns(shape: str, name: str) -> None:
    sizes, axis = SHAPES[shape]
    x = numbers(name, *sizes)
    places = np.moveaxis(np.broadcast_to(np.arange(sizes[axis]), np.moveaxis(x, axis, -1).shape), -1, axis)
    want = Sort.evaluate(x, places, axis=axis, num_keys=1, is_stable=True)
    got = run(f"{shape} {name}", x)
    assert same(got[0], want[0]) and same(got[1], want[1])


def test_several_keys_and_payloads() -> None:
    arrays = [numbers(d, 50, 12) for d in ("int8", "float32", "float64", "uint8")]
    arrays[0] %= 2
    want = Sort.evaluate(*arrays, axis=1, num_keys=2, is_stable=True)
    assert all(same(g, w) for g, w in zip(run("keys", *arrays), want, strict=True))


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 500])
def test_counts_known_at_run_time(count: int) -> None:
    x, carried = numbers("float32", count, 10), numbers("int32", count, 10)
    want = Sort.evaluate(x, carried, axis=1, num_keys=1, is_stable=True)
    assert all(same(g, w) for g, w in zip(run("counted rows", x, carried), want, strict=True))
    x = numbers("float32", 3, 10, count)
    (want_columns,) = Sort.evaluate(x, axis=1, num_keys=1, is_stable=True)
    assert same(run("counted columns", x)[0], want_columns)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("target", ["cpu:x86-64-v3", "cpu:x86-64-v4", "cpu:generic"])
@pytest.mark.parametrize(
    ("shape", "axis"), [((19, 9), 1), ((3, 18), 1), ((9, 19), 0), ((2, 9, 12), 1)], ids=str
)
def test_all_accesses_are_within_bounds(
    shape: tuple[int, ...], axis: int, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel's code, run by an interpreter that checks; what it sorts is right there too."""
    monkeypatch.setattr(ordering_forms, "BLOCK_SIZE", 1)
    x = numbers("float32", *shape)
    module = _module(ordered(axis), target, tensor("float32", *shape))
    want = Sort.evaluate(x, axis=axis, num_keys=1, is_stable=True)[0]
    given = x if axis == len(shape) - 1 else x.reshape(-1, 9, shape[-1])
    workgroups = counts_of(module, "kernel_short_rows", [])
    values = run_kernel(module, "kernel_short_rows", [given], workgroups)[-1]
    assert same(values.reshape(shape), want)


def test_the_interpreter_sees_faults() -> None:
    """A kernel that is told of a larger array than it gets accesses what is not there."""
    module = _module(ordered(1), "cpu:x86-64-v3", tensor("float32", 40, 9))
    with pytest.raises(KernelFault, match="place"):
        run_kernel(module, "kernel_short_rows", [numbers("float32", 30, 9)], 1)


def test_numpy_functions_and_their_derivatives() -> None:
    x = np.random.default_rng(1).standard_normal((40, 9)).astype(np.float32)
    np.testing.assert_array_equal(adze.jit(lambda x: xp.median(x, axis=1))(x), np.median(x, axis=1))
    np.testing.assert_array_equal(adze.jit(lambda x: xp.sort(x, axis=0))(x), np.sort(x, axis=0))
    weights = np.arange(9, dtype=np.float32)
    got = adze.jit(adze.grad(lambda x: xp.sum(xp.sort(x, axis=1) * weights)))(x)
    np.testing.assert_array_equal(got, np.argsort(np.argsort(x, 1), 1).astype(np.float32))
    rows = adze.jit(adze.vmap(lambda row: lax.top_k(row, 4)[1]))(x)
    np.testing.assert_array_equal(rows, np.argsort(-x, 1, kind="stable")[:, :4])


def _module(rule: Any, target: str, *types: TensorType) -> Any:
    module, _ = build({"main": (rule, types)})
    lower(module, parse_target(target))
    return module
