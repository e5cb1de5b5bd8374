"""Calls: results, what a wrong argument says, failures inside programs, many threads at once."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adze.dialects.types import ANY
from adze.runtime.artifact.signature import ArraySpec, FunctionSignature
from adze.runtime.compile.compiler import CompiledModule, CompileOptions, ExecutionModel, compile_bytecode
from adze.runtime.errors import ArtifactError, CallError
from adze.runtime.execute.array import from_host
from adze.runtime.execute.program import Executable
from adze.runtime.targets import parse_target

from ..conftest import ADD, BOTH

DTYPES = sorted(ANY, key=str)
ONES = np.ones(4, np.float32)


@pytest.fixture(params=["local-sync", "local-task"])
def program(request: pytest.FixtureRequest, compiled: CompiledModule) -> Executable:
    return Executable(compiled.vmfb, request.param, [ADD, BOTH])


@pytest.fixture(scope="module")
def dtype_program() -> bytes:
    text = (Path(__file__).parents[1] / "dtypes.mlir").read_bytes()
    return compile_bytecode(text, parse_target("cpu")).vmfb


def test_functions_are_called_by_name(program: Executable) -> None:
    assert program.function_names[:2] == ["add", "both"]
    assert program.call("add", [ONES, ONES])[0].tolist() == [2, 2, 2, 2]
    total, difference = program.call("both", np.array([[1, 2], [3, 3]], np.float32))
    assert (total.tolist(), difference.tolist()) == ([4, 5], [-2, -1])
    assert program.call("nothing", []) == []


def test_results_are_arguments_of_the_next_call(program: Executable) -> None:
    add = program.function("add")
    assert add is program.function("add")
    value = from_host(ONES, program.device)
    for _ in range(5):
        [value] = add(value, value)
    assert value.tolist() == [32, 32, 32, 32]


def test_arrays_of_the_other_cpu_driver_are_taken(program: Executable) -> None:
    for device in ("local-sync", "local-task"):
        array = from_host(ONES, device)
        assert program.function("add")(array, array)[0].tolist() == [2, 2, 2, 2]


def test_a_result_of_one_cpu_driver_is_read_by_the_other_where_it_lies(compiled: CompiledModule) -> None:
    """And outlives the array that the first program was given."""
    pooled, plain = (Executable(compiled.vmfb, d, [ADD, BOTH]) for d in ("local-task", "local-sync"))
    value = from_host(ONES, "local-task")
    for program in (plain, pooled) * 20:
        [value] = program.function("add")(value, from_host(np.zeros(4, np.float32), "local-sync"))
    assert value.device is pooled.device
    assert value.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_is_computed_and_comes_back(dtype: np.dtype, dtype_program: bytes) -> None:
    """The signature says which integers are unsigned: the program has forgotten."""
    name = f"twice_{dtype}"
    spec = ArraySpec("a", dtype, ("n", 2))
    program = Executable(dtype_program, "local-sync", [FunctionSignature(name, (spec,), (spec,))])
    for rows in (0, 1, 5):
        host = np.arange(rows * 2).reshape(rows, 2).astype(dtype)
        [result] = program.call(name, [host])
        assert result.dtype == dtype
        expected = np.zeros_like(host) if dtype == np.bool_ else host + host
        np.testing.assert_array_equal(result.numpy(), expected)


def test_signatures_are_read_from_foreign_programs(dtype_program: bytes) -> None:
    program = Executable(dtype_program)
    assert str(program.function("twice_float64").signature) == (
        "twice_float64(input0: f64[?,2]) -> (output0: f64[?,2])"
    )
    assert str(program.function("twice_complex64").signature) == (
        "twice_complex64(input0: c64[?,2]) -> (output0: c64[?,2])"
    )


def wrong(message: str, name: str, *arguments: Any) -> Any:
    return pytest.param(name, arguments, message, id=f"{name}: {message[:40]}")


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        wrong(
            "add() takes 2 arguments and 1 was given\n"
            "  hint: it is add(left: f32[4], right: f32[4]) -> (sum: f32[4])",
            "add",
            ONES,
        ),
        wrong("add() takes 2 arguments and 3 were given", "add", ONES, ONES, ONES),
        wrong(
            "add(): argument 'right' is f64[4]: expected f32[4]\n  hint: convert it: right.astype('float32')",
            "add",
            ONES,
            np.ones(4),
        ),
        wrong("add(): argument 'left' is i64[4]: expected f32[4]", "add", [1, 2, 3, 4], ONES),
        wrong("add(): argument 'right' has size 3 along axis 0: expected 4, f32[4]", "add", ONES, ONES[:3]),
        wrong("add(): argument 'right' has 2 dims, (4, 1): expected 1, f32[4]", "add", ONES, ONES[:, None]),
        wrong("add(): argument 'left' has 0 dims, (): expected 1, f32[4]", "add", np.float32(1), ONES),
        wrong(
            "both(): argument 'right' has size 3 along axis 0, which is dim 'n': expected 4, the size of "
            "axis 0 of 'left'",
            "both",
            ONES,
            ONES[:3],
        ),
        wrong("the program has no function 'sub': it has add, both, checked", "sub", ONES),
        wrong("checked(): dim 'n' must be even (model.py:12)", "checked", ONES[:3]),
        wrong("zeros(): the device has not enough memory: ", "zeros", np.int64(10**15)),
    ],
)
def test_a_failed_call_says_what_is_wrong(
    program: Executable, name: str, arguments: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(CallError) as caught:
        program.call(name, arguments)
    assert str(caught.value).startswith(message)


def test_the_program_is_usable_after_a_failed_call(program: Executable) -> None:
    for _ in range(3):
        with pytest.raises(CallError, match=re.escape("dim 'n' must be even")):
            program.call("checked", [ONES[:1]])
    assert program.call("checked", [ONES])[0].tolist() == [1, 1, 1, 1]


def test_the_fast_way_wants_device_arrays(program: Executable) -> None:
    with pytest.raises(CallError, match=r"add\(\): argument 0 is ndarray: expected DeviceArray"):
        program.function("add")(ONES, ONES)  # type: ignore[arg-type]
    with pytest.raises(CallError, match=r"add\(\): argument 1 is int: expected DeviceArray"):
        program.function("add")(from_host(ONES), 1)  # type: ignore[arg-type]


def test_empty_and_zero_dimensional_arguments(program: Executable) -> None:
    empty = np.empty(0, np.float32)
    assert [result.shape for result in program.call("both", [empty, empty])] == [(0,), (0,)]
    assert program.call("zeros", [np.int64(0)])[0].shape == (0,)
    assert program.call("zeros", [np.array(3)])[0].tolist() == [0, 0, 0]


def test_a_result_never_changes_with_an_argument(program: Executable) -> None:
    raw = np.zeros(1 << 16, np.float32)
    start = (-raw.ctypes.data) % 64 // 4
    host = raw[start : start + (1 << 15)]  # large and aligned: shared for the call
    [result] = program.call("same", [host])
    host[0] = 1
    assert result.numpy()[0] == 0


def test_many_threads_call_one_function(program: Executable) -> None:
    both = program.function("both")

    def work(seed: int) -> bool:
        values = np.random.default_rng(seed).random((2, 1000 + seed), np.float32)
        for _ in range(30):
            total, difference = both.call(values)
            if not (total.numpy() == values[0] + values[1]).all():
                return False
            if not (difference.numpy() == values[0] - values[1]).all():
                return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


def test_functions_carry_their_reflection(program: Executable) -> None:
    assert program.reflection("add")["iree.abi.declaration"].startswith("sync func @add(")


@pytest.mark.parametrize(
    ("vmfb", "message"),
    [(b"", "not a program that IREE can load: "), (b"x" * 1000, "not a program that IREE can load: ")],
    ids=["empty", "text"],
)
def test_what_is_not_a_program_is_refused(vmfb: bytes, message: str) -> None:
    with pytest.raises(ArtifactError) as caught:
        Executable(vmfb)
    assert caught.value.message.startswith(message)


def test_a_program_for_another_device_is_refused() -> None:
    vmfb = compile_bytecode(
        b"func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> { %0 = math.exp %a : tensor<4xf32>\n"
        b" return %0 : tensor<4xf32> }",
        parse_target("vulkan:ampere"),
    ).vmfb
    with pytest.raises(ArtifactError) as caught:
        Executable(vmfb, "local-sync")
    assert caught.value.message == (
        "the program was not compiled for local-sync (CPU, on the thread of the caller)"
    )


def test_an_inline_program_says_who_can_run_it(programs_text: bytes) -> None:
    options = CompileOptions(execution_model=ExecutionModel.INLINE_DYNAMIC)
    vmfb = compile_bytecode(programs_text, parse_target("cpu"), options).vmfb
    with pytest.raises(
        ArtifactError, match="inline execution model, which IREE's Python runtime cannot load"
    ):
        Executable(vmfb, "local-sync")
