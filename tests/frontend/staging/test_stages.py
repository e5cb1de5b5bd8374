"""`Traced -> Lowered -> Compiled`: what each stage shows, what it costs, what it leaves behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze import ShapeDtype
from adze.frontend.staging.lowering import lowered_module
from adze.frontend.tracing.interpreter import ops
from adze.runtime.compile.compiler import UNROLL_LOOPS, VECTORIZE_LOOPS

X = np.ones((8, 784), np.float32)
W = np.ones((784, 10), np.float32)


def predict(x: Any, w: Any) -> Any:
    return anp.tanh(x @ w).sum(axis=0)


@pytest.fixture
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("ADZE_CACHE_DIR", str(folder))
    return folder


def test_every_stage_prints_itself_in_one_line() -> None:
    traced = adze.jit(predict).trace(X, W)
    lowered = traced.lower("cpu:x86-64-v3")
    signature = "predict(x: f32[8,784], w: f32[784,10]) -> (f32[10])"
    assert repr(traced) == f"Traced({signature})"
    assert repr(lowered) == f"Lowered({signature}, target=cpu:x86-64-v3)"
    compiled = traced.lower().compile()
    assert repr(compiled) == f"Compiled({signature}, target=cpu, {len(compiled.vmfb)} bytes)"


def test_every_stage_shows_its_ir() -> None:
    traced = adze.trace(lambda x, w: predict(x, w) * 1 + 0, X, W)
    assert '"adze.dot_general"' in traced.mlir() and "adze.mul" in traced.mlir()
    assert "adze.mul" not in traced.mlir("simplified")
    linalg = traced.mlir("linalg")
    assert '"adze.' not in linalg and "linalg." in linalg and linalg == str(traced.lower())
    compiled = traced.lower().compile()
    for stage in ("traced", "simplified", "mark-barriers", "convert", "linalg"):
        assert compiled.mlir(stage) == traced.mlir(stage)
    generic = traced.lower("cpu:x86-64-v3").compile()
    assert 'adze.target = "cpu:x86-64-v3"' in generic.mlir("plan")
    assert compiled.cost() == traced.lower().cost() == traced.cost()


def test_stages_compute_what_the_function_does() -> None:
    compiled = adze.jit(predict).trace(ShapeDtype((8, 784)), ShapeDtype((784, 10))).lower().compile()
    x = np.random.default_rng(0).normal(size=(8, 784)).astype(np.float32) / 28
    np.testing.assert_allclose(compiled(x, W), predict(x, W), rtol=1e-4, atol=1e-4)
    assert compiled.device in ("local-sync", "local-task")


# -- cost --------------------------------------------------------------------------------------------


def test_cost_counts_products_elementwise_work_and_what_is_alive() -> None:
    cost = adze.trace(predict, X, W).cost()
    product, elementwise, reduction = 2 * 8 * 784 * 10, 8 * 10, 8 * 10
    assert cost.flops == product + elementwise + reduction
    moved = (8 * 784 + 784 * 10 + 80) + (80 + 80) + (80 + 10)
    assert cost.bytes_moved == 4 * moved
    assert cost.peak_bytes == 4 * (8 * 784 + 784 * 10 + 80)
    assert str(cost) == "126 kflop, 57.8 kB moved, 56.8 kB alive at most"


def test_cost_of_calls_is_that_of_their_bodies_each_time() -> None:
    inner = adze.jit(lambda x: x * x)
    once = adze.trace(lambda x: inner(x), X).cost().flops
    assert once == X.size and adze.trace(lambda x: inner(inner(x)), X).cost().flops == 2 * once


def test_cost_of_movements_is_traffic_alone() -> None:
    cost = adze.trace(lambda x: x.T, X).cost()
    assert cost.flops == 0 and cost.bytes_moved == 2 * X.nbytes


def test_cost_frees_values_after_their_last_use() -> None:
    def chain(x: Any) -> Any:
        for _ in range(10):
            x = anp.sin(x)
        return x

    assert adze.trace(chain, X).cost().peak_bytes == 2 * X.nbytes


def test_cost_says_when_sizes_are_unknown() -> None:
    cost = adze.trace(predict, ShapeDtype(("n", 784)), W).cost()
    assert not cost.is_static and str(cost).endswith("(dynamic sizes counted as 1)")


# -- the persistent cache ----------------------------------------------------------------------------


def test_compiling_reports_a_miss_and_then_a_hit(fresh_cache: Path) -> None:
    first = adze.trace(lambda x: x * 5, X).lower().compile().report
    again = adze.trace(lambda x: x * 5, X).lower().compile().report
    other = adze.trace(lambda x: x * 6, X).lower().compile().report
    assert not first.record.hit and again.record.hit and first.key == again.key
    assert str(first) == f"cache miss: the cache has no entry to compare with ({first.key.digest[:12]})"
    assert str(again) == f"cache hit: found ({first.key.digest[:12]})"
    assert other.record.explanation == "the nearest entry differs in the program"
    assert len(list(fresh_cache.glob("*/*"))) == 2


def test_the_cache_can_be_left_out(fresh_cache: Path) -> None:
    report = adze.trace(lambda x: x * 7, X).lower().compile(cache=False).report
    assert report.record.explanation == "the cache is off" and not fresh_cache.exists()


def test_a_damaged_cache_entry_is_replaced(fresh_cache: Path) -> None:
    first = adze.trace(lambda x: x * 8, X).lower().compile()
    (entry,) = fresh_cache.glob("*/*")
    entry.write_bytes(entry.read_bytes()[:-7])
    again = adze.trace(lambda x: x * 8, X).lower().compile()
    assert again.report.record.explanation == "the entry was damaged or foreign, and is replaced"
    assert np.array_equal(again(X), X * 8) and again.vmfb == first.vmfb
    third = adze.trace(lambda x: x * 8, X).lower().compile()
    assert third.report.record.hit and third.vmfb == first.vmfb


def test_where_a_program_was_written_does_not_matter_to_the_cache() -> None:
    here = adze.trace(lambda x: x * 9, X).lower()
    there = adze.trace(lambda x: x * 9, X).lower()
    assert here.canonical() == there.canonical() and here.bytecode() != there.bytecode()


# -- dumps -------------------------------------------------------------------------------------------


def test_every_compile_dumps_its_stages_for_opt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`test_dumped_stages.py` says that each goes on to what `jit` compiles; here by the command itself."""
    monkeypatch.setenv("ADZE_DUMP_DIR", str(tmp_path))
    inner = adze.jit(lambda x: x * 1 + 3)
    adze.jit(lambda x: inner(x) - 1)(X)
    (folder,) = tmp_path.iterdir()
    files = sorted(folder.iterdir())
    assert folder.name.startswith("lambda-") and f'"{__file__}"' in files[0].read_text()
    main = "from adze.cli.main import main; main()"
    command = [sys.executable, "-c", main, "opt", "--locations", "--start-after", "convert"]
    (converted,) = (file for file in files if file.stem.endswith("-convert"))
    done = subprocess.run([*command, str(converted)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and done.stdout.strip() == files[-1].read_text().strip(), done.stderr


# -- artifacts ---------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_compiled_programs_are_bit_for_bit_the_same() -> None:
    first, second = (adze.trace(predict, X, W).lower().compile(cache=False).vmfb for _ in range(2))
    assert first == second


def test_program_without_results_does_something_if_it_has_an_effect() -> None:
    spec = adze.ShapeDtype(("n", "n"), "float32")  # equal sizes are checked, which nobody asked for
    assert adze.trace(lambda x: x + 1, spec).does_anything()
    assert not adze.trace(lambda x: None, spec).does_anything()
    assert adze.trace(lambda x: ops.print(x, format="{}") or None, spec).does_anything()


def test_llvm_unrolls_loops_of_named_sizes() -> None:
    def flags(*shape: Any) -> tuple[str, ...]:
        traced = adze.trace(anp.sin, adze.ShapeDtype(shape, np.float32))
        return lowered_module(traced.program, "cpu").options().flags()

    assert UNROLL_LOOPS in flags("n", 3)
    assert not set(VECTORIZE_LOOPS) & set(flags(2000, 3))
