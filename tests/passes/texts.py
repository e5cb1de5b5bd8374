"""Modules as text for the tests of passes: short to write, parsed and verified."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from adze.dialects import mlir
from adze.passes.analysis.evaluate import evaluate
from adze.passes.analysis.verify import verify
from adze.passes.ir.parsing import parse_module

SHORT = re.compile(
    r"^(?P<out>[\w%, ]+?) = (?P<op>\w+)\((?P<operands>[%\w, ]*)\)(?P<attributes> \{.*\})? : (?P<type>.*)$"
)


def module(*functions: str) -> mlir.ir.Module:
    """A verified module. A line `%y = sin(%x) : (f32[4]) -> f32[4]` is an op of adze."""
    parsed = parse_module("\n".join(_function(text) for text in functions))
    verify(parsed)
    return parsed


def _function(text: str) -> str:
    return "\n".join(_line(line.strip()) for line in text.strip().splitlines())


def _line(line: str) -> str:
    result = SHORT.match(line)
    if result is not None:
        attributes = result["attributes"] or ""
        line = f'{result["out"]} = "adze.{result["op"]}"({result["operands"]}){attributes} : {result["type"]}'
    return re.sub(r"\b(f16|f32|f64|i1|i32|ui32|c128)\[([\d?,]*)\]", _tensor, line)


def _tensor(actual: re.Match[str]) -> str:
    dims = "".join(f"{n}x" for n in actual[2].split(",") if n)
    return f"tensor<{dims}{'complex<f64>' if actual[1] == 'c128' else actual[1]}>"


def ops(parsed: mlir.ir.Module, symbol: str) -> list[str]:
    """The names of the ops of a function, in order, without `adze.` and without the return."""
    for operation in parsed.body.operations:
        if operation.attributes["sym_name"].value == symbol:
            names = [o.operation.name for o in operation.regions[0].blocks[0].operations]
            return [n.removeprefix("adze.") for n in names if n != "func.return"]
    raise AssertionError(f"no function @{symbol}")


def symbols(parsed: mlir.ir.Module) -> list[str]:
    return [operation.attributes["sym_name"].value for operation in parsed.body.operations]


def run(parsed: mlir.ir.Module, symbol: str, *arguments: Any) -> list[np.ndarray]:
    return [np.asarray(r) for r in evaluate(parsed, symbol, arguments)]
