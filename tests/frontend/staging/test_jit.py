"""`jit`: what it takes and returns, when it traces again and why, and how calls nest."""

from __future__ import annotations

import collections
import dataclasses
from typing import Any

import jax
import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.passes.analysis.evaluate import evaluate

from ...selection import quick_first

X = np.arange(6, dtype=np.float32).reshape(2, 3)


@adze.jit
def increment(x: Any) -> Any:
    return x + 1


# -- arguments and results ---------------------------------------------------------------------------

ARGUMENTS = {
    "contiguous": X,
    "strided": X[:, ::2],
    "Fortran order": np.asfortranarray(X),
    "negative strides": X[::-1],
    "broadcast": np.broadcast_to(np.float32(1), (3,)),
    "big-endian": X.astype(">f4"),
    "read-only": np.frombuffer(bytes(16), np.float32),
    "unaligned": np.frombuffer(bytes(17), np.uint8)[1:].view(np.float32),
    "0-d": np.array(2.0),
    "empty": np.zeros((0, 3), np.float32),
    "bool": np.array([True, False]),
    "uint64": np.array([2**64 - 2], np.uint64),
    "NumPy scalar": np.float32(2.5),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", ARGUMENTS)
def test_any_numpy_array_is_an_argument(kind: str) -> None:
    argument = ARGUMENTS[kind]
    result = increment(argument)
    expected = argument + (np.float32(1) if argument.dtype == np.float32 else 1)
    assert isinstance(result, adze.Array) and result.dtype == expected.dtype.newbyteorder("=")
    assert np.array_equal(np.asarray(result), expected) and result.shape == expected.shape


def test_results_adze_arrays_and_dlpack_arrays_are_arguments() -> None:
    assert np.array_equal(increment(increment(X)), X + 2)
    assert np.array_equal(increment(anp.asarray(X)), X + 1)
    assert np.array_equal(increment(jax.numpy.asarray(X)), X + 1)
    assert np.array_equal(np.from_dlpack(increment(X)), X + 1)
    assert np.array_equal(jax.numpy.from_dlpack(increment(X)), X + 1)


def test_big_endian_arrays_share_the_program_of_native_ones() -> None:
    f = adze.jit(lambda x: x * 2)
    f(X), f(X.astype(">f4"))
    assert f.cache_size() == 1


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("value", "dtype"), [(True, "bool"), (3, "int64"), (1.5, "float32"), (2j, "complex64")]
)
def test_a_python_number_comes_back_in_its_default_dtype(value: Any, dtype: str) -> None:
    result = adze.jit(lambda x: x)(value)
    assert result.dtype == dtype and result.item() == value


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "dtype", quick_first(["float16", "complex64", "float32", "float64", "complex128"], 2)
)
def test_a_python_float_yields_to_the_dtype_beside_it_and_loses_nothing(dtype: str) -> None:
    x = np.array([1, 3], dtype)
    result = adze.jit(lambda x, s: x * s)(x, 1.2)
    assert result.dtype == dtype and np.array_equal(result, x * 1.2)
    nested = adze.jit(lambda x: adze.jit(lambda y, s: y * (s * 2))(x, 1.2))(x)
    assert nested.dtype == dtype and np.array_equal(nested, x * 2.4)


def test_what_is_made_of_python_floats_alone_is_of_the_default_dtype() -> None:
    def made(s: Any, t: Any) -> Any:
        return s + 1, s * t, anp.exp(s), anp.sum(s), anp.stack([s, t]), -s, anp.where(s > t, s, 0.0)

    results = adze.jit(made)(1.2, 2.0)
    assert {r.dtype for r in results} == {np.dtype(np.float32)}
    for compiled, eager in zip(results, made(1.2, 2.0), strict=True):
        np.testing.assert_allclose(compiled, eager, rtol=1e-6)


def test_numpy_scalars_are_strongly_typed() -> None:
    x = np.ones(2, np.float32)
    assert adze.jit(lambda x, s: x * s)(x, np.float64(1.5)).dtype == np.float64
    assert (anp.asarray(x) * np.float64(1.5)).dtype == np.float64
    assert adze.jit(lambda x: x * np.float64(1.5))(x).dtype == np.float64


def test_the_gradient_of_a_python_float_is_of_the_default_dtype() -> None:
    square = adze.grad(lambda s: s**2)
    for gradient in (square(1.5), adze.jit(square)(1.5)):
        assert gradient.dtype == np.float32 and gradient.item() == 3.0


Pair = collections.namedtuple("Pair", "left right")


@adze.tree_util.register_dataclass
@dataclasses.dataclass
class Layer:
    weight: Any
    bias: Any


def test_trees_of_arguments_and_results() -> None:
    @adze.jit
    def swap(layer: Layer, pair: Pair, rest: dict[str, list[Any]]) -> Any:
        return Layer(layer.bias, layer.weight), Pair(pair.right, pair.left), {"n": None, "r": rest["r"][0]}

    layer, pair, rest = swap(Layer(X, 1), Pair(2.0, X), {"r": [X[0], X[1]]})
    assert isinstance(layer, Layer) and layer.weight.item() == 1 and np.array_equal(layer.bias, X)
    assert isinstance(pair, Pair) and pair.right.item() == 2.0 and np.array_equal(pair.left, X)
    assert rest["n"] is None and np.array_equal(rest["r"], X[0])


def test_results_may_be_arguments_constants_or_one_value_twice() -> None:
    x, again, constant, number, flipped = adze.jit(lambda x: (x, x, np.ones(2), 3.0, x.T))(X)
    assert np.array_equal(x, X) and np.array_equal(again, X) and np.array_equal(flipped, X.T)
    assert np.array_equal(constant, [1, 1]) and constant.dtype == np.float64 and number.item() == 3.0
    assert np.array_equal(adze.jit(lambda: anp.arange(3))(), [0, 1, 2])
    assert adze.jit(lambda x: None)(X) is None


@pytest.mark.parametrize("size", [8, 1 << 18])
def test_a_result_that_is_its_argument_does_not_see_later_writes(size: int) -> None:
    argument = np.ones(size, np.float32)
    same, twice = adze.jit(lambda x: (x, x * 2))(argument)
    argument[:] = 7
    assert same.numpy()[0] == 1 and twice.numpy()[0] == 2


def test_arrays_captured_from_outside_are_constants_of_the_trace() -> None:
    weights = np.ones(3, np.float32)
    f = adze.jit(lambda x: x * weights)
    assert np.array_equal(f(X), X)
    weights[:] = 5
    assert np.array_equal(f(X), X), "a trace takes the values it saw"


def test_keywords_defaults_and_star_arguments() -> None:
    @adze.jit
    def combine(a: Any, b: Any = 10, *rest: Any, scale: Any = 1, **more: Any) -> Any:
        return (a + b + sum(rest)) * scale + more.get("shift", 0)

    assert combine(1).item() == 11
    assert combine(1, 2, 3, scale=2, shift=5).item() == 17
    assert combine(b=1, a=2).item() == 3


class Model:
    factor = 3.0

    @adze.jit(static_argnums=0)
    def scaled(self, x: Any) -> Any:
        return x * self.factor


def test_methods_and_decorators_with_options() -> None:
    assert np.array_equal(Model().scaled(X), X * 3)
    assert increment.__name__ == "increment" and "adze.jit of increment" in repr(increment)
    assert np.array_equal(increment.__wrapped__(X), X + 1)


# -- static arguments --------------------------------------------------------------------------------


@pytest.mark.parametrize("static", [{"static_argnums": 1}, {"static_argnums": -1}, {"static_argnames": "n"}])
def test_static_arguments_are_python_values_however_they_are_given(static: dict[str, Any]) -> None:
    def power(x: Any, n: int) -> Any:
        result = x
        for _ in range(n - 1):
            result = result * x
        return result

    f = adze.jit(power, **static)
    assert np.array_equal(f(X, 3), X**3) and np.array_equal(f(X, n=3), X**3)
    assert np.array_equal(f(X, 2), X**2)


def test_equal_static_values_of_different_types_are_different() -> None:
    f = adze.jit(lambda x, n: anp.zeros((), type(n)), static_argnums=1)
    assert f(X, 1).dtype == np.int64 and f(X, True).dtype == np.bool_ and f(X, 1.0).dtype == np.float64


# -- the in-memory cache -----------------------------------------------------------------------------


def test_a_function_is_traced_once_for_each_kind_of_arguments() -> None:
    traced = []

    @adze.jit
    def f(x: Any, s: Any) -> Any:
        traced.append(x.shape)
        return x * s

    for x, s in ((X, 1.0), (X + 1, 2.0), (X, 3), (X[:1], 1.0), (X.astype(np.float64), 1.0), (X, 5.0)):
        assert np.array_equal(f(x, s), x * s)
    assert traced == [(2, 3), (2, 3), (1, 3), (2, 3)] and f.cache_size() == 4
    f.clear_cache()
    assert f.cache_size() == 0
    f(X, 1.0)
    assert len(traced) == 5


def test_weakly_typed_arrays_have_programs_of_their_own() -> None:
    f = adze.jit(lambda s, x: s * x)
    half = np.ones(2, np.float16)
    weak, strong = anp.sqrt(4.0), anp.asarray(np.float32(2))
    assert weak.weak_type and weak.dtype == strong.dtype == np.float32
    assert f(strong, half).dtype == np.float32 and f(weak, half).dtype == np.float16
    assert f.retraces[1].reason == "argument s changed from f32[] to weak f32[]"


def test_retraces_are_explained() -> None:
    def step(x: Any, p: Any, n: int = 1) -> Any:
        return x * n

    f = adze.jit(step, static_argnames="n")
    wide = X.astype(np.float64)
    line = f"{__file__}:{test_retraces_are_explained.__code__.co_firstlineno + 9}: "
    calls = [(X, {"a": 1.0}), (wide, {"a": 1.0}), (X, {"b": 1.0}), (X, {"a": 1}), (X, {"a": 1.0}, 2)]
    for arguments in calls:
        f(*arguments)
    assert adze.explain_retrace(f) == "\n".join(
        (
            f"1. {line}first call",
            f"2. {line}argument x changed from f32[2,3] to f64[2,3]",
            f"3. {line}the arguments changed from (*, {{'a': *}}) to (*, {{'b': *}})",
            f"4. {line}argument p['a'] changed from float to int",
            f"5. {line}static argument 2 changed from its default to 2",
        )
    )
    assert f.retraces[0].reason == "first call"


# -- nesting -----------------------------------------------------------------------------------------


def test_a_jitted_function_inside_a_trace_is_a_private_function_traced_once() -> None:
    traced = []

    @adze.jit
    def inner(x: Any) -> Any:
        traced.append(x.shape)
        return x * 2

    module = adze.trace(lambda x: inner(x) + inner(x + 1) + inner(x[0]), X).mlir()
    assert traced == [(2, 3), (3,)]
    assert module.count("func.func private @inner(") == 1 and module.count("callee = @inner,") == 2
    assert module.count("callee = @inner_1,") == 1
    assert np.array_equal(adze.jit(lambda x: inner(x) + inner(x + 1))(X), X * 4 + 2)


def test_an_inner_function_may_use_values_of_the_outer_one() -> None:
    def outer(x: Any) -> Any:
        @adze.jit
        def inner(y: Any) -> Any:
            return y + x

        return inner(x * 2) + inner(x * 3)

    assert np.array_equal(adze.jit(outer)(X), X * 7)


def test_nested_trees_and_static_arguments() -> None:
    inner = adze.jit(lambda p, n: {"r": p["a"] * n}, static_argnums=1)
    assert np.array_equal(adze.jit(lambda x: inner({"a": x}, 3)["r"])(X), X * 3)


# -- where -------------------------------------------------------------------------------------------


def test_target_and_device_are_options() -> None:
    result = adze.jit(lambda x: x + 1, target="cpu", device="local-task")(X)
    assert result.device == "local-task" and np.array_equal(result, X + 1)


def test_the_environment_may_choose_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADZE_DEVICE", "local-task")
    assert adze.jit(lambda x: x + 1)(X).device == "local-task"
    assert adze.jit(lambda x: x + 1, device="local-sync")(X).device == "local-sync"


def test_an_unknown_device_of_the_environment_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADZE_DEVICE", "tpu:0")
    with pytest.raises(adze.AdzeError, match="tpu"):
        adze.jit(lambda x: x + 1)(X)


@pytest.mark.vulkan
def test_vulkan_through_jit() -> None:
    if not any(d.name.startswith("vulkan") for d in adze.devices()):
        pytest.skip("no Vulkan driver on this machine")
    result = adze.jit(lambda x: x * 2 + 1, device="vulkan:0")(X)
    assert result.device == "vulkan:0" and np.array_equal(result, X * 2 + 1)


def test_device_put_and_devices() -> None:
    assert [d.name for d in adze.devices()][:2] == ["local-sync", "local-task"]
    placed = adze.device_put({"x": X, "s": 2.0}, "local-task")
    assert placed["x"].device == "local-task" and np.array_equal(placed["x"], X)
    assert adze.device_put(placed["x"], "local-task").buffer is placed["x"].buffer
    assert np.array_equal(increment(placed["x"]), X + 1)
    assert np.array_equal(adze.jit(lambda x: adze.device_put(x) + 1)(X), X + 1)


class Scaled:
    """A callable object with attributes that `Jitted` has too."""

    def __init__(self, factor: float) -> None:
        self._call = self.trace = self._lock = factor

    def __call__(self, x: Any) -> Any:
        return x * self._call


def test_a_callable_object_keeps_its_attributes_to_itself() -> None:
    assert adze.jit(Scaled(3.0))(np.float32(2)).item() == 6
    rule = adze.custom_jvp(Scaled(3.0))
    rule.defjvp(lambda primals, tangents: (primals[0] * 3, tangents[0] * 5))
    assert adze.grad(rule)(np.float32(2)).item() == 5


def test_jitted_functions_that_live_for_one_call_are_not_confused() -> None:
    """Their addresses are used again, and inside a trace one call of a function is traced once."""

    def outer(x: Any) -> list[Any]:
        return [adze.jit(lambda x, k=k: x * k)(x) for k in range(50)]

    program = adze.trace(outer, np.float64(2)).program
    results = evaluate(program.module, program.symbol, [np.float64(2)])
    np.testing.assert_array_equal(np.stack(results), 2.0 * np.arange(50))


# -- names of parameters -----------------------------------------------------------------------------


def named(self: Any, function: Any) -> Any:
    return self * 2 + function


NAMED = {
    "jit": adze.jit(named),
    "checkpoint": adze.checkpoint(named),
    "custom_jvp": adze.custom_jvp(named),
    "lower": lambda **arrays: adze.jit(named).lower(**arrays).compile()(**arrays),
    "trace": lambda **arrays: adze.trace(named, **arrays).lower().compile()(**arrays),
    "shapes": lambda **arrays: adze.jit(named).eval_shape(**arrays) and named(**arrays),
    "Partial": adze.tree_util.Partial(named),
}


@pytest.mark.parametrize("way", NAMED)
def test_parameters_may_have_the_names_of_adzes_own(way: str) -> None:
    assert NAMED[way](self=X, function=X).tolist() == (3 * X).tolist()
