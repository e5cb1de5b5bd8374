"""The short ways of a call: arrays on a device by their kind, trees by code; all checks and errors stay."""

from __future__ import annotations

import collections
import dataclasses
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.dialects.types import as_dtype
from adze.frontend import tree
from adze.frontend.errors import DeletedArrayError
from adze.frontend.staging import call_code
from adze.frontend.staging.entries import Entry
from adze.frontend.staging.ready_functions import MOST_KINDS
from adze.frontend.staging.tree_code import MOST_LEAVES, flatten_code, unflatten_code
from adze.frontend.tracing.array import strong
from adze.runtime.errors import CallError, FailedCallError
from adze.runtime.execute.program import Function

X = np.arange(4, dtype=np.float32)


class Pair(NamedTuple):
    left: Any
    right: Any


@adze.tree_util.register_dataclass
@dataclasses.dataclass
class Point:
    x: Any


@adze.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Layer:
    weights: Any
    name: str = dataclasses.field(default="layer", metadata={"static": True})
    bias: Any = None


@adze.tree_util.register_pytree_node_class
class Scaled:
    """A class with functions of its own, whose children have a length that differs."""

    def __init__(self, children: Any, scale: float = 1.0) -> None:
        self.children, self.scale = tuple(children), scale

    def tree_flatten(self) -> Any:
        return self.children, self.scale

    @classmethod
    def tree_unflatten(cls, scale: float, children: Any) -> Scaled:
        return cls(children, scale)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scaled) and (self.children, self.scale) == (other.children, other.scale)

    def __repr__(self) -> str:
        return f"Scaled({self.children}, {self.scale})"


TREES: list[Any] = [
    (1, 2),
    (),
    [],
    {},
    None,
    (None, 1),
    {"b": 1, "a": [2, (3,)], "c": None, "d": {}},
    {3: 1, 1: {"z": 2, "y": 3}},
    Pair(1, [2, Pair(3, {"k": 4})]),
    [[[1]], {"a": (1, 2)}],
    Point(1),
    Layer(1),
    Layer((1, 2), "other", {"b": 3}),
    [Scaled([1, Point(2)]), Scaled([1, Point(2)], 2.0), Scaled([])],
]


@dataclasses.dataclass(frozen=True)
class Leaf:
    number: int

    @property
    def call_kind(self) -> str:
        return f"kind {self.number}"


def with_leaves(value: Any) -> Any:
    return tree.map(Leaf, value)


@pytest.mark.parametrize("value", TREES, ids=str)
def test_code_takes_apart_and_puts_together_as_optree_does(value: Any) -> None:
    value = with_leaves(value)
    leaves, structure = tree.flatten(value)
    unflatten = unflatten_code(structure)
    for args, kwargs in (((value,), {}), ((), {"b": value}), ((Leaf(7), value), {"b": value, "a": Leaf(8)})):
        expected, of_call = tree.flatten((args, kwargs))
        flatten = flatten_code(of_call)
        assert flatten is not None
        assert flatten(args, kwargs) == (tuple(expected), tuple(leaf.call_kind for leaf in expected))
        assert flatten(args, {**kwargs, "c": Leaf(9)}) is None
        assert flatten((*args, Leaf(9)), kwargs) is None
    assert unflatten is not None
    assert unflatten(leaves) == value
    assert repr(unflatten(leaves)) == repr(tree.unflatten(structure, leaves))  # dicts in the same order


def test_a_tree_of_another_structure_has_no_leaves_by_code() -> None:
    others = [[1, 2], (1, 2, 3), {"b": 1}, collections.OrderedDict(b=1), (1, [2])]
    for one in TREES:
        structure = tree.structure(((one,), {}))
        flatten = flatten_code(structure)
        assert flatten is not None
        for value in (*TREES, *others):
            marked = with_leaves(value)
            is_same = tree.structure(((value,), {})) == structure
            found = flatten((marked,), {})
            assert is_same == (found is not None and found[1] is not None)
            if is_same:
                assert list(found[0]) == tree.leaves(marked)
                # Leaves without a kind, as arrays of NumPy have none, are leaves all the same.
                assert flatten((value,), {}) == (tuple(tree.leaves(value)), () if not found[0] else None)
            elif found is not None:  # a node where there was a leaf
                assert not all(isinstance(leaf, Leaf) for leaf in found[0])


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "value",
    [collections.OrderedDict(a=1), collections.deque([1]), [1] * (MOST_LEAVES + 1)],
    ids=["OrderedDict", "deque", "large"],
)
def test_nodes_without_code_are_left_to_optree(value: Any) -> None:
    structure = tree.structure(value)
    assert flatten_code(tree.structure(((value,), {}))) is None
    assert unflatten_code(structure) is None
    doubled = adze.jit(lambda t: tree.map(lambda x: x * 2, t))
    held = tree.map(lambda x: np.float32(x), value)
    for _ in range(3):
        held = doubled(held)
    assert [float(x) for x in tree.leaves(held)] == [8.0] * len(tree.leaves(value))


@pytest.fixture
def only_views(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Calls that check or convert an argument in the runtime fail."""

    def refuse(*_: Any) -> None:
        raise AssertionError("the long way was taken")

    monkeypatch.setattr(Function, "call", refuse)
    monkeypatch.setattr(Function, "__call__", refuse)
    yield


@adze.jit
def add(a: Any, b: Any) -> Any:
    return a + b


@adze.jit
def update(parameters: Any, *, step: Any) -> Any:
    return {name: [w - step * w for w in ws] for name, ws in parameters.items()}


def on_device(value: Any) -> adze.Array:
    return adze.device_put(value)


def test_arrays_of_known_kinds_are_handed_over_unchecked(request: pytest.FixtureRequest) -> None:
    a = on_device(X)
    parameters, step = {"b": [a, a], "a": [a]}, on_device(np.float32(0.5))
    for _ in range(2):
        add(a, a)
        update(parameters, step=step)
    request.getfixturevalue("only_views")
    total = add(a, a)
    assert np.asarray(add(total, total)).tolist() == (4 * X).tolist()
    updated = update(update(parameters, step=step), step=step)
    assert sorted(updated) == ["a", "b"]
    assert np.asarray(updated["b"][1]).tolist() == (X / 4).tolist()
    assert np.asarray(add(X, X)).tolist() == (2 * X).tolist()  # small NumPy arrays are copied in


def test_small_numpy_arrays_are_handed_over_by_code(monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):
        add(X, X)

    def refuse(*_: Any) -> None:
        raise AssertionError("the longer way was taken")

    monkeypatch.setattr(Entry, "call", refuse)
    monkeypatch.setattr(Entry, "call_views", refuse)
    assert np.asarray(add(X, 3 * X)).tolist() == (4 * X).tolist()


def test_compiled_programs_know_their_arguments_too(request: pytest.FixtureRequest) -> None:
    compiled, a = add.trace(X, X).lower().compile(), on_device(X)
    compiled(a, a), compiled(X, X), compiled(a, a)
    with pytest.raises(adze.AdzeError, match="argument"):
        compiled(X[:2], X[:2])
    with pytest.raises(adze.AdzeError, match="compiled for arguments"):
        compiled(a, a, a)
    request.getfixturevalue("only_views")
    assert np.asarray(compiled(compiled(a, a), a)).tolist() == (3 * X).tolist()
    assert np.asarray(compiled(X, X)).tolist() == (2 * X).tolist()


def test_other_kinds_take_the_long_way_and_are_right() -> None:
    a = on_device(X)
    add(a, a), add(a, a)
    double = on_device(X.astype(np.float64))
    assert add(a, double).dtype == np.float64
    assert add(on_device(X[:2]), on_device(X[:2])).shape == (2,)
    assert np.asarray(add(a, 2)).tolist() == (X + 2).tolist()
    assert np.asarray(add(a, X[::-1])).tolist() == (X + X[::-1]).tolist()
    assert np.asarray(add(anp.asarray(X), a)).tolist() == (X + X).tolist()
    large = on_device(np.ones(1 << 15, np.float32))
    assert float(anp.sum(add(large, np.ones(1 << 15, np.float32)))) == 2 << 15


def test_weak_arrays_stay_weak() -> None:
    weak, a = anp.sin(1.0), on_device(np.ones((), np.float16))
    assert weak.weak_type
    add(a, a), add(a, a)
    for _ in range(2):
        assert add(a, weak).dtype == np.float16
        assert add(a, on_device(np.ones((), np.float32))).dtype == np.float32


def test_arrays_of_both_drivers_meet() -> None:
    here, there = adze.device_put(X, "local-sync"), adze.device_put(X, "local-task")
    for _ in range(3):
        assert np.asarray(add(here, there)).tolist() == (2 * X).tolist()
        assert np.asarray(add(there, there)).tolist() == (2 * X).tolist()


def test_a_stranger_with_a_kind_is_an_error() -> None:
    class Stranger:
        call_kind: Any = []  # noqa: RUF012

    a = on_device(X)
    add(a, a), add(a, a)
    for kind in ([], "f"):
        Stranger.call_kind = kind
        with pytest.raises(adze.AdzeError):
            add(a, Stranger())


def test_an_error_of_a_call_names_the_line_of_the_call() -> None:
    """IREE's own: what it calls the program with is no list."""
    a = on_device(X)
    compiled = add.trace(X, X).lower().compile()
    for _ in range(3):
        compiled(a, a), compiled(X, X)

    def refuse(*_: Any) -> None:
        raise RuntimeError("x.c:1: INTERNAL; the device is gone; while invoking")

    function = compiled.function
    function._invoke = refuse
    compiled._known.forget()
    for argument in (X, a, a, a):  # the long way, then those of known arrays
        with pytest.raises(FailedCallError, match=r"add\(\): the device is gone\n") as caught:
            compiled(argument, argument)
        assert caught.value.where is not None and "test_known_calls.py" in caught.value.where


@pytest.mark.parametrize("is_tree", [False, True])
@pytest.mark.parametrize("place", [on_device, np.ascontiguousarray])
def test_errors_of_functions_of_the_host_come_out_of_known_calls(place: Any, is_tree: bool) -> None:
    def positive(x: np.ndarray) -> np.ndarray:
        if x.sum() < 0:
            raise ValueError("the sum is negative")
        return x

    def roots(tree: Any) -> Any:
        x = tree["x"] if is_tree else tree
        return anp.sqrt(adze.pure_callback(positive, adze.ShapeDtype((4,), np.float32), x))

    f = adze.jit(roots)
    good, bad = place(X), place(-X)
    for _ in range(3):
        assert np.asarray(f({"x": good} if is_tree else good)).tolist() == np.sqrt(X).tolist()
        with pytest.raises(Exception, match="the sum is negative") as caught:
            f({"x": bad} if is_tree else bad)
        assert isinstance(caught.value, ValueError | adze.AdzeError)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 80])
def test_any_number_of_arrays_and_results(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_code, "MOST_ARRAYS", 4 if count < 80 else call_code.MOST_ARRAYS)
    f = adze.jit(lambda *xs: [x + 1 for x in reversed(xs)])
    arrays = [on_device(np.float32(i)) for i in range(count)]
    for _ in range(4):
        assert [float(x) for x in f(*arrays)] == [float(i) + 1 for i in reversed(range(count))]


def test_results_that_are_one_array_or_of_unknown_structure() -> None:
    a = on_device(X)
    for function, expected in (
        (lambda x: {"only": x}, {"only": a}),
        (lambda x: (x, x), (a, a)),
        (lambda x: Pair(x, [x]), Pair(a, [a])),
        (lambda x: Point(x), Point(a)),
        (lambda x: None, None),
        (lambda x: (), ()),
    ):
        f = adze.jit(function)
        for _ in range(4):
            found = f(a)
            assert tree.structure(found) == tree.structure(expected)
            assert all(np.asarray(leaf).tolist() == X.tolist() for leaf in tree.leaves(found))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_forked_child_calls_known_functions() -> None:
    """Functions on the thread pool are opened again in the child, where its threads are not."""
    script = """
import os, sys
import numpy as np, adze
here = adze.jit(lambda x: x + 1, device="local-sync")
there = adze.jit(lambda x: {"y": x * 2}, device="local-task")
x = adze.device_put(np.arange(3, dtype=np.float32))
work = lambda: [float(np.asarray(there(here(x))["y"])[2]) for _ in range(4)]
work()
sys.stdout.flush()
for _ in range(2):
    child = os.fork()
    if child == 0:
        print(work(), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
print(work())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert done.stdout.splitlines() == ["[6.0, 6.0, 6.0, 6.0]"] * 3, done.stderr


def test_nan_are_looked_for_where_the_function_is_known() -> None:
    logarithm = adze.jit(anp.log)
    a, negative = on_device(X + 1), on_device(X - 1)
    logarithm(a), logarithm(a)
    with adze.debug.nans():
        for _ in range(2):
            with pytest.raises(adze.AdzeError, match="NaN"):
                logarithm(negative)
    logarithm(negative)  # not watched any more


def test_forgotten_programs_are_compiled_again() -> None:
    f = adze.jit(lambda x: x + 1)
    a = on_device(X)
    f(a), f(a)
    f.clear_cache()
    assert f.cache_size() == 0
    f(a)
    assert f.cache_size() == 1


def misaligned(elements, dtype=np.float32):
    """An array whose memory programs cannot share."""
    wanted = np.asarray(elements, dtype)
    raw = np.empty(wanted.nbytes + 128, np.uint8)
    start = -raw.ctypes.data % 64 + wanted.itemsize
    array = raw[start : start + wanted.nbytes].view(dtype).reshape(wanted.shape)
    array[...] = wanted
    return array


@pytest.mark.each_value(lambda dtype, size: ((dtype, size > 5), size))
@pytest.mark.parametrize("size", [0, 1, 5, 1 << 14, (1 << 16) + 3])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bool", "int8", "uint32", "complex64", "bfloat16"])
def test_an_array_in_host_memory_is_copied_for_programs_once(size, dtype):
    numbers = np.arange(size) % 7
    source = misaligned(numbers, as_dtype(dtype))
    array = anp.asarray(source)
    before = np.asarray(array)
    same = adze.jit(lambda x: x)
    first, second = same(array), same(array)
    assert array.device == "host" and array.dtype == as_dtype(dtype)
    source[...] = 0  # of no effect: the array is a copy
    for result in (array, first, second, before):
        expected = numbers.astype(as_dtype(dtype))
        np.testing.assert_array_equal(np.asarray(result).astype(complex), expected.astype(complex))
    assert not np.asarray(array).flags.writeable
    if before.nbytes >= 1 << 16:
        assert np.asarray(array).ctypes.data % 64 == 0
        assert np.shares_memory(np.asarray(first), np.asarray(second))


def test_arrays_in_host_memory_meet_arrays_on_devices_and_numbers_in_one_call():
    host, weak = anp.asarray(np.arange(3.0)), anp.asarray(2.5)
    device = adze.jit(lambda x: x * 2)(host)
    f = adze.jit(lambda tree: tree["a"] + tree["b"][0] * tree["b"][1])
    for _ in range(3):
        assert np.asarray(f({"a": host, "b": (device, weak)})).tolist() == [0, 6, 12]
        assert np.asarray(f({"a": np.arange(3.0), "b": (host, weak)})).tolist() == [0, 3.5, 7]
        assert np.asarray(f({"a": np.arange(3.0), "b": (host, 1.5)})).tolist() == [0, 2.5, 5]
        assert np.asarray(f({"a": np.arange(6.0)[::2], "b": (host, 1.5)})).tolist() == [0, 3.5, 7]
        assert np.asarray(f({"a": np.arange(3.0).astype(">f8"), "b": (host, 1.5)})).tolist() == [0, 2.5, 5]


def test_an_array_in_host_memory_is_deleted_after_calls():
    array = anp.asarray(np.ones(1 << 15))
    f = adze.jit(lambda x: x + 1, donate_argnums=0)
    f(array.copy())
    f(array)
    assert array.is_deleted()
    with pytest.raises(DeletedArrayError, match="donated"):
        f(array)


def test_named_sizes_are_compared_also_of_arrays_in_host_memory():
    spec = adze.ShapeDtype(("n",), np.float64)
    f = adze.trace(lambda x, y: (x * y).sum(), spec, spec).lower().compile()
    for n in (2, 3, 2):
        ones = anp.asarray(np.ones(n))
        assert float(f(ones, ones)) == n
        with pytest.raises(adze.AdzeError, match="n"):
            f(ones, anp.asarray(np.ones(n + 1)))


def test_threads_share_an_array_in_host_memory():
    array = anp.asarray(misaligned(np.arange(1 << 17)))
    f = adze.jit(lambda x: x + 1)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: np.asarray(f(array)), range(32)))
    for result in results:
        np.testing.assert_array_equal(result, np.arange(1 << 17, dtype=np.float32) + 1)


def test_calls_of_named_sizes_are_known_by_their_shapes() -> None:
    def function(x: Any, y: Any) -> Any:
        return {"sum": (x + y).sum(0), "both": [x * 2, y]}

    shape = ("n", "m")
    spec = adze.ShapeDtype(shape, np.float32)
    compiled = adze.trace(function, spec, spec).lower().compile()
    rng = np.random.default_rng(0)
    for _ in range(3):
        for size in ((3, 4), (1, 1), (5, 2), (0, 3)):
            x, y = (adze.device_put(rng.standard_normal(size).astype(np.float32)) for _ in range(2))
            got, want = compiled(x, y), function(np.asarray(x), np.asarray(y))
            np.testing.assert_allclose(got["sum"], want["sum"], rtol=1e-6)
            np.testing.assert_array_equal(got["both"][0], want["both"][0])
            assert got["both"][1].shape == size
    long, short = adze.numpy.ones((3, 4), np.float32), adze.numpy.ones((3, 2), np.float32)
    with pytest.raises(CallError, match="'m'"):
        compiled(long, short)
    with pytest.raises(CallError):
        compiled(long, adze.numpy.ones((3,), np.float32))


def test_calls_of_very_many_shapes_are_not_all_known() -> None:
    compiled = adze.trace(lambda x: x + 1, adze.ShapeDtype(("n",), np.float32)).lower().compile()
    for size in range(3 * MOST_KINDS):
        np.testing.assert_array_equal(compiled(adze.device_put(np.zeros(size, np.float32))), np.ones(size))
    assert 0 < len(compiled._known) <= MOST_KINDS


@pytest.mark.parametrize("results", [1, 2, 3])
def test_results_of_each_way_of_a_call_are_copied_as_other_arrays_are(
    results: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy has the number of its array: results of short calls once had none."""
    monkeypatch.setattr(call_code, "MOST_ARRAYS", 2)
    program = adze.jit(lambda x: [x + n for n in range(results)])
    on_device = program(X)[0]
    for argument in (X, on_device):
        for _ in range(2):
            last = program(argument)[-1]
            np.testing.assert_array_equal(last.copy(), np.asarray(argument) + results - 1)
            np.testing.assert_array_equal(strong(last), last)
