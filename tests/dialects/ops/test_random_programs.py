"""Random programs: simplified = evaluated, and IR printed = parsed; tests/passes/lower compiles others."""

from __future__ import annotations

import pytest

from adze.dialects import mlir
from adze.passes.analysis.evaluate import evaluate
from adze.passes.analysis.verify import verify
from adze.passes.ir.parsing import parse_module
from adze.passes.optimize.simplify import simplify

from ...random_programs import random_program, seeds
from ...random_programs.of_ops import Program
from .programs import add_function, new_module

IN_ONE_MODULE = 4


@pytest.mark.parametrize("first", seeds(6, 60))
def test_simplified_is_evaluated(first: int) -> None:
    drawn = programs(first)
    module = build(drawn)
    simplify(module)
    verify(module)
    for i, program in enumerate(drawn):
        for which in (0, 1):
            results = evaluate(module, f"f{i}", program.arguments(which))
            program.check(which, results, "simplified")


@pytest.mark.parametrize("first", seeds(6, 60))
def test_printed_is_parsed(first: int) -> None:
    module = build(programs(first))
    verify(module)
    text = str(module)
    parsed = parse_module(text)
    verify(parsed)
    assert str(parsed) == text


def programs(first: int) -> list[Program]:
    numbers = range(first * IN_ONE_MODULE, (first + 1) * IN_ONE_MODULE)
    return [random_program(n, *(("plain",) if n % 2 else ()), "rounded") for n in numbers]


def build(drawn: list[Program]) -> mlir.ir.Module:
    """A module with one function a program."""
    module, codec = new_module()
    for i, program in enumerate(drawn):
        add_function(module, codec, f"f{i}", program.types[0], program.build)
    return module
