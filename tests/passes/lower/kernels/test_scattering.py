"""The kernel that scatters: results as those of the evaluator, and every access within bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adze.dialects.dialect import BY_NAME
from adze.dialects.types import BFLOAT16, TensorType
from adze.passes.pipeline import lower
from adze.runtime.targets import parse_target

from ....selection import part, some
from ..programs import Compiled, build
from .interpreter import run_kernel

RNG = np.random.default_rng(5)
FAR = np.array([-(2**31), -1, 0, 1, 4, 5, 6, 2**31 - 1])
COUNT, ROWS = 40, 6


def dtype(name: str) -> np.dtype:
    return BFLOAT16 if name == "bfloat16" else np.dtype(name)


def attributes(kind: str, mode: str, window: tuple[int, ...]) -> dict[str, Any]:
    return {
        "kind": kind,
        "update_window_dims": window,
        "inserted_window_dims": (0,),
        "scatter_dims_to_operand_dims": (0,),
        "operand_batching_dims": (),
        "scatter_indices_batching_dims": (),
        "mode": mode,
        "unique_indices": False,
        "indices_are_sorted": False,
    }


def types(name: str, index: str, row: tuple[int, ...], *, is_static: bool = True) -> list[TensorType]:
    rows, count = (ROWS, COUNT) if is_static else (None, None)
    return [
        TensorType((rows, *row), dtype(name)),
        TensorType((count, 1), np.dtype(index)),
        TensorType((count, *row), dtype(name)),
    ]


Case = tuple[str, str, str, str, tuple[int, ...], bool]
EVERY_CASE: list[Case] = [
    *[("add", "drop", name, "int32", (3,), True) for name in
      ("int8", "uint16", "int64", "float16", "bfloat16", "float32", "float64")],
    *[(kind, mode, "float32", "int32", (11,), True)
      for kind in ("set", "add", "mul", "min", "max") for mode in ("drop", "clip")],
    *[(kind, "drop", name, "int32", (5,), True) for kind in ("min", "max") for name in ("int32", "uint32")],
    *[("add", mode, "float32", index, (), True)
      for index in ("int8", "uint8", "uint32", "int64", "uint64") for mode in ("drop", "clip")],
    ("add", "drop", "float32", "int32", (1100,), True),
    ("add", "drop", "float64", "int32", (3, 17), True),
    ("set", "clip", "float32", "int32", (9,), False),
    ("add", "drop", "float32", "int64", (), False),
]  # fmt: skip
CASES = part(EVERY_CASE, some(EVERY_CASE, lambda case: case, thorough=False))


def rule(kind: str, mode: str, row: tuple[int, ...]) -> Any:
    return lambda b, *x: b.scatter(*x, **attributes(kind, mode, tuple(range(1, 1 + len(row)))))


WINDOWS = {"update_window_dims": (1, 2), "inserted_window_dims": (), "scatter_dims_to_operand_dims": (1, 0)}


def windows(kind: str, mode: str) -> Any:
    """A scatter of windows of 2x3 to places along both axes."""
    return lambda b, *x: b.scatter(*x, **{**attributes(kind, mode, ()), **WINDOWS})


def repeated(row: tuple[int, ...]) -> Any:
    """A scatter of one number to all places."""

    def body(b: Any, x: Any, indices: Any) -> Any:
        return b.scatter(
            x, indices, b.full(3, (COUNT, *row), b.tensor_type(x).dtype), **attributes("add", "drop", axes)
        )

    axes = tuple(range(1, 1 + len(row)))
    return body


REPEATED = {"counts": ("int64", ()), "rows": ("float32", (11,))}

run = Compiled(
    {
        **{
            name: (repeated(row), types(element, "int32", row)[:2])
            for name, (element, row) in REPEATED.items()
        },
        **{
            f"windows_{mode}": (
                windows("add", mode),
                [TensorType(shape, np.dtype("int32")) for shape in ((5, 6), (7, 2), (7, 2, 3))],
            )
            for mode in ("drop", "clip")
        },
        **{
            f"case_{number}": (rule(kind, mode, row), types(name, index, row, is_static=is_static))
            for number, (kind, mode, name, index, row, is_static) in enumerate(CASES)
        },
    }
)


def numbers(name: str, *shape: int) -> np.ndarray:
    """Numbers whose sums and products are exact, and special ones of floats."""
    kind = dtype(name)
    if kind.kind in "iu":
        return RNG.integers(0, 5, shape).astype(kind)
    special = np.array([np.nan, np.inf, -0.0, 0.0, 1.0, -2.0, 0.5, 3.0])
    return RNG.choice(special, shape).astype(kind)


def operands(name: str, index: str, row: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    info = np.iinfo(index)
    far = FAR[(info.min <= FAR) & (info.max >= FAR)].astype(index)
    far = np.append(far, np.array([info.min, info.max], index))
    return numbers(name, ROWS, *row), RNG.choice(far, (COUNT, 1)), numbers(name, COUNT, *row)


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda n: "-".join(map(str, CASES[n])))
def test_updates_meet_rows(number: int) -> None:
    kind, mode, name, index, row, _ = CASES[number]
    x, indices, updates = operands(name, index, row)
    before = x.copy()
    own = attributes(kind, mode, tuple(range(1, 1 + len(row))))
    want = BY_NAME["scatter"].evaluate(x, indices, updates, **own)
    (got,) = run(f"case_{number}", x, indices, updates)
    assert np.array_equal(got.astype(float), want.astype(float), equal_nan=name[0] in "bf")
    if kind in ("add", "set"):  # NumPy's extrema of zeros have either sign
        assert np.array_equal(np.signbit(got.astype(float)), np.signbit(want.astype(float)))
    assert x.tobytes() == before.tobytes()


@pytest.mark.parametrize("mode", ["drop", "clip"])
def test_windows_go_to_linear_positions(mode: str) -> None:
    x, updates = numbers("int32", 5, 6), numbers("int32", 7, 2, 3)
    indices = np.array([[0, 0], [3, 3], [4, 3], [3, 4], [-1, 0], [9, 9], [2, -7]], np.int32)
    want = BY_NAME["scatter"].evaluate(x, indices, updates, **{**attributes("add", mode, ()), **WINDOWS})
    assert np.array_equal(run(f"windows_{mode}", x, indices, updates)[0], want)


@pytest.mark.parametrize("name", REPEATED)
def test_one_number_is_added_everywhere(name: str) -> None:
    element, row = REPEATED[name]
    x, indices, _ = operands(element, "int32", row)
    updates = np.full((COUNT, *row), 3, x.dtype)
    want = BY_NAME["scatter"].evaluate(
        x, indices, updates, **attributes("add", "drop", tuple(range(1, 1 + len(row))))
    )
    assert np.array_equal(run(name, x, indices)[0], want, equal_nan=element.startswith("f"))
    module, _ = build({"main": (repeated(row), types(element, "int32", row)[:2])})
    lower(module, parse_target("cpu"))
    short = {"int64": "i64", "float32": "f32"}[element]
    assert f"(tensor<1x1x{short}>, tensor<{COUNT}xi32>" in str(module)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("row", "workgroups"), [((), 1), ((7,), 1), ((37,), 1), ((1100,), 3)])
@pytest.mark.parametrize("mode", ["drop", "clip"])
def test_all_accesses_are_within_bounds(row: tuple[int, ...], workgroups: int, mode: str) -> None:
    x, indices, updates = operands("float32", "int32", row)
    module, _ = build({"main": (rule("add", mode, row), types("float32", "int32", row))})
    lower(module, parse_target("cpu"))
    assert f"stream.return %c{workgroups}" in str(module)
    flat = [updates.reshape(COUNT, -1), indices.reshape(COUNT), x.reshape(ROWS, -1)]
    want = BY_NAME["scatter"].evaluate(
        x, indices, updates, **attributes("add", mode, tuple(range(1, 1 + len(row))))
    )
    got = run_kernel(module, "kernel_scatter", flat, workgroups, tied=[2])
    assert np.array_equal(got[0].reshape(want.shape), want, equal_nan=True)
