"""Compiling: diagnostics as errors, no crash on bad modules, options, fallback, the same bytes every time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from adze.runtime.compile.compiler import (
    CompiledModule,
    CompileOptions,
    Variant,
    compile_bytecode,
    compile_with_fallback,
)
from adze.runtime.compile.separate import compile_in_subprocess
from adze.runtime.errors import CompileError
from adze.runtime.targets import parse_target

CPU = parse_target("cpu")
EMPTY = b"func.func @f() { return }"
# IREE refuses a tensor of a type that it has no storage for, and names the op.
REFUSED = b"""
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @nobody(%a) : (tensor<4xf32>) -> tensor<4xf32> loc("model.py":42:7)
  return %0 : tensor<4xf32>
}
"""


@pytest.mark.thorough
def test_the_same_module_gives_the_same_bytes(compiled: CompiledModule, programs_text: bytes) -> None:
    assert compiled.seconds > 0
    assert compile_in_subprocess(programs_text, CPU).vmfb == compiled.vmfb


@pytest.mark.one_in(2)
@pytest.mark.parametrize("verifies_passes", [False, True])
def test_verifying_behind_each_pass_changes_no_bytes(
    verifies_passes: bool, compiled: CompiledModule, programs_text: bytes
) -> None:
    options = CompileOptions(verifies_passes=verifies_passes)
    assert options.flags() == CompileOptions().flags()
    assert compile_bytecode(programs_text, CPU, options).vmfb == compiled.vmfb


# IREE's own passes learn the number of indices, not that of the updates, and compile on if nobody looks.
BROKEN_ON_THE_WAY = b"""
func.func @f(%x: tensor<?xi8>, %updates: tensor<?xi8>, %indices: tensor<6xi64>) -> tensor<?xi8> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %updates, %c0 : tensor<?xi8>
  %cast = tensor.cast %indices : tensor<6xi64> to tensor<?xi64>
  %rows = tensor.expand_shape %cast [[0, 1]] output_shape [%n, 1] : tensor<?xi64> into tensor<?x1xi64>
  %r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(false)
      ins(%updates, %rows : tensor<?xi8>, tensor<?x1xi64>) outs(%x : tensor<?xi8>) {
  ^bb0(%new: i8, %old: i8):
    %s = arith.addi %old, %new : i8
    iree_linalg_ext.yield %s : i8
  } -> tensor<?xi8>
  return %r : tensor<?xi8>
}
"""


@pytest.mark.parametrize("verifies_passes", [False, True])
def test_what_a_pass_breaks_is_refused_at_the_end_of_its_phase(verifies_passes: bool) -> None:
    with pytest.raises(CompileError, match=r"scatter' op mismatch in shape of indices and update value"):
        compile_bytecode(BROKEN_ON_THE_WAY, CPU, CompileOptions(verifies_passes=verifies_passes))


def test_paths_and_locations_do_not_reach_the_bytes() -> None:
    located = b'func.func @f() { return loc("/home/somebody/model.py":1:2) }'
    elsewhere = b'func.func @f() { return loc("/tmp/x.py":7:9) }'
    assert compile_bytecode(located, CPU).vmfb == compile_bytecode(elsewhere, CPU).vmfb


@pytest.mark.parametrize("compile_it", [compile_bytecode, compile_in_subprocess])
def test_a_refusal_names_op_and_line(compile_it, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(CompileError) as caught:
        compile_it(REFUSED, CPU, reproducer_dir=tmp_path)
    error = caught.value
    assert error.message.startswith("IREE could not compile the program for cpu: ")
    assert error.op == "stablehlo.custom_call"
    assert error.where == "model.py:42:7"
    assert error.diagnostics
    assert error.reproducer is not None
    assert error.hint == (
        "what adze makes should compile: this is a fault of adze or IREE, not of your program; to see it "
        f"again: sh {error.reproducer / 'command.sh'}"
    )


def test_the_reproducer_shows_the_failure_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CompileError) as caught:
        compile_bytecode(REFUSED, CPU, reproducer_dir=tmp_path / "new" / "folder")
    reproducer = caught.value.reproducer
    assert reproducer is not None
    assert (reproducer / "input.mlir").read_bytes() == REFUSED
    assert "custom_call" in (reproducer / "diagnostics.txt").read_text()
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    again = subprocess.run(
        ["sh", str(reproducer / "command.sh")], capture_output=True, text=True, timeout=60, check=False
    )
    assert again.returncode != 0
    assert "model.py:42:7" in again.stderr


def test_a_reproducer_that_cannot_be_written_hides_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CompileError, match=r"custom_call") as caught:
        compile_bytecode(REFUSED, CPU, reproducer_dir=tmp_path / "file")
    assert caught.value.reproducer is None


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        (b" ", "the module is empty"),
        (b"module {}", "the module is empty"),
        (b"garbage", "custom op 'garbage' is unknown"),
        (b"ML\xefRgarbage", "bytecode version "),
        (b"func.func @f(", "expected "),
        (b'func.func @f() { "adze.sin"() : () -> () return }', "operation being parsed with an unregistered"),
    ],
    ids=["nothing", "empty", "text", "bytecode", "cut short", "foreign op"],
)
def test_what_is_not_a_module_is_an_error_and_no_crash(module: bytes, reason: str) -> None:
    with pytest.raises(CompileError) as caught:
        compile_bytecode(module, CPU)
    assert caught.value.message.startswith(f"IREE could not compile the program for cpu: {reason}")


def test_a_bad_flag_is_an_error() -> None:
    with pytest.raises(CompileError, match=r"flags refused: .*no-such-flag"):
        compile_bytecode(EMPTY, CPU, CompileOptions(extra_flags=("--no-such-flag",)))


def test_the_first_variant_that_iree_takes_is_used() -> None:
    made = []

    def produce(name: str, module: bytes) -> Variant:
        return Variant(name, lambda: made.append(name) or module)  # type: ignore[func-returns-value]

    options = CompileOptions(data_tiling=True)
    compiled = compile_with_fallback(
        [produce("tuned", REFUSED), Variant("plain", lambda: EMPTY, options), produce("never", EMPTY)], CPU
    )
    assert compiled.variant == "plain"
    assert compiled.options == options
    assert made == ["tuned"]
    [(name, reason)] = compiled.rejected
    assert name == "tuned"
    assert "custom_call" in reason


def test_the_last_refusal_is_raised(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="custom_call") as caught:
        compile_with_fallback([Variant("only", lambda: REFUSED)], CPU, reproducer_dir=tmp_path)
    assert caught.value.reproducer is not None


def test_options_reach_the_program() -> None:
    checked = b'func.func @f() { %no = arith.constant false\n cf.assert %no, "message inside"\n return }'
    kept = compile_bytecode(checked, CPU).vmfb
    stripped = compile_bytecode(checked, CPU, CompileOptions(strip_assertions=True)).vmfb
    assert b"message inside" in kept
    assert b"message inside" not in stripped
