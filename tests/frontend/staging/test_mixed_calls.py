"""Known calls with leaves that are not on a device: numbers, NumPy's arrays, static and donated ones."""

from __future__ import annotations

import functools
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.frontend.errors import DeletedArrayError, OutOfRangeError
from adze.frontend.staging.ready_functions import ReadyFunction
from adze.runtime.execute.program import Function

X = np.arange(4, dtype=np.float32)


@pytest.fixture
def only_known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Calls that look at an argument as a whole fail."""

    def refuse(*_: Any) -> None:
        raise AssertionError("the long way was taken")

    monkeypatch.setattr(ReadyFunction, "call", refuse)
    monkeypatch.setattr(Function, "call", refuse)
    yield


NUMBERS = [2.5, -1e30, 0.0, 3, -(2**31), 0, True, False, 1 + 2j, np.float16(1.5), np.int8(-3), np.bool_(True)]
NUMBERS += [np.complex64(1j), np.uint64(2**63), np.float64(0.1), ml_dtypes.bfloat16(1.5)]


@pytest.mark.parametrize("number", NUMBERS, ids=lambda n: f"{type(n).__name__}:{n}")
def test_a_number_is_the_same_in_the_first_call_and_in_later_ones(number: Any) -> None:
    f = adze.jit(lambda x: (x, anp.ones(2, np.float32) + x))
    first = f(number)
    for _ in range(3):
        again = f(number)
        for one, other in zip(first, again, strict=True):
            assert (one.dtype, one.shape, one.weak_type) == (other.dtype, other.shape, other.weak_type)
            np.testing.assert_array_equal(np.asarray(one), np.asarray(other))


def test_numbers_come_by_the_short_way(request: pytest.FixtureRequest) -> None:
    f, g = adze.jit(lambda x, s: x * s), adze.jit(lambda tree, *, rate: tree["w"] - rate * tree["g"][0])
    x = f(X, 1.0)
    cases: list[Any] = [2.0, 3, True, np.float32(4), np.int64(5), anp.asarray(X), np.full(4, 2.0)]
    for number in [*cases, *cases]:  # an array in host memory has a view after its first call
        f(x, number), f(X, number)
        g({"w": x, "g": (X,)}, rate=number)
    request.getfixturevalue("only_known")
    for number in [*cases, 7.5, -1, False, np.float32(0), np.full(4, -2.0)]:
        np.testing.assert_array_equal(f(x, number), X * np.asarray(number))
        np.testing.assert_array_equal(f(X, number), X * np.asarray(number))
        np.testing.assert_array_equal(g({"w": x, "g": (X,)}, rate=number), X - np.asarray(number) * X)


def test_one_number_of_another_type_is_another_program() -> None:
    f = adze.jit(lambda x: x)
    for _ in range(3):
        assert [f(n).dtype.kind for n in (1, 1.0, True, 1 + 0j, np.int8(1), np.float64(1))] == list("ifbcif")
        assert f(np.int8(1)).dtype == np.int8 and f(np.float64(1)).dtype == np.float64
        assert f(1).weak_type == f(1.0).weak_type and not f(np.int8(1)).weak_type


def test_special_numbers_of_later_calls() -> None:
    f = adze.jit(lambda x: x)
    f(1.0), f(1.0)
    for number in (0.0, -0.0, math.inf, -math.inf, math.nan, 1e-30, 3.4e38):
        result = float(f(number))
        assert result == np.float32(number) or (math.isnan(number) and math.isnan(result))
        assert math.copysign(1, result) == math.copysign(1, number)


def test_numbers_out_of_range_are_errors_in_later_calls_too() -> None:
    f = adze.jit(lambda x: x + 1)
    for _ in range(2):
        assert int(f(2)) == 3
        assert float(f(2.0)) == 3
        with pytest.raises(OutOfRangeError, match="64"):
            f(2**64)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "bfloat16", "float64", "complex128"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (70, 1000)])
def test_numpy_arrays_of_all_kinds(dtype: str, shape: tuple[int, ...]) -> None:
    wanted = np.dtype(getattr(ml_dtypes, dtype, None) or dtype)
    elements = (np.arange(math.prod(shape)) % 5).astype(wanted).reshape(shape)
    f = adze.jit(lambda tree: [tree[0], tree[1]])
    fortran, wide = elements.copy(order="F"), np.repeat(elements[None], 2, axis=0)[1]
    for _ in range(3):
        for array in (elements, fortran, wide, elements[..., ::-1] if shape else elements):
            for result in f((array, 1.0))[:1]:
                assert result.dtype == wanted and result.shape == shape
                np.testing.assert_array_equal(np.asarray(result), array)


def test_a_result_is_no_view_of_an_array_of_the_caller() -> None:
    f = adze.jit(lambda x, s: (x, s))
    for size in (4, 1 << 15):
        source = np.zeros(size, np.float32)
        for _ in range(3):
            result, _ = f(source, 1.0)
            source[0] += 1
            assert float(result[0]) == source[0] - 1


def test_a_tree_in_the_place_of_a_leaf_is_no_leaf() -> None:
    f = adze.jit(lambda x, y: x if y is None else x + (y["a"] if isinstance(y, dict) else y))
    for _ in range(3):
        for y, expected in ((1.0, X + 1), ({"a": X}, 2 * X), (None, X), (X, 2 * X)):
            np.testing.assert_array_equal(f(X, y), expected)


def test_as_many_leaves_as_arguments_are_not_those_of_other_trees() -> None:
    """`f([x, None], y)` has two leaves: once `f(x, y)` returned what that does."""
    f = adze.jit(lambda x, y: (y, x))
    compiled = adze.trace(f, [X, None], X).lower().compile()
    for _ in range(3):
        for x in ([X, None], X, ((), X), {"a": X}, [X, X], [None]):
            for y in (X + 1, 2.5, [X, None]):
                assert repr(adze.tree.structure(f(x, y))) == repr(adze.tree.structure((y, x)))
        compiled([X, None], X)
        with pytest.raises(adze.AdzeError, match="compiled for arguments"):
            compiled(X, X)


def test_static_arguments_tell_calls_apart(request: pytest.FixtureRequest) -> None:
    @functools.partial(adze.jit, static_argnums=(1, -1), static_argnames="mode")
    def f(x: Any, power: Any, scale: Any, offset: Any = 0, *, mode: Any = "plain") -> Any:
        result = x**power * scale + offset
        return result if mode == "plain" else -result

    calls: list[Any] = [((X, 2, 3.0, 1), {}), ((X, 3, 3.0, 1), {}), ((X, 2, 3.0, 5), {"mode": "minus"})]
    for args, kwargs in calls:
        f(*args, **kwargs)
    request.getfixturevalue("only_known")
    for _ in range(2):
        for (x, power, scale, offset), kwargs in calls:
            for factor in (1.0, -2.0):
                expected = (x**power * scale * factor + offset) * (-1 if kwargs else 1)
                np.testing.assert_array_equal(f(x, power, scale * factor, offset, **kwargs), expected)


def test_static_values_that_are_equal_and_of_other_types_are_others() -> None:
    f = adze.jit(lambda x, n: x + n, static_argnums=1)
    for _ in range(3):
        assert f(np.int32(1), 1).dtype == np.int32
        assert f(np.int32(1), 1.0).dtype.kind == "f"
        assert f(np.int32(1), True).dtype == np.int32
    assert f.cache_size() == 3
    with pytest.raises(adze.AdzeError, match=r"static argument 1 of .* is list"):
        f(X, [1])


class Model:
    """An object whose methods are compiled, and which is static."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    @functools.partial(adze.jit, static_argnums=0)
    def __call__(self, x: Any, shift: Any) -> Any:
        return x * self.factor + shift


def test_methods_of_static_objects() -> None:
    two, three = Model(2.0), Model(3.0)
    for _ in range(3):
        np.testing.assert_array_equal(two(X, 1.0), 2 * X + 1)
        np.testing.assert_array_equal(three(X, 1.0), 3 * X + 1)


def test_donated_arrays_among_numbers_and_static_arguments() -> None:
    @functools.partial(adze.jit, static_argnums=3, donate_argnums=(0,), donate_argnames="state")
    def step(tree: Any, x: Any, rate: Any, times: Any, *, state: Any) -> Any:
        return {name: w - rate * times * x for name, w in tree.items()}, state + 1

    tree, state = {"a": anp.asarray(X), "b": anp.asarray(X + 1)}, anp.asarray(X)
    for n in range(4):
        before, old = tree, state
        tree, state = step(tree, X, 0.5, 2, state=state)
        assert all(array.is_deleted() for array in (*before.values(), old))
        np.testing.assert_array_equal(tree["b"], X + 1 - (n + 1) * X)
        with pytest.raises(DeletedArrayError, match="donated to step"):
            step(before, X, 0.5, 2, state=state)
    with pytest.raises(DeletedArrayError, match="twice"):
        step({"a": state, "b": state}, X, 0.5, 2, state=anp.asarray(X))


def test_negative_positions_donate_once() -> None:
    f = adze.jit(lambda *xs: [x + 1 for x in xs], donate_argnums=(0, -2))
    a, b = anp.asarray(X), anp.asarray(X)
    f(a, b)
    assert a.is_deleted() and not b.is_deleted()
    a = anp.asarray(X)
    f(a, b, anp.asarray(X))
    assert a.is_deleted() and b.is_deleted()


def test_nan_are_looked_for_in_calls_that_are_known() -> None:
    f = adze.jit(lambda x, s, n: anp.log(x * s) ** n, static_argnums=2)
    f(X + 1, 1.0, 2), f(X + 1, 1.0, 2)
    with adze.debug.nans(), pytest.raises(adze.AdzeError, match="NaN"):
        f(X + 1, -1.0, 2)
    assert np.isnan(np.asarray(f(X + 1, -1.0, 2))).all()


def test_threads_call_with_arrays_and_numbers() -> None:
    f = adze.jit(lambda tree, s: tree["x"] * s)

    def work(n: int) -> bool:
        x = anp.asarray(X + n) if n % 2 else X + n
        return bool(np.array_equal(np.asarray(f({"x": x}, float(n))), (X + n) * n))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(200)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_forked_child_calls_with_numbers() -> None:
    script = """
import os
import numpy as np, adze
here = adze.jit(lambda x, s: x + s, device="local-sync")
there = adze.jit(lambda t, n: {"y": t["x"] * n}, device="local-task", static_argnums=1)
x = adze.numpy.asarray(np.arange(3, dtype=np.float32))
work = lambda: [float(np.asarray(there({"x": here(x, 1.0)}, 2)["y"])[2]) for _ in range(4)]
work()
child = os.fork()
if child == 0:
    print(work(), flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(work())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert done.stdout.splitlines() == ["[6.0, 6.0, 6.0, 6.0]"] * 2, done.stderr


def saved(path: Path, function: Any, *args: Any, **kwargs: Any) -> Any:
    """A program that was written to a file and loaded."""
    adze.trace(function, *args, **kwargs).lower().compile().save(path / "f.vmfb")
    return adze.load(path / "f.vmfb")


def test_calls_of_loaded_programs_are_known(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    loaded = saved(tmp_path, lambda x, s: x * s, X, 1.0)
    on_device = loaded(X, 1.0)
    for x in (X, on_device, anp.asarray(X)):
        for s in (2.0, np.float64(2), anp.asarray(np.float64(2.0))):
            loaded(x, s)
    request.getfixturevalue("only_known")
    for x in (X, on_device, anp.asarray(X + 1)):
        for s in (3.0, np.float64(0.5), anp.asarray(np.float64(4.0))):
            np.testing.assert_array_equal(loaded(x, s), np.asarray(x) * np.float32(s))


def test_trees_of_loaded_programs_are_the_same_in_each_call(tmp_path: Path) -> None:
    def f(tree: Any, *, rate: Any) -> Any:
        return {"w": [tree["a"] - rate, (tree["b"][0], None)], "empty": {}}

    loaded = saved(tmp_path, f, {"a": X, "b": (X,)}, rate=1.0)
    texts = set()
    for n in range(4):
        x = X + n
        result = loaded({"a": x, "b": (x,)}, rate=0.5)
        texts.add(repr(adze.tree.structure(result)))
        np.testing.assert_array_equal(result["w"][0], x - 0.5)
        np.testing.assert_array_equal(result["w"][1][0], x)
        with pytest.raises(adze.AdzeError, match="takes arguments"):
            loaded({"a": x}, rate=0.5)
        with pytest.raises(adze.AdzeError, match="rate"):
            loaded({"a": x, "b": (x,)})
    assert len(texts) == 1


def test_loaded_programs_take_other_arguments_the_long_way(tmp_path: Path) -> None:
    loaded = saved(tmp_path, lambda x, s: x * s, X, 1.0)
    for _ in range(3):
        np.testing.assert_array_equal(loaded(X, 2.0), 2 * X)
        np.testing.assert_array_equal(loaded(list(range(4)), 2), 2 * X)
        np.testing.assert_array_equal(loaded(s=2, x=X), 2 * X)
        np.testing.assert_array_equal(loaded(X[::-1], 2.0), 2 * X[::-1])
        np.testing.assert_array_equal(loaded(X.astype(">f4"), 2.0), 2 * X)
        with pytest.raises(adze.AdzeError, match="argument 'x'"):
            loaded(X[:3], 2.0)
        with pytest.raises(adze.AdzeError, match="f64"):
            loaded(X.astype(np.float64), 2.0)


def test_named_sizes_of_loaded_programs(tmp_path: Path) -> None:
    spec = adze.ShapeDtype(("n", 2), np.float32)
    loaded = saved(tmp_path, lambda x, y: (x + y).sum(0), spec, spec)
    for _ in range(3):
        for n in (1, 5, 0, 300):
            x = np.full((n, 2), 1.5, np.float32)
            for y in (x, anp.asarray(x), adze.device_put(x)):
                np.testing.assert_array_equal(loaded(x, y), np.full(2, 3.0 * n, np.float32))
        with pytest.raises(adze.AdzeError, match="n"):
            loaded(np.zeros((3, 2), np.float32), np.zeros((4, 2), np.float32))


def test_loaded_programs_that_keep_a_state(tmp_path: Path) -> None:
    program = adze.Program(anp.zeros((), np.float32))
    program.updates(np.float32(0), name="add")(lambda state, x: (state + x, state))
    program.save(tmp_path / "counter.vmfb")
    counter = adze.load(tmp_path / "counter.vmfb")
    assert [float(counter(np.float32(n))) for n in range(5)] == [0, 0, 1, 3, 6]
    assert [float(counter(np.float32(n))) for n in range(3)] == [10, 10, 11]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
@pytest.mark.parametrize("device", ["local-sync", "local-task"])
def test_a_forked_child_calls_a_loaded_program(tmp_path: Path, device: str) -> None:
    adze.trace(lambda x, s: x * s, X, 1.0).lower().compile().save(tmp_path / "f.vmfb")
    script = f"""
import os
import numpy as np, adze
f = adze.load({str(tmp_path / "f.vmfb")!r}, {device!r})
x = np.arange(4, dtype=np.float32)
work = lambda: [float(np.asarray(f(f(x, 2.0), 3.0))[1]) for _ in range(3)]
work()
child = os.fork()
if child == 0:
    print(work(), flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(work())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert done.stdout.splitlines() == ["[6.0, 6.0, 6.0]"] * 2, done.stderr
