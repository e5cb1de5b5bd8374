"""Python functions that programs call: eager, evaluated, compiled, and under every transform."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze
import adze.lax as lax
import adze.numpy as anp
from adze.frontend.errors import ArgumentError, CallbackError, UnsupportedError
from adze.runtime.errors import HostCallError

F32 = np.float32
SCALAR = adze.ShapeDtype((), F32)
X = np.arange(3, dtype=F32)


def sine(x: Any) -> Any:
    return adze.pure_callback(np.sin, adze.ShapeDtype(x.shape, x.dtype), x, vmap_method="expand_dims")


def both(function: Callable[..., Any], *args: Any) -> Any:
    """The result of a call at once, which a compiled call must have too."""
    eager = function(*args)
    compiled = adze.jit(function)(*args)
    for a, b in zip(adze.tree.leaves(eager), adze.tree.leaves(compiled), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-6)
    return compiled


class Sink:
    """Collects what callbacks see."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def __call__(self, *args: Any) -> Any:
        self.seen.append([np.array(a).tolist() for a in args])
        return F32(len(self.seen))

    def of(self, function: Callable[[], Any]) -> list[Any]:
        self.seen.clear()
        function()
        return list(self.seen)


def test_compiled_calls_have_any_number_of_results_and_any_dtype() -> None:
    dtypes = ("bool", "uint8", "uint32", "int64", "float16", "bfloat16", "float64", "complex64", "complex128")
    arrays = {name: anp.asarray(np.array([[1, 0, 3]]), dtype=name) for name in dtypes}

    def same(arrays: Any) -> Any:
        specs = adze.tree.map(lambda a: adze.ShapeDtype(a.shape, a.dtype), arrays)
        copies = adze.pure_callback(lambda a: adze.tree.map(np.copy, a), specs, arrays)
        empty = adze.pure_callback(lambda: np.zeros((0, 2), F32), adze.ShapeDtype((0, 2), F32))
        number = adze.pure_callback(lambda: 3, SCALAR)
        return copies, empty, number

    copies, empty, number = both(same, arrays)
    for name, array in arrays.items():
        assert copies[name].dtype == array.dtype
        assert np.asarray(copies[name]).tolist() == np.asarray(array).tolist()
    assert empty.shape == (0, 2) and float(number) == 3


def test_compiled_and_evaluated_effects_keep_the_order_of_the_program() -> None:
    sink = Sink()

    def program(x: Any) -> Any:
        def body(i: Any, carry: Any) -> Any:
            adze.debug.callback(sink, i, carry)
            return carry + adze.io_callback(sink, SCALAR, i, ordered=True)

        result = lax.fori_loop(0, 2, body, x)
        adze.debug.callback(sink, "end", result)
        return lax.cond(result > 100, lambda v: adze.io_callback(sink, SCALAR, v), lambda v: v, result)

    eager = sink.of(lambda: program(F32(1)))
    assert eager == [[0, 1], [0], [1, 3], [1], ["end", 7]]
    compiled = adze.jit(program)
    for _ in range(2):
        assert sink.of(lambda: compiled(F32(1))) == eager


def test_compiled_loops_whose_condition_is_a_callback() -> None:
    def below(c: Any) -> Any:
        return adze.pure_callback(lambda v: v < 5, adze.ShapeDtype((), bool), c, vmap_method="sequential")

    loop = lambda x: lax.while_loop(below, lambda c: c + 2, x)  # noqa: E731
    assert both(adze.vmap(loop), F32([0, 3])).tolist() == [6, 5]


@pytest.mark.parametrize(
    ("method", "shapes"),
    [
        ("sequential", [[(), ()]] * 3),
        ("expand_dims", [[(3,), (1,)]]),
        ("broadcast_all", [[(3,), (3,)]]),
        ("legacy_vectorized", [[(3,), ()]]),
    ],
)
def test_methods_of_vmap(method: str, shapes: list[list[tuple[int, ...]]]) -> None:
    seen: list[list[tuple[int, ...]]] = []

    def add(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        seen.append([a.shape, b.shape])
        return a + b

    function = lambda a, b: adze.pure_callback(add, SCALAR, a, b, vmap_method=method)  # noqa: E731
    mapped = adze.vmap(function, in_axes=(0, None))
    assert mapped(X, F32(10)).tolist() == [10, 11, 12]
    assert seen == shapes
    if method != "legacy_vectorized":
        twice = adze.vmap(mapped, in_axes=(None, 0))(X, X)
        assert np.array_equal(np.asarray(twice), X + X[:, None])


def test_a_pure_callback_without_a_method_is_not_mapped() -> None:
    with pytest.raises(NotImplementedError, match="cannot be batched"):
        adze.vmap(lambda x: adze.pure_callback(np.sin, SCALAR, x))(X)
    with pytest.raises(ArgumentError, match="vmap_method is 'loop'"):
        adze.jit(lambda x: adze.pure_callback(np.sin, SCALAR, x, vmap_method="loop"))(F32(1))


def test_a_batch_of_unknown_size() -> None:
    doubled = lambda v: adze.pure_callback(lambda q: q * 2, SCALAR, v, vmap_method="sequential")  # noqa: E731
    program = adze.trace(lambda x: adze.vmap(doubled)(x) + 1, adze.ShapeDtype(("n",), F32)).lower().compile()
    assert [program(np.ones(n, F32)).tolist() for n in (0, 2, 3)] == [[], [3] * 2, [3] * 3]


def test_derivatives_pass_debug_callbacks_by() -> None:
    sink = Sink()

    def loss(x: Any) -> Any:
        y = anp.sin(x)
        adze.debug.callback(sink, y)
        return (y**2).sum()

    primal = np.sin(X).tolist()
    for run in (
        lambda: adze.grad(loss)(X),
        lambda: adze.jvp(loss, (X,), (X,)),
        lambda: adze.grad(adze.checkpoint(loss))(X),  # the second computation calls nothing
        lambda: adze.hessian(loss)(X),
        lambda: adze.jit(adze.grad(loss))(X),
    ):
        (seen,) = sink.of(run)
        np.testing.assert_allclose(seen[0], primal, rtol=1e-6)
    seen = sink.of(lambda: adze.vmap(adze.grad(loss))(np.stack([X, X + 1])))
    np.testing.assert_allclose([s[0] for s in seen], np.sin([X, X + 1]), rtol=1e-6)


def test_callbacks_have_no_derivative_of_their_own() -> None:
    for call in (adze.pure_callback, adze.io_callback):
        with pytest.raises(ValueError, match="callback has no derivative"):
            adze.grad(lambda x, call=call: call(np.sin, SCALAR, x))(F32(1))
        value, slope = adze.jvp(
            lambda x, call=call: x * call(np.cos, SCALAR, lax.stop_gradient(x)), (F32(1),), (F32(1),)
        )
        assert float(value) == float(slope) == pytest.approx(np.cos(1))
    with_rule = adze.custom_jvp(sine)
    with_rule.defjvp(lambda p, t: (with_rule(p[0]), anp.cos(p[0]) * t[0]))
    np.testing.assert_allclose(np.asarray(adze.vmap(adze.grad(with_rule))(X)), np.cos(X), rtol=1e-6)


def test_only_elements_that_take_a_branch_have_its_effects() -> None:
    sink = Sink()

    def branch(x: Any) -> Any:
        return lax.cond(x > 0, lambda v: v + adze.io_callback(sink, SCALAR, v), lambda v: v, x)

    assert sink.of(lambda: adze.vmap(branch)(X)) == [[1], [2]]
    assert sink.of(lambda: adze.vmap(adze.vmap(branch))(X[None] - 1)) == [[1]]


def test_debug_print(capsys: pytest.CaptureFixture[str]) -> None:
    def show(x: Any) -> Any:
        adze.debug.print("x = {x:.2f}, {} {0.shape}".replace("{}", "{1}"), x, "text", x=x)
        adze.debug.print("no arguments, {{}}")
        return x

    expected = "x = 1.50, text ()\nno arguments, {}\n"
    for function in (show, adze.jit(show)):
        function(F32(1.5))
        assert capsys.readouterr().out == expected
    for wrong in ("{x}", "{} {}"):
        with pytest.raises(ArgumentError, match="does not fit its arguments"):
            adze.debug.print(wrong, 1)
    with pytest.raises(ArgumentError, match="f-string"):
        adze.jit(lambda x: adze.debug.print(f"x = {x}"))(F32(1))


def test_what_callbacks_raise_reaches_the_caller() -> None:
    def fail(x: Any) -> Any:
        raise KeyError("why")

    compiled = adze.jit(lambda x: adze.pure_callback(fail, SCALAR, x))
    with pytest.raises(KeyError):
        adze.pure_callback(fail, SCALAR, F32(1))
    for _ in range(2):
        with pytest.raises(HostCallError, match="raised KeyError: 'why'") as caught:
            compiled(F32(1))
        assert isinstance(caught.value.__cause__, KeyError)
        assert "test_compiled_callbacks.py" in str(caught.value)


def test_ctrl_c_during_a_kernel_is_no_error_of_the_callback_behind_it() -> None:
    """Python calls the handler when it enters the callback, where nothing of it can catch what is raised."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    program = adze.jit(lambda x: sine(x) + 1)
    expected = program(X)

    def press(frame: Any, event: str, _: object) -> None:
        if event == "call" and "references" in frame.f_code.co_varnames and frame.f_code.co_name == "call":
            sys.setprofile(None)
            signal.raise_signal(signal.SIGINT)

    try:
        with pytest.raises(KeyboardInterrupt):
            try:
                sys.setprofile(press)
                program(X)
            finally:
                sys.setprofile(None)
    finally:
        assert signal.signal(signal.SIGINT, before) is signal.default_int_handler
    assert program(X).tolist() == expected.tolist()


def test_an_interrupt_that_a_callback_catches_is_over() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def catches(x: Any) -> Any:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            return x * 2
        return x

    def fails(x: Any) -> Any:
        catches(x)
        raise ValueError("no more")

    try:
        called = adze.jit(lambda x: adze.pure_callback(catches, adze.ShapeDtype((3,), F32), x))
        assert called(X).tolist() == [0, 2, 4]
        with pytest.raises(HostCallError, match="ValueError: no more"):
            adze.jit(lambda x: adze.pure_callback(fails, adze.ShapeDtype((3,), F32), x))(X)
    finally:
        assert signal.signal(signal.SIGINT, before) is signal.default_int_handler


def test_results_must_be_what_was_said() -> None:
    for result, message in (
        (np.ones(2, F32), r"f32\[2\], its result_shape_dtypes say f32\[\]"),
        (np.float64(1), r"f64\[\], its result_shape_dtypes say f32\[\]"),
        ((F32(1), F32(2)), "its result_shape_dtypes are"),
    ):
        with pytest.raises(CallbackError, match=message):
            adze.pure_callback(lambda result=result: result, SCALAR)
    with pytest.raises(ArgumentError, match="sizes of a callback's results must be known"):
        adze.pure_callback(np.sin, adze.ShapeDtype(("n",), F32), X)


def test_callbacks_may_use_adze_and_see_arrays_that_cannot_be_written() -> None:
    inner = adze.jit(lambda v: v * 3)

    def callback(v: np.ndarray) -> Any:
        with pytest.raises(ValueError, match="read-only"):
            v[0] = 5
        return np.asarray(inner(v)) + np.asarray(anp.sum(v)) * 0

    function = lambda x: adze.pure_callback(callback, adze.ShapeDtype((3,), F32), x)  # noqa: E731
    assert both(function, X).tolist() == [0, 3, 6]
    assert adze.vmap(lambda x: x + adze.stop_gradient(1))(X).tolist() == [1, 2, 3]


def test_a_program_with_callbacks_cannot_be_saved(tmp_path: Path) -> None:
    compiled = adze.trace(sine, X).lower().compile()
    with pytest.raises(UnsupportedError, match=r"of this process.*compiled_callbacks\.py"):
        compiled.save(tmp_path / "f.vmfb")


def test_a_program_that_no_process_of_python_runs_cannot_call_one() -> None:
    with pytest.raises(NotImplementedError, match="a program for metal cannot call Python functions"):
        adze.trace(sine, X).lower("metal")


def test_equal_programs_are_equal_text_whatever_they_call() -> None:
    texts = {
        adze.trace(lambda x, f=f: adze.pure_callback(f, SCALAR, x), F32(1)).lower().canonical()
        for f in (np.sin, np.cos)
    }
    assert len(texts) == 1


def test_a_function_may_write_to_what_it_returned_and_keep_what_it_got() -> None:
    buffer, seen = np.zeros((), F32), list[np.ndarray]()

    def fill(x: np.ndarray) -> np.ndarray:
        seen.append(x)
        buffer[...] = x
        return buffer

    call = lambda x: adze.pure_callback(fill, SCALAR, x, vmap_method="sequential")  # noqa: E731
    first, second = call(F32(1)), call(F32(2))
    assert (float(first), float(second)) == (1, 2)
    assert both(adze.vmap(lambda x: call(x) - call(x + 4)), X).tolist() == [-4] * 3
    large = np.ones(1 << 15, F32)  # the program shares its memory
    adze.jit(lambda x: adze.debug.callback(seen.append, x))(large)
    large[:] = 2
    assert float(seen[-1].sum()) == large.size


def test_effects_with_results_run_once_where_derivatives_compute_again() -> None:
    sink = Sink()

    def step(x: Any) -> Any:
        return x * anp.sin(x) * adze.io_callback(sink, SCALAR, lax.stop_gradient(x))

    def loop(x: Any, **saving: Any) -> Any:
        return lax.fori_loop(0, 4, lambda i, c: step(c), x, **saving)

    def bounded(x: Any) -> Any:
        return lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, step(s[1])), (0, x), saved_states=2)[1]

    def slope(function: Any, calls: int) -> float:
        found: list[float] = []
        assert len(sink.of(lambda: found.append(float(adze.grad(function)(F32(1)))))) == calls
        return found[0]

    for calls, kept, again in (
        (1, step, adze.checkpoint(step)),
        (4, loop, lambda x: loop(x, checkpoint_every=2)),
    ):
        for function in (again, adze.checkpoint(again), adze.jit(again)):
            assert slope(function, calls) == pytest.approx(slope(kept, calls), rel=1e-5)
    with pytest.raises(NotImplementedError, match="would run a second time"):
        adze.grad(bounded)(F32(1))


def test_numbers_have_one_dtype_in_and_outside_of_traces() -> None:
    seen: list[Any] = []

    def look(x: Any = None) -> Any:
        adze.debug.callback(lambda a, kind, b: seen.append([a.dtype, kind, b.dtype]), 2.0, F32, 3)
        return x

    look()
    adze.jit(look)(F32(1))
    assert seen[0] == seen[1] == [F32, F32, np.dtype("int64")]


def test_a_program_of_several_functions_names_the_callback_that_it_cannot_save(tmp_path: Path) -> None:
    program = adze.Program()
    program.add(sine, adze.ShapeDtype((3,), F32))
    program.add(lambda x: x + 1, SCALAR, name="other")
    with pytest.raises(UnsupportedError, match=r"sine\(\) calls Python functions of this process"):
        program.save(tmp_path / "p.vmfb")
