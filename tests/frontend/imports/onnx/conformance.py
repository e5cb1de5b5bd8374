"""The standard's own tests, from the onnx package: models with inputs and expected outputs.

Input: nothing, or names of modules of node tests (each takes a part of a second to generate; all take 17 s).
Output: cases, and what is wrong with the results of one. `passing.txt` lists the node tests that pass;
`missing.txt` says of the others why they do not.
"""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adze.dialects.errors import AdzeError
from adze.frontend.imports.onnx.model import from_onnx

onnx = pytest.importorskip("onnx", reason="the package onnx (extra `onnx`) is not installed")

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Case:
    """A model (or its file), and for each call of it inputs and outputs."""

    name: str
    model: Any
    calls: Sequence[tuple[Sequence[Any], Sequence[Any]]]
    rtol: float
    atol: float


def passing() -> list[str]:
    """Names of the node tests that pass; the list may only grow."""
    return (HERE / "passing.txt").read_text(encoding="utf-8").split()


def reasons() -> list[tuple[re.Pattern[str], str]]:
    """Patterns of names of node tests that do not pass, each with its reason."""
    lines = (HERE / "missing.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    return [(re.compile(pattern), reason) for pattern, reason in pairs]


def node_cases(modules: Sequence[str] | None = None) -> list[Case]:
    """The node tests, or those that some modules generate."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        node = importlib.import_module("onnx.backend.test.case.node")
        if modules is None:
            importlib.import_module("onnx.backend.test.case.utils").import_recursive(node)
        else:
            for name in modules:
                importlib.import_module(f"{node.__name__}.{name}")
    chosen = [
        Case(case.name, case.model, case.data_sets, case.rtol, case.atol) for case in node._NodeTestCases
    ]
    assert len({case.name for case in chosen}) == len(chosen)
    return chosen


def kept_cases(kind: str) -> Iterator[Case]:
    """Models of the package's folder `kind`, such as `pytorch-converted`, with their data."""
    folder = Path(onnx.__file__).parent / "backend" / "test" / "data" / kind
    for model in sorted(folder.glob("*/model.onnx")):
        calls = [
            (_tensors(data, "input"), _tensors(data, "output"))
            for data in model.parent.glob("test_data_set_*")
        ]
        yield Case(model.parent.name, model, calls, 1e-3, 1e-5)


def _tensors(folder: Path, what: str) -> list[np.ndarray]:
    files = sorted(folder.glob(f"{what}_*.pb"), key=lambda path: int(path.stem.rpartition("_")[2]))
    return [_array(onnx.TensorProto.FromString(path.read_bytes())) for path in files]


def _array(value: Any) -> Any:
    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value)
    return value


def failure(case: Case) -> str | None:
    """What is wrong with the results of a case, None where they are right."""
    try:
        function = from_onnx(case.model)
        for inputs, wanted in case.calls:
            results = function(*map(_array, inputs))
            results = results if isinstance(results, tuple) else (results,)
            if len(results) != len(wanted):
                return f"{case.name}: {len(results)} results, expected {len(wanted)}"
            for result, want in zip(results, wanted, strict=True):
                _compare(result, _array(want), case)
    except (AdzeError, AssertionError) as error:
        return f"{case.name}: {str(error).strip()[:300]}"
    return None


def _compare(result: Any, wanted: Any, case: Case) -> None:
    if isinstance(wanted, list):
        assert isinstance(result, list) and len(result) == len(wanted), "a sequence of another length"
        for item, want in zip(result, wanted, strict=True):
            _compare(item, want, case)
        return
    got, want = np.asarray(result), np.asarray(wanted)
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    if want.dtype.name == "bfloat16":
        got, want = got.astype(np.float64), want.astype(np.float64)
    np.testing.assert_allclose(got, want, rtol=case.rtol, atol=case.atol)
