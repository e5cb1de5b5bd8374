"""`Array` and what traced and concrete arrays share: protocols, conversions, functional updates."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp

X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture(params=["host", "device"])
def array(request: pytest.FixtureRequest) -> adze.Array:
    """X as an adze array, in host memory or on a device."""
    return anp.asarray(X) if request.param == "host" else adze.device_put(X)


def test_an_array_describes_itself(array: adze.Array) -> None:
    assert array.shape == (2, 3) and array.ndim == 2 and array.size == 6 and array.dtype == np.float32
    assert array.itemsize == 4 and array.nbytes == 24 and len(array) == 2
    place = "" if array.device == "host" else ", device='local-sync'"
    assert repr(array) == f"Array([[0., 1., 2.],\n       [3., 4., 5.]], dtype=f32{place})"


def test_numpy_reads_an_array_without_a_copy(array: adze.Array) -> None:
    view = np.asarray(array)
    assert np.array_equal(view, X) and not view.flags.writeable
    assert np.shares_memory(view, np.asarray(array))
    assert np.array(array).flags.writeable and np.asarray(array, dtype=np.int8).dtype == np.int8
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        np.asarray(array, dtype=np.int8, copy=False)


def test_dlpack_gives_the_elements(array: adze.Array) -> None:
    assert np.array_equal(np.from_dlpack(array), X)
    assert array.__dlpack_device__() == (1, 0)


def test_python_scalars_come_out(array: adze.Array) -> None:
    assert array.tolist() == X.tolist() and array.item(4) == 4.0
    one = anp.asarray(2.5)
    assert (float(one), int(one), complex(one), bool(one), f"{one:.2f}") == (2.5, 2, 2.5, True, "2.50")
    assert [10, 20, 30][anp.asarray(1)] == 20
    with pytest.raises(ValueError, match="ambiguous"):
        bool(array)


def test_arrays_can_be_copied_and_pickled(array: adze.Array) -> None:
    for back in (copy.copy(array), copy.deepcopy(array), pickle.loads(pickle.dumps(array))):
        assert np.array_equal(back, X)
    assert array.copy() is not array and array.copy().tolist() == array.tolist()
    assert array.block_until_ready() is array


def test_arrays_iterate_and_contain(array: adze.Array) -> None:
    assert [r.tolist() for r in array] == X.tolist()
    assert [r.tolist() for r in reversed(array)] == X.tolist()[::-1]
    assert 5.0 in array and 7.0 not in array
    first, second = array
    assert np.array_equal(sum(array), X.sum(axis=0)) and max(second) == 5.0 and len([*first]) == 3
    assert np.array_equal(np.asarray([first, second]), X) and np.array_equal(np.stack([first, second]), X)
    assert [float(v) for v in sorted(first, reverse=True)] == [2.0, 1.0, 0.0]


def test_a_weak_type_survives_copies_and_pickling() -> None:
    weak = anp.asarray(2.0) * 1
    weak.weak_type = True
    for back in (copy.copy(weak), copy.deepcopy(weak), pickle.loads(pickle.dumps(weak))):
        assert back.weak_type and back == 2.0


def test_methods_of_numpys_arrays(array: adze.Array) -> None:
    assert array.tobytes() == X.tobytes() and array.devices() == {array.device}
    assert array.tobytes("F") == X.tobytes("F")
    assert np.array_equal(array.partition(1, axis=0), np.partition(X, 1, axis=0))
    assert np.array_equal(array[0].argpartition(1)[:2], [0, 1])
    assert np.array_equal(array.compress([False, True], axis=0), X.compress([False, True], axis=0))
    index = anp.asarray([1, 0, 1])
    assert np.array_equal(index.choose([array[0], array[1]]), np.array([1, 0, 1]).choose([X[0], X[1]]))


def test_what_an_array_cannot_do_says_so(array: adze.Array) -> None:
    with pytest.raises(TypeError, match=r"del x\[...\] is not possible[\s\S]*adze.numpy.delete"):
        del array[0]
    with pytest.raises(AttributeError):
        array.other = 1  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="pickling of a traced array"):
        adze.jit(lambda x: pickle.dumps(x))(X)
    with pytest.raises(TypeError, match=r"tobytes\(\) of a traced array"):
        adze.jit(lambda x: x.tobytes())(X)
    assert np.array_equal(adze.jit(lambda x: copy.deepcopy(x) + copy.copy(x))(X), 2 * X)


def test_arrays_are_not_hashable_since_equality_is_elementwise(array: adze.Array) -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(array)
    assert np.array_equal(array == X, np.ones((2, 3), bool))


def test_writes_to_the_source_of_a_device_array_are_not_seen() -> None:
    source = X.copy()
    placed = adze.device_put(source)
    source[:] = 9
    assert np.array_equal(placed, X)


def both(function: Any, x: Any) -> list[Any]:
    """What a function returns for a concrete and for a traced array."""
    return [function(anp.asarray(x)), adze.jit(function)(x)]


def updated(change: Any) -> Any:
    """X after an in-place change by NumPy."""
    x = X.copy()
    change(x)
    return x


def duplicate_add(x: Any) -> None:
    np.add.at(x, [0, 0], 1)


def assign(index: Any, value: Any) -> Any:
    return updated(lambda x: x.__setitem__(index, value))


UPDATES = {
    "set": (lambda x: x.at[0].set(7), assign(0, 7)),
    "set slice": (lambda x: x.at[:, 1:].set([[8, 9]]), assign((slice(None), slice(1, None)), [[8, 9]])),
    "set mask": (lambda x: x.at[x > 2].set(0), assign(X > 2, 0)),
    "add twice": (lambda x: x.at[anp.asarray([0, 0])].add(1), updated(duplicate_add)),
    "subtract": (lambda x: x.at[1].subtract(2), assign(1, X[1] - 2)),
    "mul": (lambda x: x.at[1, 1].mul(3), assign((1, 1), 12)),
    "multiply": (lambda x: x.at[1, 1].multiply(3), assign((1, 1), 12)),
    "divide": (lambda x: x.at[1].divide(2), assign(1, X[1] / 2)),
    "power": (lambda x: x.at[1].power(2), assign(1, X[1] ** 2)),
    "min": (lambda x: x.at[:, 0].min(1), assign((slice(None), 0), [0, 1])),
    "max": (lambda x: x.at[:, 0].max(1), assign((slice(None), 0), [1, 3])),
    "apply": (lambda x: x.at[0].apply(anp.negative), assign(0, -X[0])),
    "get": (lambda x: x.at[0].get(), X[0]),
}


def test_functional_updates_are_numpys_in_place_ones() -> None:
    compiled = adze.jit(lambda x: {name: function(x) for name, (function, _) in UPDATES.items()})(X)
    for name, (function, expected) in UPDATES.items():
        for result in (function(anp.asarray(X)), compiled[name]):
            assert result.dtype == np.float32, name
            np.testing.assert_array_equal(result, expected, name)


def test_an_update_leaves_the_argument_alone() -> None:
    program = adze.jit(lambda x: (x.at[0].set(7), x))
    changed, same = program(X)
    assert np.array_equal(same, X) and changed.numpy()[0, 0] == 7


OPERATORS = {
    "arithmetic": lambda x: (x + 1, 1 - x, x * x, x / 2, 2 / (x + 1), x // 2, 7 % (x + 1), x**2, 2**x),
    "comparison": lambda x: (x < 2, x <= 2, x > 2, x >= 2, x == 2, x != 2),
    "unary": lambda x: (-x, +x, abs(x - 3), divmod(x, 2)[0], divmod(7, x + 1)[1]),
    "matrix": lambda x: (x @ x.T, x.T @ x, x.mT, x.T.shape[0] * x),
    "methods": lambda x: (x.sum(), x.mean(axis=0), x.max(1), x.argmax(), x.reshape(3, 2), x.reshape((6,)),
                          x.transpose(1, 0), x.ravel(), x.cumsum(axis=0), x.clip(1, 3), x.astype("int8"),
                          x.std(), x.prod(axis=1), x.swapaxes(0, 1), x.repeat(2, axis=0), x.squeeze()),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_and_methods_are_numpys(name: str) -> None:
    function = OPERATORS[name]
    expected = function(X)
    for results in both(function, X):
        for value, want in zip(results, expected, strict=True):
            assert value.dtype == np.asarray(want).dtype
            np.testing.assert_allclose(value, want, rtol=2e-6)


def test_bitwise_operators_are_numpys() -> None:
    i = np.array([1, 6, -3], np.int16)

    def bits(i: Any) -> Any:
        return i & 3, 3 | i, i ^ 5, ~i, i << 2, i >> 1, 1 << (i & 3)

    for results in both(bits, i):
        for value, want in zip(results, bits(i), strict=True):
            assert value.dtype == want.dtype and np.array_equal(value, want)


def test_text_and_none_are_no_operands() -> None:
    for other in ("a", None, {}, set()):
        with pytest.raises(TypeError, match="unsupported operand"):
            anp.asarray(X) + other


def test_numpy_functions_dispatch_on_arrays() -> None:
    assert isinstance(np.exp(anp.asarray(X)), adze.Array)
    assert isinstance(np.concatenate([anp.asarray(X), X]), adze.Array)
    assert anp.asarray(X).__array_namespace__().__name__.startswith("adze")


def test_objects_that_want_to_answer_themselves_do() -> None:
    x = anp.asarray(np.float64(0.1)) * 3
    assert x == pytest.approx(0.3) and pytest.approx(0.3) == x
    assert x != pytest.approx(0.4)


def test_every_array_is_one_by_its_class() -> None:
    seen = []

    def f(x: adze.Array) -> adze.Array:
        seen.append(isinstance(x, adze.Array))
        return x * 2

    adze.jit(f)(np.ones(2))
    adze.grad(f)(1.0)
    adze.vmap(f)(np.ones(2))
    assert seen == [True] * 3
    assert isinstance(anp.ones(2), adze.Array) and isinstance(adze.Array(np.ones(2)), adze.Array)
    assert issubclass(type(anp.ones(2)), adze.Array)
    assert not isinstance(np.ones(2), adze.Array) and not isinstance(1.0, adze.Array)
