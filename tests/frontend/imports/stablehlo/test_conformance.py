"""The interpreter tests of openxla/stablehlo, as `record_conformance.py` recorded them: every number."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from adze.dialects.types import BFLOAT16, TensorType
from adze.frontend.imports.stablehlo.application import as_array
from adze.frontend.imports.stablehlo.interpret import Interpreter
from adze.frontend.imports.stablehlo.program import Program
from adze.frontend.imports.stablehlo.reading import read
from adze.frontend.imports.stablehlo.table import REFUSED, TABLE
from adze.frontend.imports.stablehlo.text import source_of

FOLDER = Path(__file__).parent / "conformance"
PROGRAMS = {
    match[1]: text
    for text in (FOLDER / "programs.mlir").read_text().split("\n// -----\n")
    if (match := re.search(r"@(\w+)\(", text))
}
DIFFERENT = {"reduce_precision_1": "NaN stays NaN where the mantissa has no bits; XLA returns infinity"}
LOOSE = {"log_plus_one_0": 1e-5}  # recorded from log(1.0 + x)


@pytest.fixture(scope="module")
def program() -> Program:
    """All programs as functions of one module: parsed once."""
    texts = [text for name, text in PROGRAMS.items()]
    main = "func.func @main() { func.return }"
    return read(source_of("\n".join([*texts, main])), TABLE, REFUSED)


@pytest.fixture(scope="module")
def values() -> dict[str, np.ndarray]:
    with np.load(FOLDER / "values.npz") as stored:
        return {name: stored[name] for name in stored.files}


def _typed(array: np.ndarray, type_: Any) -> np.ndarray:
    assert isinstance(type_, TensorType)
    return array.view(ml_dtypes.bfloat16) if type_.dtype == BFLOAT16 else array


FAMILIES = sorted({name.rsplit("_", 1)[0] for name in PROGRAMS})


@pytest.mark.parametrize("family", FAMILIES)
def test_results_are_those_of_the_specification(
    family: str, program: Program, values: dict[str, np.ndarray]
) -> None:
    names = [n for n in PROGRAMS if n.rsplit("_", 1)[0] == family and n not in DIFFERENT]
    assert names
    for name in names:
        function = program.functions[name]
        arguments = [_typed(values[f"{name}.in.{i}"], t) for i, t in enumerate(function.body.argument_types)]
        results = Interpreter(program, TABLE).call(name, arguments)
        for i, (result, type_) in enumerate(zip(results, function.result_types, strict=True)):
            _check(name, np.asarray(as_array(result)), _typed(values[f"{name}.out.{i}"], type_))


def _check(name: str, result: np.ndarray, expected: np.ndarray) -> None:
    assert (result.shape, result.dtype) == (expected.shape, expected.dtype), name
    if result.dtype.kind in "biu":
        np.testing.assert_array_equal(result, expected, err_msg=name)
        return
    tolerance = {2: 1e-2, 4: 1e-5, 8: 1e-12}[expected.real.dtype.itemsize]
    wide = np.complex128 if result.dtype.kind == "c" else np.float64
    rtol = LOOSE.get(name, tolerance)
    np.testing.assert_allclose(result.astype(wide), expected.astype(wide), rtol, tolerance, err_msg=name)


def test_what_is_different_is_still_different(program: Program, values: dict[str, np.ndarray]) -> None:
    for name in DIFFERENT:
        result = Interpreter(program, TABLE).call(name, [values[f"{name}.in.0"]])[0]
        assert not np.array_equal(np.asarray(result), values[f"{name}.out.0"], equal_nan=True)
