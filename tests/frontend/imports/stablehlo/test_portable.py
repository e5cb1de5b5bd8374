"""Portable bytecode of StableHLO: the same programs as their texts, and damaged files are errors."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze
from adze.frontend.imports.stablehlo import portable
from adze.frontend.imports.stablehlo.program import Program, Region
from adze.frontend.imports.stablehlo.reading import read
from adze.frontend.imports.stablehlo.table import REFUSED, TABLE
from adze.frontend.imports.stablehlo.text import source_of
from adze.imports import StableHLOError

from ....selection import part
from .test_jax_programs import FOLDER, arrays, close, function

CONFORMANCE = Path(__file__).parent / "conformance" / "programs.mlir"
# VHLO states these where a text leaves them out.
DEFAULTS = {
    "is_stable",
    "precision_config",
    "window_reversal",
    "rhs_dilation",
    "lhs_dilation",
    "window_strides",
}


def serialized(text: str) -> bytes:
    """The portable bytecode of a text, as JAX's bindings write it."""
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        written = stablehlo.serialize_portable_artifact(module, stablehlo.get_current_version())
    assert isinstance(written, bytes)
    return written


def described(region: Region, numbers: dict[int, int]) -> list[Any]:
    """A region without places, its values numbered in their order."""

    def number(value: int) -> int:
        return numbers.setdefault(value, len(numbers))

    found: list[Any] = [[number(a) for a in region.arguments], region.argument_types]
    for operation in region.operations:
        attributes = {
            key: value.tolist() if isinstance(value, np.ndarray) else value
            for key, value in operation.attributes.items()
            if key not in DEFAULTS and not (key == "padding" and not value.any())
        }
        operands, results = ([number(v) for v in vs] for vs in (operation.operands, operation.results))
        found.append((operation.name, operands, operation.operand_types, results, operation.result_types))
        found.append(sorted(map(repr, attributes.items())))
        found += [described(inner, numbers) for inner in operation.regions]
    return [*found, [number(v) for v in region.results]]


def described_program(program: Program) -> dict[str, str]:
    return {name: repr(described(f.body, {})) for name, f in program.functions.items()}


def test_programs_of_the_specification_are_those_of_their_texts(thorough: bool) -> None:
    """All that has a portable form, which CHLO has not; every ninth in the quick selection."""
    texts = [t for t in CONFORMANCE.read_text().split("\n// -----\n") if "chlo." not in t and "@" in t]
    assert len(texts) > 400
    chosen = texts if thorough else texts[::9]
    whole = "\n".join([*chosen, "func.func @main() { func.return }"])
    from_text = described_program(read(source_of(whole), TABLE, REFUSED))
    from_bytes = described_program(read(source_of(serialized(whole)), TABLE, REFUSED))
    assert from_bytes.keys() == from_text.keys()
    assert [name for name in from_text if from_text[name] != from_bytes[name]] == []


@pytest.mark.parametrize("name", part(["transformer", "cnn", "rnn_grad", "branches", "mapped"], ["rnn_grad"]))
def test_programs_of_jax(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.mlirbc"
    path.write_bytes(serialized((FOLDER / f"{name}.mlir").read_text()))
    again = adze.from_stablehlo(path)
    assert again.__name__ == name
    assert re.sub(r"\w+: ", "", str(again)) == re.sub(r"\w+: ", "", str(function(name)))
    results = again(*arrays(name, "in"))
    for result, expected in zip(
        results if isinstance(results, tuple) else (results,), arrays(name, "out"), strict=True
    ):
        close(result, expected)


def test_calls_of_other_libraries() -> None:
    """Custom calls, whose attributes are a dictionary and whose layouts are vectors."""
    text = """
      func.func @main(%x: tensor<2x2xf64>) -> tensor<2x2xf64> {
        %0:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%x) {
          mhlo.backend_config = {uplo = 76 : ui8}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
          result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], api_version = 4 : i32
        } : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<i32>)
        return %0#0 : tensor<2x2xf64>
      }"""
    x = np.array([[4.0, 2], [2, 5]])
    result = np.asarray(adze.from_stablehlo(serialized(text))(x))
    np.testing.assert_allclose(np.tril(result), [[2, 0], [1, 2]])


def test_damaged_bytecode_is_an_error() -> None:
    content = serialized((FOLDER / "mlp.mlir").read_text())
    draws = np.random.default_rng(0)
    for cut in (5, len(content) // 2):
        with pytest.raises(StableHLOError, match=r"bytecode that MLIR cannot read"):
            adze.from_stablehlo(content[:cut])
    for _ in range(2):
        damaged = bytearray(content)
        damaged[draws.integers(4, len(content))] = draws.integers(256)
        try:
            adze.from_stablehlo(bytes(damaged))
        except adze.AdzeError:
            continue


def sections_of(content: bytes) -> tuple[bytes, list[tuple[int, bytes]]]:
    """The head of bytecode, and its sections by their numbers."""
    start = content.index(b"\0", 4) + 1  # after the name of the producer
    at, sections = start, []
    while at < len(content):
        number = content[at]
        size, at = _number(content, at + 1)
        if number & 128:  # aligned, by bytes of padding
            _, at = _number(content, at)
            while content[at] == 0xCB:
                at += 1
        sections.append((number & 127, content[at : at + size]))
        at += size
    return content[:start], sections


def _number(content: bytes, at: int) -> tuple[int, int]:
    """A number of MLIR's bytecode, whose first byte says how many follow; and where it ends."""
    if not content[at]:
        return int.from_bytes(content[at + 1 : at + 9], "little"), at + 9
    width = (content[at] & -content[at]).bit_length()
    return int.from_bytes(content[at : at + width], "little") >> width, at + width


def _wide(value: int) -> bytes:
    return b"\0" + value.to_bytes(8, "little")


@pytest.mark.parametrize(("number", "count"), [(0, 2**28), (3, 2**60)], ids=["strings", "types"])
def test_bytecode_that_declares_more_than_it_holds(number: int, count: int) -> None:
    """The process that reads it has a limit on memory, and the error says so."""
    head, sections = sections_of(serialized((FOLDER / "mlp.mlir").read_text()))

    def written(damaged: int | None) -> bytes:
        parts = []
        for section, content in sections:
            if section == damaged:
                content = _wide(count) + content[_number(content, 0)[1] :]
            parts.append(bytes([section]) + _wide(len(content)) + content)
        return head + b"".join(parts)

    assert sections_of(written(None)) == (head, sections)
    with pytest.raises(StableHLOError, match=r"reading it needs more than 2\.\d GiB of memory"):
        adze.from_stablehlo(written(number))


def test_types_without_end() -> None:
    """Each is two of the one before: 2**17 parts in 299 bytes, which MLIR prints in full."""
    lines = ["!t0 = tuple<tensor<f32>, tensor<f32>>"]
    lines += [f"!t{i} = tuple<!t{i - 1}, !t{i - 1}>" for i in range(1, 18)]
    text = "\n".join(
        [*lines, "func.func @main(%x: !t17, %y: tensor<f32>) -> tensor<f32> {", "return %y : tensor<f32>\n}"]
    )
    with pytest.raises(StableHLOError, match=r"!t15 stands for more than 1000000 characters\n  at <text>:16"):
        adze.from_stablehlo(text)
    with pytest.raises(StableHLOError, match="its text would be longer than 16 MiB"):
        adze.from_stablehlo(serialized(text))
    shorter = text.replace("!t17,", "!t13,")
    with pytest.raises(StableHLOError, match="more than 10000 parts"):
        adze.from_stablehlo(serialized(shorter))


def test_text_of_bytecode_that_no_stack_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    nested = f"{'!vhlo.tuple_v1<' * 1500}!vhlo.i32_v1{'>' * 1500}"
    monkeypatch.setattr(portable, "text_of_bytecode", lambda content: nested)
    with pytest.raises(StableHLOError, match="nested too deep"):
        portable.portable_text(b"", "f.mlirbc", "")


def test_large_constants_are_scanned_at_once() -> None:
    """Ten million bytes of digits, in far less than a second a pass."""
    digits = "AB" * 5_000_000
    value = f'#vhlo.tensor_v1<dense<"0x{digits}"> : tensor<1250000xf32>>'
    line = f'%1 = "vhlo.constant_v1"() <{{value = {value}}}>'
    started = time.process_time()
    text = portable._Translation("f", "").text(line)
    assert time.process_time() - started < 10
    assert text == line.replace("vhlo.constant_v1", "stablehlo.constant").replace(
        "#vhlo.tensor_v1<", ""
    ).replace(">>}>", ">}>")
