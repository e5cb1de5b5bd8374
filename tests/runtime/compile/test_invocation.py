"""Phases that run as pipelines of named passes, in other sessions or in halves, end as the phases do."""

from __future__ import annotations

import gc
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.runtime.compile import compiler, halves, invocation
from adze.runtime.compile.compiler import NO_CONSTANT_EXPRESSIONS, CompileOptions, compile_bytecode
from adze.runtime.compile.invocation import Invocation
from adze.runtime.compile.libraries import without_libraries
from adze.runtime.compile.pipelines import (
    SOURCES_OF_MANY_ARRAYS,
    STREAM,
    STREAM_OF_MANY_ARRAYS,
    STREAM_WITHOUT_GLOBALS,
    stated_devices,
    until_flow,
    until_llvm,
)
from adze.runtime.compile.strategy import CONSTANTS_LATER, FUSE_LESS, ONE_USE
from adze.runtime.targets import parse_target


def loss(weights: list[tuple[np.ndarray, np.ndarray]], x: np.ndarray) -> np.ndarray:
    for w, b in weights:
        x = np.tanh(x @ w + b)
    return (x**2).sum()


def running_sum(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    def step(carry: np.ndarray, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return carry + row.sum() * carry, np.sort(carry)

    return adze.lax.scan(step, x[0], x)


NOISE = np.random.default_rng(0).normal(size=(64, 64)).astype(np.float32)
PROGRAMS = {
    "gradient of two layers": (
        adze.value_and_grad(loss),
        ([(np.ones((4, 6), np.float32), np.ones(6, np.float32))] * 2, np.ones((3, 4), np.float32)),
    ),
    "scan": (running_sum, (np.ones((5, 7), np.float32),)),
    "constants that IREE evaluates": (
        lambda x: x @ (np.sin(anp.asarray(NOISE)) @ anp.asarray(NOISE)),
        (np.ones((3, 64), np.float32),),
    ),
    "arrays given twice": (lambda x, y: ((z := x * y + 1), z, x, (x, z)), (np.ones(3), np.ones((2, 3)))),
    "dynamic sizes": (lambda x, y: x @ y, (adze.ShapeDtype(("n", 3)), adze.ShapeDtype((3, "m")))),
}
PROGRAMS["gradient of two layers"][1][0][1] = (np.ones((6, 2), np.float32), np.ones(2, np.float32))


NAMES = re.compile(r"%[\w#:-]+|\^bb\d+|, |ordinal = \d+")


@contextmanager
def finished(operations: list[list[str]]) -> Iterator[None]:
    """Each program that is compiled meanwhile: its operations and constants in alphabetical order, without
    the names of values. Its machine code is one of the constants."""
    write = Invocation.program

    def noted(self: Invocation) -> bytes | None:
        operations.append(sorted(NAMES.sub("", line).strip() for line in self.text().splitlines()))
        return write(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Invocation, "program", noted)
        yield


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("target", ["cpu", "cpu:x86-64-v3", "cuda", "vulkan:lavapipe"])
def test_pipelines_make_the_programs_that_phases_make(
    name: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also their bytes, where the halves of a program are not compiled apart."""
    function, arguments = PROGRAMS[name]
    lowered = adze.trace(function, *arguments).lower(target)
    programs: list[list[str]] = []
    with finished(programs):
        with_pipelines = lowered.compile(cache=False).vmfb
    monkeypatch.setattr(invocation, "_PIPELINES", {})
    monkeypatch.setattr(invocation, "until_flow", lambda flags: {})
    monkeypatch.setattr(invocation, "until_llvm", lambda flags: {})
    monkeypatch.setattr(Invocation, "_is_divided", lambda self: False)
    monkeypatch.setattr(invocation, "gains_of_bodies_apart", lambda program: False)
    monkeypatch.setattr(invocation, "has_own_kernels", lambda program: False)
    with finished(programs):
        with_phases = lowered.compile(cache=False).vmfb
    first, *others = programs
    assert others and all(each == first for each in others)
    assert target.startswith("cpu") or with_phases == with_pipelines


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_without_globals_are_scheduled_with_fewer_clean_ups(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    function, arguments = PROGRAMS[name]
    pipelines: list[str] = []
    run = Invocation._run_pipeline

    def noted(self: Invocation, passes: str) -> bool:
        pipelines.append(passes)
        return run(self, passes)

    monkeypatch.setattr(Invocation, "_run_pipeline", noted)
    adze.trace(function, *arguments).lower("cpu").compile(cache=False)
    has_globals = name == "constants that IREE evaluates"
    assert (STREAM in pipelines) == has_globals
    assert (STREAM_WITHOUT_GLOBALS in pipelines) != has_globals


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_many_arrays_are_the_same_without_comparing_these(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    function, arguments = PROGRAMS[name]
    lowered = adze.trace(function, *arguments).lower("cpu")
    programs: list[list[str]] = []
    pipelines: list[str] = []
    run = Invocation._run_pipeline

    def noted(self: Invocation, passes: str) -> bool:
        pipelines.append(passes)
        return run(self, passes)

    with finished(programs):
        lowered.compile(cache=False)
        monkeypatch.setattr(invocation, "_OF_FEW_ARRAYS", 0)
        monkeypatch.setattr(Invocation, "_run_pipeline", noted)
        lowered.compile(cache=False)
    assert all(each == programs[0] for each in programs)
    has_globals = name == "constants that IREE evaluates"
    assert {STREAM_OF_MANY_ARRAYS, SOURCES_OF_MANY_ARRAYS}.isdisjoint(pipelines) == has_globals


def test_constants_that_iree_evaluates_begin_again_with_its_phases(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[bool] = []
    evaluated = Invocation._has_evaluated_all

    def watched(self: Invocation) -> bool:
        result = evaluated(self)
        begun.append(not self._until_flow)
        return result

    monkeypatch.setattr(Invocation, "_has_evaluated_all", watched)
    for name in ("constants that IREE evaluates", "gradient of two layers"):
        function, arguments = PROGRAMS[name]
        adze.trace(function, *arguments).lower("cpu").compile(cache=False)
    assert begun == [True, False]


def test_flags_of_passes_are_options_of_pipelines_or_keep_the_phases() -> None:
    flags = CompileOptions(extra_flags=(FUSE_LESS, ONE_USE, CONSTANTS_LATER)).flags()
    passes = until_flow(flags)
    assert "{aggressive-fusion=false data-tiling=false fuse-multi-use=false}" in passes["dispatch-creation"]
    assert "strip-assertions=false" in passes["global-optimization"]
    kept = until_flow((*flags, NO_CONSTANT_EXPRESSIONS))
    assert all("const-expr-hoisting=false" in kept[p] for p in ("global-optimization", "dispatch-creation"))
    assert until_flow((*flags, "--iree-opt-data-tiling=true")) == {}
    assert until_flow(CompileOptions(optimization="O2").flags()) == {}
    assert until_flow(()) == {}


def test_devices_are_stated_in_full_or_not_at_all() -> None:
    flag = "--iree-hal-target-device=__device_0=#hal.device.target<'local', []>"
    assert stated_devices(("--other", flag)) == "{__device_0 = #hal.device.target<'local', []>}"
    assert stated_devices((flag, flag)) is None
    assert stated_devices(("--iree-hal-target-device=local",)) is None


def test_a_large_module_stays_in_its_session(monkeypatch: pytest.MonkeyPatch) -> None:
    module = b"func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }"
    expected = compile_bytecode(module, parse_target("cpu")).vmfb
    monkeypatch.setattr(invocation, "_MOST_COPIED", 0)

    def refuse(self: Invocation) -> None:
        raise AssertionError("a new session")

    monkeypatch.setattr(Invocation, "_renew", refuse)
    assert compile_bytecode(module, parse_target("cpu")).vmfb == expected


def test_a_large_module_is_written_only_for_who_asks_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at the bytes of 1 GB of constants took ten seconds."""
    module = adze.trace(lambda x: anp.sum(anp.sin(x) * x, axis=1), np.ones((9, 40), np.float32))
    bytecode = module.lower("cpu").bytecode()
    programs: list[list[str]] = []
    with finished(programs):
        compile_bytecode(bytecode, parse_target("cpu"))
    monkeypatch.setattr(invocation, "_MOST_COPIED", 0)
    written, own = [], Invocation._own_bytecode

    def noted(self: Invocation) -> bytes:
        written.append(sys._getframe(1).f_code.co_name)
        return own(self)

    monkeypatch.setattr(Invocation, "_own_bytecode", noted)
    with finished(programs):
        compile_bytecode(bytecode, parse_target("cpu"))
    assert programs[0] == programs[-1]
    assert set(written) == {"bytecode"}


def test_other_execution_models_keep_their_phases() -> None:
    model = compiler.ExecutionModel.INLINE_DYNAMIC
    for options, has_pipelines in ((CompileOptions(), True), (CompileOptions(execution_model=model), False)):
        with Invocation((*parse_target("cpu").flags, *options.flags()), []) as begun:
            assert (begun._pipeline_behind("flow") is not None) is has_pipelines
            assert (begun._pipeline_behind("stream") is not None) is has_pipelines
            assert begun._pipeline_behind("executable-sources") is None


@pytest.mark.parametrize(
    ("target", "is_divided"), [("cpu", True), ("vulkan:lavapipe", False), ("cuda", False)]
)
def test_halves_are_compiled_apart_for_cpus_behind_the_code_of_kernels(target: str, is_divided: bool) -> None:
    with Invocation((*parse_target(target).flags, *CompileOptions().flags()), []) as begun:
        assert not begun._is_divided()
        begun._phase = "executable-targets"
        assert begun._is_divided() is is_divided


def pressing_at(place: int) -> Callable[..., None]:
    """A profiler that presses Ctrl-C where code that holds what the compiler made begins or ends."""
    seen = 0

    def profile(frame: Any, event: str, _: object) -> None:
        nonlocal seen
        if frame.f_code.co_filename.endswith(("invocation.py", "ctypes_dl.py")):
            seen += 1
            if seen == place:
                sys.setprofile(None)
                signal.raise_signal(signal.SIGINT)

    return profile


def sessions() -> list[Any]:
    """The compiler's sessions that are open."""
    from iree.compiler.api.ctypes_dl import Session

    return [each for each in gc.get_objects() if isinstance(each, Session) and each._session_p]


def test_ctrl_c_leaves_nothing_of_the_compiler_open() -> None:
    """What is open when Python ends is closed in any order, which ended the process with a SIGSEGV."""
    module = adze.trace(running_sum, np.zeros((3, 4), np.float32)).lower("cpu").bytecode()
    compile_bytecode(module, parse_target("cpu"))
    assert sessions() == []
    before, place, interrupted = signal.signal(signal.SIGINT, signal.default_int_handler), 1, 0
    try:
        while interrupted == place - 1:
            sys.setprofile(pressing_at(1 + 17 * (place - 1)))
            try:
                compile_bytecode(module, parse_target("cpu"))
            except KeyboardInterrupt:
                interrupted += 1
            finally:
                sys.setprofile(None)
            assert sessions() == [], f"place {place}"
            place += 1
    finally:
        signal.signal(signal.SIGINT, before)
    assert interrupted > 8


def test_a_host_that_does_not_call_every_kernel_is_compiled_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    lowered = adze.trace(lambda x: x * 2 + 1, np.ones(4, np.float32)).lower("cpu")
    programs: list[list[str]] = []
    with finished(programs):
        lowered.compile(cache=False)
    refused = []

    def refuse(host: bytes, kernels: bytes, exports: tuple[str, ...]) -> bytes | None:
        refused.append(halves.joined(host, kernels, (*exports, "another")))
        return refused[-1]

    monkeypatch.setattr(invocation, "joined", refuse)
    with finished(programs):
        lowered.compile(cache=False)
    assert programs[0] == programs[-1]
    assert refused == [None]


def test_kernels_become_llvm_by_pipelines_where_these_see_all_flags() -> None:
    named = (*parse_target("cpu").flags, *CompileOptions().flags())
    assert until_llvm(named) == {}
    lean = without_libraries(named)
    if lean is None:
        pytest.skip("programs for this processor are compiled with libraries")
    assert list(until_llvm(lean)) == ["executable-configurations", "executable-targets"]
    assert until_llvm((*lean, *compiler.VECTORIZE_LOOPS)) == until_llvm(lean)
    assert until_llvm((*lean, "--iree-llvmcpu-reassociate-fp-reductions=false")) == {}
    assert until_llvm((*lean, "--iree-hal-dump-executable-sources-to=-")) == {}
    assert until_llvm(without_libraries(tuple(f.replace("=O3", "=O2") for f in named)) or ()) == {}


@pytest.mark.parametrize(
    "function", [lambda x: x * 2 + 1, lambda x: np.tanh(x)[::-1], lambda x: x @ x, lambda x: x.sum(axis=1)]
)
def test_sums_are_added_up_in_the_order_of_iree_s_phase(
    function: Callable[[np.ndarray], np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its level a pipeline keeps the order of a sum of floats, and the phase does not (IREE 3.13)."""
    run: list[str] = []
    run_pipeline = Invocation._run_pipeline

    def noted(self: Invocation, passes: str) -> bool:
        run.append(passes)
        return run_pipeline(self, passes)

    monkeypatch.setattr(Invocation, "_run_pipeline", noted)
    lowered = adze.trace(function, np.ones((6, 6), np.float32)).lower("cpu")
    vmfb = lowered.compile(cache=False).vmfb
    if not any("configuration-pipeline" in each for each in run):
        pytest.skip("programs for this processor are compiled with libraries")
    assert any("lowering-pipeline" in each for each in run)
    monkeypatch.setattr(invocation, "until_llvm", lambda flags: {})
    assert lowered.compile(cache=False).vmfb == vmfb
