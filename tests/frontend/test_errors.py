"""What bad input gets: each mistake a user can make while tracing or calling, and the exact text."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.frontend.staging import modules
from adze.runtime.compile import cache

X = np.ones((2, 3), np.float32)


def text_of(call: Callable[[], Any]) -> str:
    """The whole text of the AdzeError that a call raises."""
    with pytest.raises(adze.AdzeError) as caught:
        call()
    return str(caught.value)


def line_of(function: Callable[..., Any], offset: int = 0) -> str:
    """A line of this file, counted from where a function begins."""
    return f"{__file__}:{function.__code__.co_firstlineno + offset}"


VALUE_WANTED = {
    "bool": (
        lambda x: x if x.sum() > 0 else -x,
        "bool() of a traced array: i1[]",
        "use adze.numpy.where for a choice of values, adze.cond for a branch, or static_argnums",
    ),
    "int": (
        lambda x: int(x[0, 0]),
        "int() of a traced array: f32[]",
        "pass the value through static_argnums, or keep it an array (.astype)",
    ),
    "float": (
        lambda x: float(x[0, 0]),
        "float() of a traced array: f32[]",
        "keep it an array (.astype), or pass it through static_argnums",
    ),
    "complex": (
        lambda x: complex(x[0, 0]),
        "complex() of a traced array: f32[]",
        "keep it an array (.astype), or pass it through static_argnums",
    ),
    "index of a list": (
        lambda x: [1, 2][x[0, 0].astype(int)],
        "a Python integer of a traced array: i64[]",
        "index with the array itself (x[i]), or pass the number through static_argnums",
    ),
    "size of zeros": (
        lambda x: anp.zeros(x[0, 0].astype(int)),
        "a size for zeros() of a traced array: i64[]",
        "sizes are part of types: take them from x.shape, or pass the number through static_argnums",
    ),
    "size in a shape": (
        lambda x: anp.broadcast_to(x, (x[0, 0].astype(int), 2, 3)),
        "a size for broadcast_to() of a traced array: i64[]",
        "sizes are part of types: take them from x.shape, or pass the number through static_argnums",
    ),
    "numpy.asarray": (
        lambda x: np.asarray(x),
        "numpy.asarray() of a traced array: f32[2,3]",
        "use adze.numpy instead of numpy on traced values, or compute it outside",
    ),
    "item": (
        lambda x: x[0, 0].item(),
        "item() of a traced array: f32[]",
        "return the array and convert it outside the traced function",
    ),
    "tolist": (
        lambda x: (x + 1).tolist(),
        "tolist() of a traced array: f32[2,3]",
        "return the array and convert it outside the traced function",
    ),
    "format": (
        lambda x: f"{x:.2f}",
        "formatting with '.2f' of a traced array: f32[2,3]",
        "return the array and format it outside the traced function",
    ),
}


@pytest.mark.parametrize("wanted", VALUE_WANTED)
def test_a_traced_array_has_no_value(wanted: str) -> None:
    function, message, hint = VALUE_WANTED[wanted]
    where = line_of(function)
    assert text_of(lambda: adze.jit(function)(X)) == (
        f"{message} has no value while tracing (it comes from {where})\n  at {where}\n  hint: {hint}"
    )


def test_a_0d_array_has_no_length_and_no_items() -> None:
    assert text_of(lambda: adze.jit(lambda x: len(x.sum()))(X)).startswith("len() of a 0-d array\n  at ")
    assert text_of(lambda: adze.jit(lambda x: list(x.sum()))(X)).startswith(
        "iteration over a 0-d array\n  at "
    )


def test_item_assignment_names_the_way_out() -> None:
    def assign(x: Any) -> Any:
        x[0] = 1
        return x

    assert text_of(lambda: adze.jit(assign)(X)) == (
        "arrays of adze are immutable: item assignment x[...] = y is not possible\n"
        f"  at {line_of(assign, 1)}\n"
        "  hint: write x = x.at[index].set(y); .add .mul .min .max exist too"
    )
    assert text_of(lambda: assign(anp.asarray(X))).startswith("arrays of adze are immutable")


# -- leaks -------------------------------------------------------------------------------------------

kept: list[Any] = []
HINT_LEAK = "\n  hint: return it from the function instead of storing it in a list, an attribute or a global"


def keep_in_list(x: Any) -> Any:
    kept.append(x * 2)
    return x


def test_a_tracer_from_a_list_tells_where_it_was_made_and_where_it_is_used() -> None:
    kept.clear()
    adze.jit(keep_in_list)(X)

    def use() -> Any:
        return kept[0] + 1

    assert text_of(use) == (
        "a traced value of type f32[2,3] was used after its trace had ended "
        f"(it comes from {line_of(keep_in_list, 1)})\n  at {line_of(use, 1)}{HINT_LEAK}"
    )


@pytest.mark.parametrize(
    "use",
    [
        lambda: anp.sin(kept[0]),
        lambda: np.exp(kept[0]),
        lambda: adze.jit(lambda x: x + kept[0])(X),
        lambda: adze.jit(lambda x: x)(kept[0]),
        lambda: adze.jit(lambda x: (x, kept[0]))(X),
        lambda: kept[0].sum(),
    ],
    ids=["function", "numpy", "other trace", "argument", "result", "method"],
)
def test_a_leaked_tracer_is_an_error_wherever_it_appears(use: Callable[[], Any]) -> None:
    kept.clear()
    adze.jit(keep_in_list)(X)
    assert "was used after its trace had ended" in text_of(use)


def test_a_tracer_of_an_inner_function_must_not_leave_it() -> None:
    def outer(x: Any) -> Any:
        held = []

        @adze.jit
        def inner(y: Any) -> Any:
            held.append(y * 2)
            return y

        return inner(x) + held[0]

    assert "was used after its trace had ended" in text_of(lambda: adze.jit(outer)(X))


def test_a_leaked_tracer_can_still_be_printed() -> None:
    kept.clear()
    adze.jit(keep_in_list)(X)
    assert repr(kept[0]) == "Tracer<f32[2,3]>" == f"{kept[0]}"


def test_a_trace_that_failed_leaves_no_trace_open() -> None:
    text_of(lambda: adze.jit(lambda x: bool(x))(X))
    assert isinstance(anp.asarray(X) + 1, adze.Array)


# -- results and arguments ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: {"a": x, "b": "no"}, "lambda returns str ('no') at result['b']"),
        (
            lambda x: (x, len),
            "lambda returns builtin_function_or_method ('<built-in function len>') at result[1]",
        ),
        (lambda x: ValueError, "lambda returns type (\"<class 'ValueError'>\") at result"),
    ],
    ids=["text", "function", "class"],
)
def test_a_function_must_give_arrays(function: Callable[..., Any], message: str) -> None:
    assert text_of(lambda: adze.jit(function)(X)) == (
        f"{message}, expected an array\n  at {line_of(function)}\n"
        "  hint: return arrays, numbers, or dicts, lists, tuples and registered classes of them"
    )


STATIC_HINT = "\n  hint: pass values that are not arrays through static_argnums or static_argnames"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("train", "argument 'mode' is str ('train'), expected an array or a number"),
        (len, "argument 'mode' is builtin_function_or_method ('<built-in function len>'), "
              "expected an array or a number"),
        (np.array(["a"]), "argument 'mode': arrays of dtype <U1 have no counterpart: expected bools, "
                          "integers, floats, complex"),
    ],
    ids=["text", "function", "array of text"],
)  # fmt: skip
def test_an_argument_that_is_no_array_is_named(value: Any, message: str) -> None:
    def step(x: Any, mode: Any) -> Any:
        return x

    def call() -> Any:
        return adze.jit(step)(X, value)

    assert text_of(call) == f"{message}\n  at {line_of(call, 1)}{STATIC_HINT}"


def test_a_dtype_beyond_the_dialect_is_named() -> None:
    text = text_of(lambda: adze.jit(lambda x: x)(np.ones(2, np.longdouble)))
    assert text.startswith(f"argument 'x': dtype {np.dtype(np.longdouble)} is not supported: expected one of")


def test_a_python_integer_beyond_64_bits_is_refused() -> None:
    assert text_of(lambda: adze.jit(lambda x, n: x + n)(X, 2**70)).startswith(
        "argument 'n': Python integer 1180591620717411303424 does not fit in 64 bits\n"
    )


def test_an_unhashable_static_argument_is_refused() -> None:
    def reshape(x: Any, shape: Any) -> Any:
        return x.reshape(shape)

    def call() -> Any:
        return adze.jit(reshape, static_argnums=1)(X, [3, 2])

    assert text_of(call) == (
        f"static argument 1 of reshape is list, which cannot be hashed\n  at {line_of(call, 1)}\n"
        "  hint: pass a tuple instead of a list, or make the argument an array argument"
    )


def test_static_arguments_must_be_parameters() -> None:
    def scale(x: Any, n: Any) -> Any:
        return x * n

    assert text_of(lambda: adze.jit(scale, static_argnames="k")).startswith(
        "static_argnames ['k'] are no parameters of scale(x, n)\n"
    )
    assert text_of(lambda: adze.jit(scale, static_argnums=(0, 5))).startswith(
        "static_argnums [5] are no parameters of scale(x, n)\n"
    )


def test_only_functions_can_be_compiled() -> None:
    assert text_of(lambda: adze.jit(3)).startswith("jit expects a function, got int\n")  # type: ignore[arg-type]
    assert text_of(lambda: adze.explain_retrace(len)).startswith(  # type: ignore[arg-type]
        "explain_retrace expects a function made by adze.jit, got builtin_function_or_method\n"
    )


def test_calling_with_a_spec_is_refused() -> None:
    assert text_of(lambda: adze.jit(lambda x: x)(adze.ShapeDtype((2,)))).startswith(
        "a compiled function was called with a spec, f32[2]\n"
    )


def test_a_wrong_number_of_arguments_is_pythons_own_error() -> None:
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        adze.jit(lambda x: x)(X, X)


# -- programs ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compiled() -> Any:
    def scaled(x: Any, weights: Any) -> Any:
        return x * weights["w"]

    return adze.jit(scaled).trace(X, {"w": X}).lower().compile()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((X, {"v": X}), "scaled() was compiled for arguments (*, {'w': *}), got (*, {'v': *})"),
        ((X,), "scaled() was compiled for arguments (*, {'w': *}), got (*)"),
        ((X.astype(np.float64), {"w": X}), "scaled(): argument 'x' is f64[2,3]: expected f32[2,3]"),
        ((X, {"w": X[:1]}),
         "scaled(): argument \"weights['w']\" has size 1 along axis 0: expected 2, f32[2,3]"),
        ((X, {"w": X[0]}), "scaled(): argument \"weights['w']\" has 1 dim, (3,): expected 2, f32[2,3]"),
        (("x", {"w": X}), "expected an array or a number, got str: 'x'"),
    ],
    ids=["tree", "count", "dtype", "size", "rank", "text"],
)  # fmt: skip
def test_a_compiled_program_takes_exactly_what_it_was_made_for(
    compiled: Any, arguments: Any, message: str
) -> None:
    def call() -> Any:
        return compiled(*arguments)

    text = text_of(call)
    assert text.startswith(f"{message}\n  at {line_of(call, 1)}"), text


def test_python_numbers_that_a_parameter_cannot_hold_are_refused() -> None:
    program = adze.jit(lambda x, n: x + n).trace(X, np.int8(1)).lower().compile()
    assert np.array_equal(program(X, 5), X + 5)
    assert text_of(lambda: program(X, 1.5)).startswith(
        "an argument of dtype int8 was given the Python float 1.5\n"
    )
    assert text_of(lambda: program(X, 300)).startswith(
        "Python integer 300 is out of range for int8 (-128 to 127)\n"
    )


def test_unknown_stages_targets_and_devices_are_refused_with_what_exists() -> None:
    traced = adze.trace(lambda x: x, X)
    assert text_of(lambda: traced.mlir("optimised")).startswith(
        "there is no stage 'optimised': expected traced, simplified, partitioned, linalg or kernels\n"
    )

    def lower() -> Any:
        return traced.lower("tpu")

    text = text_of(lower)
    assert text.startswith(
        "unknown target 'tpu': expected cpu, vulkan, cuda or rocm, each optionally with a detail after a "
        "colon, or metal\n"
        f"  at {line_of(lower, 1)}\n  hint: the targets are cpu, cpu:generic, "
    )
    assert text_of(lambda: adze.jit(lambda x: x, device="gpu:0")(X)).startswith("unknown device 'gpu:0'")
    assert text_of(lambda: adze.device_put(X, "cuda:99")).startswith(
        "there is no device 'cuda:99' on this machine"
    )


def test_a_full_disk_while_caching_costs_nothing_but_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setenv("ADZE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(cache, "write_atomically", full)
    program = adze.trace(lambda x: x * 3 + 1, X).lower().compile()
    assert np.array_equal(program(X), X * 3 + 1)
    assert program.report.record.warnings == (
        f"the compiled program was not cached in {tmp_path}: No space left on device",
    )
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


def test_a_dump_folder_that_cannot_be_written_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setenv("ADZE_DUMP_DIR", str(tmp_path))
    monkeypatch.setattr(modules, "write_atomically", full)
    text = text_of(lambda: adze.trace(lambda x: x, X).lower())
    assert text.startswith(f"cannot write {tmp_path}/lambda-") and text.endswith(
        "00-traced.mlir: No space left on device\n"
        "  hint: ADZE_DUMP_DIR asks for this file: unset it, or name a folder that can be written"
    )


def test_a_missing_artifact_is_named() -> None:
    assert text_of(lambda: adze.load("nothing.vmfb")).startswith("nothing.vmfb: there is no such file\n  at ")


def test_range_of_a_traced_number_is_named() -> None:
    message = text_of(lambda: adze.jit(lambda x: list(range(x[0, 0].astype(int))))(X))
    assert message.startswith("range() of a traced array: i64[] has no value while tracing")
    assert message.endswith(
        "hint: use adze.fori_loop for a loop with traced bounds, or pass them through static_argnums"
    )


@pytest.mark.parametrize("name", ["unique", "unique_all", "unique_counts", "unique_inverse", "unique_values"])
def test_function_without_a_size_is_called_by_its_name(name: str) -> None:
    message = text_of(lambda: adze.jit(getattr(anp, name))(X))
    assert message.startswith(f"{name} of a traced array f32[2,3] has a shape that depends on values")
    assert f"{name}(x, size=n)" in message


@pytest.mark.parametrize("traced", [True, False])
def test_loop_is_called_by_its_name(traced: bool) -> None:
    def loop(x: Any) -> Any:
        return adze.fori_loop(0, 3, lambda i, c: (c, c), x)

    message = text_of(lambda: adze.jit(loop)(X) if traced else loop(X))
    assert message.startswith("the carry of fori_loop changes its tree:")
