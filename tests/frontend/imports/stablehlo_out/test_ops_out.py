"""Every op of adze, written in StableHLO and imported again, computes what it computed."""

from __future__ import annotations

import numpy as np
import pytest

from adze.dialects.dialect import BY_NAME, COLLECTIVES
from adze.dialects.ops.elementwise.family import Elementwise
from adze.dialects.types import TensorType, ValueType
from adze.frontend.imports.errors import ModelUnsupportedError
from adze.frontend.imports.stablehlo.application import as_array
from adze.frontend.imports.stablehlo.interpret import Interpreter
from adze.frontend.imports.stablehlo.reading import read
from adze.frontend.imports.stablehlo.table import REFUSED
from adze.frontend.imports.stablehlo.table import TABLE as IN
from adze.frontend.imports.stablehlo.text import source_of
from adze.frontend.imports.stablehlo_out.module import Translation, module_text
from adze.frontend.imports.stablehlo_out.table import TABLE
from adze.passes.ir.functions import functions

from ....dialects.ops.cases import Instance
from ....dialects.ops.programs import ModuleOfCases, dynamic_sizes
from ....dialects.ops.test_ops import NAMES, all_instances
from ....dialects.ops.tolerances import TOLERANCES, difference
from ....op_cases import BY_OP
from .jax_runs import run_export_with_jax, run_with_jax

# What StableHLO cannot express, and the reason that users are told.
REASONS = {
    **dict.fromkeys(("axis_gather", "axis_sum"), "a named axis that is not mapped"),
    "check": "StableHLO has no assertions",
    **dict.fromkeys(("host_call", "host_effect"), "cannot call back into Python"),
    "platform_index": "a choice that waits for its target",
    "print": "StableHLO has no assertions and no output",
}
# Ops along a mesh need ranks: `test_to_stablehlo.py` has the program of a rank.
EXPRESSIBLE = [name for name in NAMES if name not in REASONS and BY_NAME[name] not in COLLECTIVES]


def static_instances(name: str, thorough: bool) -> list[Instance]:
    """Those without dynamic sizes; a selection of them, since dtypes of one form are alike."""
    found = [i for i in all_instances(name) if not dynamic_sizes(i) and all(t.is_static for t in i.types)]
    step = 1 if thorough else max(1, len(found) // (6 if issubclass(BY_NAME[name], Elementwise) else 12))
    return found[::step]


def instances_of_unknown_sizes(name: str, thorough: bool) -> list[Instance]:
    """Those with sizes that are known only at run time, and not 0, which `jax.export` does not take."""
    found = [i for i in all_instances(name) if dynamic_sizes(i) or not all(_is_static(t) for t in i.types)]
    step = max(1, len(found) // (20 if thorough else 3))
    return found[:1] if issubclass(BY_NAME[name], Elementwise) else found[::step]


def _is_static(type_: ValueType) -> bool:
    return isinstance(type_, TensorType) and type_.is_static


def test_every_op_has_a_rule() -> None:
    assert TABLE.keys() == BY_NAME.keys()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", EXPRESSIBLE)
def test_roundtrip(name: str, thorough: bool) -> None:
    cases = ModuleOfCases.of([*static_instances(name, thorough), *instances_of_unknown_sizes(name, thorough)])
    assert cases.functions
    translation = Translation(cases.module, "")
    texts = [translation.function(symbol) for symbol in functions(cases.module)]
    main = "func.func @main() { func.return }"
    texts += translation.combinations.values()
    program = read(source_of("\n".join([*texts, main])), IN, REFUSED)
    for function in cases.functions:
        results = Interpreter(program, IN).call(translation.names[function.name], function.arguments)
        for want, got in zip(function.expected, results, strict=True):
            array = np.asarray(as_array(got))
            assert not difference(want, array, TOLERANCES[BY_OP[name].tolerance]), str(function.instance)


@pytest.mark.parametrize("name", REASONS)
def test_what_cannot_be_expressed_says_why(name: str) -> None:
    module = ModuleOfCases.of(all_instances(name)[:1]).module
    with pytest.raises(ModelUnsupportedError, match=REASONS[name]):
        module_text(module, next(iter(functions(module))))


# XLA's own accuracy and special values, which are not adze's to mend: see docs/imports.md.
OF_XLA = {
    *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cos", "cosh", "digamma", "erf_inv", "exp"),
    *("exp2", "expm1", "lgamma", "log", "log1p", "log2", "logistic", "pow", "sin", "sinh", "sqrt", "tan"),
    *("tanh", "rsqrt", "sign", "abs", "div", "mul", "cbrt", "erf", "erfc", "convert"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", [n for n in EXPRESSIBLE if n not in OF_XLA and n != "size_check"])
def test_jax_computes_the_same(name: str) -> None:
    cases = ModuleOfCases.of(static_instances(name, True))
    for function in cases.functions[:: max(1, len(cases.functions) // 5)]:
        text = module_text(cases.module, function.name)
        results = run_with_jax(text, function.arguments)  # type: ignore[arg-type]
        for want, got in zip(function.expected, results, strict=True):
            assert not difference(want, got, TOLERANCES[BY_OP[name].tolerance]), str(function.instance)


@pytest.mark.thorough
@pytest.mark.parametrize("name", [n for n in EXPRESSIBLE if n not in OF_XLA])
def test_jax_computes_the_same_of_unknown_sizes(name: str) -> None:
    cases = ModuleOfCases.of(instances_of_unknown_sizes(name, False))
    for function in cases.functions:
        if any(0 in x.shape for x in function.arguments):  # `jax.export` takes no sizes of 0
            continue
        text = module_text(cases.module, function.name)
        results = run_export_with_jax(text, function.arguments, function.expected)
        for want, got in zip(function.expected, results, strict=True):
            assert not difference(want, got, TOLERANCES[BY_OP[name].tolerance]), str(function.instance)
