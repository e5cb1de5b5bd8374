"""Mistakes of who comes from PyTorch, TensorFlow, JAX or NumPy, and what the errors say to write instead."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp

X = np.ones((2, 3), np.float32)


def assign_item(x: Any) -> Any:
    y = np.zeros(3)
    y[0] = x[0, 0]
    return y


@adze.custom_vjp
def doubled(x: Any) -> Any:
    return x * 2


doubled.defvjp(lambda x: (x * 2, None), lambda residual, cotangent: cotangent)


@adze.custom_jvp
def tripled(x: Any) -> Any:
    return x * 3


tripled.defjvp(lambda primals, tangents: primals[0] * 3)

METHODS = {
    "cuda": "write adze.device_put(x, device), or x.astype(dtype)",
    "detach": "write adze.lax.stop_gradient(x); np.asarray(x) has its memory",
    "backward": "derivatives are functions of functions: adze.grad(loss)(x)",
    "unsqueeze": "write adze.numpy.expand_dims(x, axis)",
    "float": 'write x.astype("float32")',
    "add_": "arrays never change: write x = f(x) with another function, or x.at[index].set(y)",
    "exp": "it is a function: adze.numpy.exp(x)",
    "softmax": "it is a function: adze.nn.softmax(x)",
    "rsqrt": "it is a function: adze.lax.rsqrt(x)",
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_other_libraries(name: str) -> None:
    def call(x: Any) -> Any:
        return getattr(x, name)()

    for array, kind in ((anp.asarray(X), "Array"), (None, "Tracer")):
        with pytest.raises(AttributeError) as caught:
            adze.jit(call)(X) if array is None else call(array)
        error = caught.value
        assert isinstance(error, adze.AdzeError)
        assert error.message == f"{kind!r} object has no attribute {name!r}"
        assert error.hint == METHODS[name]
        assert error.where == f"{__file__}:{call.__code__.co_firstlineno + 1}"


def test_other_names_are_pythons_own_error() -> None:
    for name in ("foo", "_exp", "__cuda_array_interface__"):
        assert not hasattr(anp.asarray(X), name)
        with pytest.raises(AttributeError, match=f"'Array' object has no attribute '{name}'") as caught:
            getattr(anp.asarray(X), name)
        assert not isinstance(caught.value, adze.AdzeError)
        assert caught.value.name == name  # Python proposes names that are like it
    assert getattr(adze.jit(lambda x: x)(X), "detach", None) is None


MISTAKES: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "arrays as arguments": (
        lambda x: anp.concatenate(x, x[0]),
        "concat: the axis is an array, expected an integer",
        "write concatenate([x, y]): the arrays are one list",
    ),
    "view of a shape": (
        lambda x: x.view(-1),
        "view: expected a dtype, got -1",
        "for another shape write x.reshape(shape)",
    ),
    "a call of at": (
        lambda x: x.at(0).set(1),
        "x.at is indexed, not called",
        "write x.at[index].set(y)",
    ),
    "a method of at": (
        lambda x: x.at[0].assign(1),
        "x.at[index] has no method 'assign'",
        "the methods are get, set, add, subtract, mul, multiply, divide, power, min, max and apply",
    ),
    "a number for math": (
        lambda x: math.sqrt(x[0, 0]),
        "float() of a traced array: f32[] has no value while tracing (it comes from {line})",
        "write the functions of adze.numpy in place of those of math",
    ),
    "a scan without results": (
        lambda x: adze.scan(lambda c, row: c + row, x[0], x),
        "the function of scan must return a pair (carry, y), lambda returns *",
        "write return carry, y, with None for y where nothing is stacked",
    ),
    "a rule without a comma": (
        lambda x: adze.grad(lambda y: doubled(y).sum())(x),
        "the bwd rule of doubled must return a tuple of 1 cotangents, one for each argument, it returns *",
        "write return (cotangent,), with the comma, for one argument; None stands for zeros",
    ),
    "a rule without a tangent": (
        lambda x: adze.jvp(tripled, (x,), (x,)),
        "the jvp rule of tripled must return (result, tangent), it returns *",
        "write return result, tangent",
    ),
    "a dtype as a function": (
        lambda x: np.float16(x),  # type: ignore[arg-type]
        "numpy.asarray() of a traced array: f32[2,3] has no value while tracing (it comes from {line})",
        "a dtype makes NumPy's arrays: write x.astype('float16')",
    ),
    "a static argument that is traced": (
        lambda x: adze.jit(lambda y: y, static_argnums=0)(x),
        "static argument 0 of lambda is a traced array, f32[2,3]: its value is not known while tracing",
        "make the argument an array argument",
    ),
    "a static argument that is an array": (
        lambda x: adze.jit(lambda y, n: y, static_argnames="n")(x, n=X),
        "static argument 'n' of lambda is an array, float32 of shape (2, 3), which cannot be hashed",
        "make the argument an array argument, or let the function close over it",
    ),
    "a state with a name in it": (
        lambda x: adze.Program({"w": X, "kind": "layer"}),
        "the state of a program: 'kind' is str ('layer'), expected an array or a number",
        "let its functions close over what is no array",
    ),
    "dates": (
        lambda x: anp.asarray(np.array(["2020-01-01"], "M8[D]")),
        "arrays of dtype datetime64[D] have no counterpart: expected bools, integers, floats, complex",
        "convert it first: x.astype(dtype)",
    ),
    "ragged lists": (
        lambda x: anp.asarray([[1, 2], [3]]),
        "expected numbers, or lists of one length and shape, got '[[1, 2], [3]]'",
        "pad the shorter ones",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_to_write_instead(mistake: str) -> None:
    function, message, hint = MISTAKES[mistake]
    line = f"{__file__}:{function.__code__.co_firstlineno}"
    with pytest.raises(adze.AdzeError) as caught:
        adze.jit(function)(X)
    assert str(caught.value) == f"{message.format(line=line)}\n  at {line}\n  hint: {hint}"


WITHOUT_HINT: dict[str, tuple[Callable[[], Any], str]] = {
    "a dtype that is misspelt": (
        lambda: adze.ShapeDtype((3,), "flot32"),
        "'flot32' is not a dtype: expected one of bool, int8, int16, int32, int64, uint8, uint16, uint32, "
        "uint64, float16, bfloat16, float32, float64, complex64, complex128",
    ),
    "a dtype of zeros that is misspelt": (
        lambda: anp.zeros((3,), "double32"),
        "zeros: 'double32' is not a dtype: expected one of bool, int8, int16, int32, int64, uint8, uint16, "
        "uint32, uint64, float16, bfloat16, float32, float64, complex64, complex128",
    ),
    "half a size": (
        lambda: adze.ShapeDtype((3.5,)),  # type: ignore[arg-type]
        "3.5 is not a dimension: expected an integer of at least 0, None where the size is known only when "
        "the program runs, or a name",
    ),
    "a callback that returns another shape": (
        lambda: adze.pure_callback(lambda x: x[:1], adze.ShapeDtype((2, 3)), X),
        "the callback lambda() returned f32[1,3], its result_shape_dtypes say f32[2,3]",
    ),
    "a number with a rule": (
        lambda: adze.custom_vjp(3),  # type: ignore[arg-type]
        "custom_vjp expects a function, got int: 3",
    ),
    "fewer classes than none": (
        lambda: adze.nn.one_hot(np.arange(3), -1),
        "one_hot: shape (-1,) has a negative size",
    ),
}


@pytest.mark.parametrize("mistake", WITHOUT_HINT)
def test_errors_outside_a_trace_name_the_line(mistake: str) -> None:
    function, message = WITHOUT_HINT[mistake]
    with pytest.raises(adze.AdzeError) as caught:
        function()
    assert str(caught.value) == f"{message}\n  at {__file__}:{function.__code__.co_firstlineno}"


def test_an_item_of_a_numpy_array() -> None:
    """NumPy hides the reason, which Python shows above its error."""
    with pytest.raises(ValueError, match="setting an array element with a sequence") as caught:
        adze.jit(assign_item)(X)
    reason = caught.value.__cause__
    assert isinstance(reason, adze.AdzeError)
    assert reason.hint == (
        "NumPy's arrays cannot hold it: let y be one of adze.numpy, and write y = y.at[index].set(x)"
    )


def test_an_unknown_dtype_lists_the_known_ones() -> None:
    with pytest.raises(
        TypeError, match=r"'float31' is not a dtype: expected one of bool, int8, .*complex128"
    ):
        anp.asarray(X, dtype="float31")
