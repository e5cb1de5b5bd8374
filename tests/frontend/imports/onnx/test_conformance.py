"""The standard's own tests of ONNX, by evaluation: compiled code is the subject of the tests of ops."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import numpy as np
import pytest

import adze

from . import conformance
from .conformance import Case, failure, kept_cases, node_cases, passing, reasons

# Modules of each family of ops; those of pools take seconds to generate, and models of PyTorch have pools.
QUICK: Final = [
    "conv",
    "convtranspose",
    "cumsum",
    "dft",
    "einsum",
    "gathernd",
    "gru",
    "if_",
    "layernormalization",
    "loop",
    "lstm",
    "matmul",
    "onehot",
    "pad",
    "quantizelinear",
    "reshape",
    "resize",
    "scan",
    "scatternd",
    "slice",
    "softmax",
    "split",
    "topk",
]


def test_part_of_the_node_tests() -> None:
    wanted = set(passing())
    chosen = [case for case in node_cases(QUICK) if case.name in wanted]
    assert len(chosen) > 250
    assert [text for text in map(failure, chosen) if text] == []


@pytest.mark.parametrize("kind", ["pytorch-converted", "pytorch-operator"])
def test_models_of_pytorch(kind: str) -> None:
    cases = list(kept_cases(kind))
    assert len(cases) >= 35
    assert [text for text in map(failure, cases) if text] == []


@pytest.mark.thorough
def test_all_node_tests() -> None:
    """In a process of its own: the package generates each case once in a process."""
    script = "from tests.frontend.imports.onnx.test_conformance import compare_lists; compare_lists()"
    root = Path(__file__).resolve().parents[4]
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=root,
        env={**os.environ},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


def compare_lists() -> None:
    """What passes is what `passing.txt` lists, and `missing.txt` has a reason for every other case."""
    failures: dict[str, str] = {}
    names = []
    for case in node_cases():
        names.append(case.name)
        text = failure(case)
        if text is not None:
            failures[case.name] = text
    listed = set(passing())
    broken = {name: failures[name] for name in sorted(listed & failures.keys())}
    new = sorted(set(names) - failures.keys() - listed)
    unexplained = [n for n in sorted(failures) if not any(p.fullmatch(n) for p, _ in reasons())]
    print(f"{len(names) - len(failures)} of {len(names)} node tests pass")
    assert not broken, f"these passed before: {broken}"
    assert not new, f"these pass now, add them to passing.txt: {new}"
    assert not unexplained, f"these fail, and missing.txt does not say why: {unexplained}"


@pytest.mark.thorough
def test_models_of_pytorch_compiled() -> None:
    """Every twelfth model, jitted."""
    for case in list(kept_cases("pytorch-converted"))[::12]:
        function = adze.jit(conformance.from_onnx(case.model))
        for inputs, wanted in case.calls:
            results = function(*inputs)
            results = results if isinstance(results, tuple) else (results,)
            for result, want in zip(results, wanted, strict=True):
                np.testing.assert_allclose(np.asarray(result), want, rtol=1e-3, atol=1e-4)


def test_a_wrong_result_is_a_failure() -> None:
    """The comparison sees a wrong number, a wrong dtype and an error."""
    helper = conformance.onnx.helper
    info = [helper.make_tensor_value_info(n, 1, [2]) for n in "xy"]
    graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "g", info[:1], info[1:])
    model, x = helper.make_model(graph), np.float32([1, 2])
    assert failure(Case("right", model, [([x], [-x])], 1e-3, 1e-7)) is None
    assert "Not equal" in (failure(Case("number", model, [([x], [x])], 1e-3, 1e-7)) or "")
    assert failure(Case("dtype", model, [([x], [-x.astype(np.float64)])], 1e-3, 1e-7))
    assert failure(Case("input", model, [([x[:1]], [-x])], 1e-3, 1e-7))
