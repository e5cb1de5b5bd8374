"""Tracing: the IR of a Python function, its names, its lines, its dynamic sizes and what it captures."""

from __future__ import annotations

import functools
import re
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze import ShapeDtype

X = np.ones((2, 3), np.float32)


def affine(x: Any, params: Any, scale: Any = 2.0) -> Any:
    scores = x @ params["w"]
    return scores * scale + params["b"]


PARAMS = {"w": np.ones((3, 2), np.float32), "b": np.ones(2, np.float32)}


# -- what is printed ---------------------------------------------------------------------------------


def test_a_trace_prints_as_mlir() -> None:
    assert str(adze.trace(lambda x: -x, X)) == (
        "module {\n"
        "  func.func @lambda(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
        '    %0 = "adze.neg"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>\n'
        "    return %0 : tensor<2x3xf32>\n"
        "  }\n"
        "}\n"
    )


def test_a_trace_prints_in_a_readable_form() -> None:
    assert adze.trace(affine, X, PARAMS).pretty() == (
        "affine(%0: f32[2,3], %1: f32[2], %2: f32[3,2]):\n"
        "  %3: f32[2,2] = dot_general(%0, %2, contracting=((1,), (0,)), batch=((), ()), dtype=f32)\n"
        "  %4: f32[] = constant(2.0)\n"
        "  %5: f32[2,2] = broadcast_in_dim(%4, shape=(2, 2), dimensions=())\n"
        "  %6: f32[2,2] = mul(%3, %5)\n"
        "  %7: f32[2,2] = broadcast_in_dim(%1, shape=(2, 2), dimensions=(1,))\n"
        "  %8: f32[2,2] = add(%6, %7)\n"
        "  return %8"
    )


@pytest.mark.parametrize("letter", ["x", "ü", "日"])
def test_functions_with_long_names_compile(letter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler calls a temporary file after the function, and died where that name was too long."""
    monkeypatch.setenv("ADZE_CACHE", "off")
    names = []
    for count in (300, 301):
        function = lambda x: x * 2  # noqa: E731
        function.__name__ = letter * count
        lowered = adze.trace(function, X).lower()
        names.append(lowered.compile().manifest.functions[0].signature.name)
        assert np.array_equal(lowered.compile()(X), X * 2)
    assert names[0] != names[1]
    assert all(name.startswith(letter * 30) and len(name.encode()) < 120 for name in names)


def test_the_name_of_a_function_of_a_program_is_not_cut() -> None:
    program = adze.Program()
    with pytest.raises(adze.AdzeError, match="has 300 bytes: expected 200 at most"):
        program.add(lambda x: x, X, name="x" * 300)


def test_arguments_and_results_are_named_by_their_paths() -> None:
    traced = adze.trace(lambda x, p, *rest, k: {"y": x, "z": (rest[0], k)}, X, {"w": [X, X]}, X, k=X)
    assert [p.name for p in traced.parameters] == ["x", "p['w'][0]", "p['w'][1]", "rest[0]", "k"]
    assert traced.program.result_names == ["result['y']", "result['z'][0]", "result['z'][1]"]
    assert repr(adze.trace(affine, X, PARAMS, 1.5)) == (
        "Traced(affine(x: f32[2,3], params['b']: f32[2], params['w']: f32[3,2], scale: f64[]) -> (f32[2,2]))"
    )


def test_ops_carry_the_users_line_and_arguments_the_functions() -> None:
    text = adze.trace(affine, X, PARAMS).mlir(locations=True)
    first = affine.__code__.co_firstlineno
    lines = {int(n) for n in re.findall(rf'{re.escape(__file__)}":(\d+):', text)}
    assert lines == {first, first + 1, first + 2}
    arguments = text.split("func.func")[1].split("->")[0]
    assert arguments.count("loc(") == 3


def test_partial_functions_and_callable_objects_have_definitions_too() -> None:
    class Callable:
        def __call__(self, x: Any) -> Any:
            return x * 2

    partial = adze.trace(functools.partial(affine, scale=1.0), X, PARAMS)
    assert f'":{affine.__code__.co_firstlineno}:1' in partial.mlir(locations=True)
    traced = adze.trace(Callable(), X)
    assert "func.func @Callable(" in traced.mlir()
    assert f'":{Callable.__call__.__code__.co_firstlineno}:1' in traced.mlir(locations=True)


def test_tracing_twice_gives_the_same_text() -> None:
    assert str(adze.trace(affine, X, PARAMS)) == str(adze.trace(affine, X, PARAMS))


# -- constants and captures --------------------------------------------------------------------------


def test_captured_arrays_are_constants_and_one_array_is_one_constant() -> None:
    table = np.arange(3, dtype=np.float32)
    traced = adze.trace(lambda x: x * table + table, X)
    assert traced.mlir("simplified").count("adze.constant") == 1
    assert "dense<[0.000000e+00, 1.000000e+00, 2.000000e+00]>" in traced.mlir()


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "bfloat16", "float64", "complex64"])
def test_constants_of_every_kind_survive(dtype: str) -> None:
    table = np.array([0, 1, 2]).astype(anp.asarray([0], dtype).dtype)
    result = adze.jit(lambda: anp.asarray(table))()
    assert result.dtype == table.dtype and np.array_equal(np.asarray(result), table)


def test_numpy_code_traces_unchanged() -> None:
    def softmax(x: Any) -> Any:
        e = np.exp(x - np.max(x, axis=-1, keepdims=True))
        return e / np.sum(e, axis=-1, keepdims=True)

    x = np.random.default_rng(0).normal(size=(4, 5))
    np.testing.assert_allclose(adze.jit(softmax)(x), softmax(x), rtol=1e-12)


def test_iteration_len_and_python_builtins_unroll() -> None:
    def unrolled(x: Any) -> Any:
        rows = list(x)
        return sum(rows) + max(len(x), 7) + abs(rows[0]) + round(rows[1])

    x = anp.asarray(X * np.float32(1.4))
    np.testing.assert_allclose(adze.jit(unrolled)(x), unrolled(x), rtol=1e-6)


# -- dynamic sizes -----------------------------------------------------------------------------------


def dynamic(function: Any, *shapes: Any) -> Any:
    """`function` compiled for float32 arguments of these shapes."""
    return adze.trace(function, *(ShapeDtype(s) for s in shapes)).lower().compile()


def test_shapes_of_arguments_are_expressions_of_dimensions() -> None:
    seen = []

    def look(x: Any) -> Any:
        seen.extend((x.shape, (x.shape[0] * 4 + 1, x.size, x.reshape(-1).shape)))
        return x

    adze.trace(look, ShapeDtype(("n", 4)))
    assert str(seen) == "[(n, 4), (4*n + 1, 4*n, (4*n,))]"


def test_dynamic_sizes_are_computed_when_the_program_runs() -> None:
    def prepare(x: Any) -> Any:
        n = x.shape[0]
        return (
            x / n,
            anp.arange(n),
            anp.concatenate([x, anp.ones((2, 4), np.float32)]).sum(axis=0),
            anp.zeros((n + 1, x.shape[1]), np.float32),
            x.reshape(-1),
            x.T[:, None],
        )

    program = dynamic(prepare, ("n", 4))
    for n in (1, 5, 0):
        x = np.arange(n * 4, dtype=np.float32).reshape(n, 4)
        for result, expected in zip(program(x), prepare(x), strict=True):
            np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_equal_names_are_one_size_checked_at_the_call() -> None:
    def total(a: Any, b: Any) -> Any:
        return a * b.sum()

    program = dynamic(total, ("n", 4), (3, "n"))
    a, b = np.ones((5, 4), np.float32), np.ones((3, 5), np.float32)
    assert np.array_equal(program(a, b), a * 15)
    with pytest.raises(adze.AdzeError) as caught:
        program(a, b[:, :4])
    assert str(caught.value).startswith(
        "total(): argument 'b' has size 4 along axis 1, which is dim 'n': "
        "expected 5, the size of axis 0 of 'a'"
    )


def test_the_program_itself_checks_equal_names() -> None:
    """A host that knows no names, such as iree-run-module, gets the message from the program."""
    text = adze.trace(lambda a, b: a + b, ShapeDtype(("n",)), ShapeDtype(("n",))).mlir()
    assert (
        "message = \"adze: dimension 'n' must have one size: axis 0 of 'a' and axis 0 of 'b' differ\"" in text
    )


def test_nameless_dimensions_are_independent() -> None:
    program = dynamic(lambda a, b: (a.sum(), b.sum()), (None,), (None,))
    first, second = program(np.ones(3, np.float32), np.ones(5, np.float32))
    assert first.item() == 3 and second.item() == 5


def test_unequal_dynamic_sizes_that_meet_are_an_error_and_no_garbage() -> None:
    program = dynamic(lambda a, b: a + b, ("n",), ("m",))
    assert np.array_equal(program(np.ones(3, np.float32), np.ones(3, np.float32)), [2, 2, 2])
    with pytest.raises(adze.AdzeError):
        program(np.ones(3, np.float32), np.ones(4, np.float32))
