"""`adze import`: a model's file as a Python file against adze.numpy, with its weights beside it.

Input: a model's function and specs. Output: source and arrays, by `write_model`; what the two files hold.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....frontend.staging.modules import clone_module
from ....passes.pipeline import SIMPLIFIED, between, run_pipeline
from ...staging.jit import trace
from ..onnx.model import OnnxFunction
from .writer import write_functions

_HEAD = '''"""{name}, from {origin} by `adze import`; its weights are in {weights}."""

from pathlib import Path

import numpy as np

import adze.numpy as xp
from adze import lax


def _weights():
    with np.load(Path(__file__).with_name({weights!r})) as file:
        halves = set(file["bfloat16"]) if "bfloat16" in file else set()
        names = [name for name in file if name != "bfloat16"]
        return {{name: file[name].view(xp.bfloat16) if name in halves else file[name] for name in names}}


WEIGHTS = _weights()


'''


@dataclass(frozen=True)
class Written:
    """A Python file and the file of its weights."""

    source: str
    weights: bytes
    arrays: int
    lines: int


def write_model(
    function: Callable[..., Any], specs: Mapping[str, Any], name: str, origin: str, weights: str
) -> Written:
    """The Python source of a model, traced with these specs; `weights` is what the other file is called."""
    arrays: dict[str, np.ndarray] = {}
    if isinstance(function, OnnxFunction) and function.parameters:
        arrays = {key: np.asarray(value) for key, value in function.parameters.items()}
        model = function

        def with_parameters(parameters: Any, *args: Any) -> Any:
            return model.apply(parameters, *args)

        traced = trace(with_parameters, function.parameters, *specs.values())
        keys = sorted(arrays)
    else:
        traced = trace(function, *specs.values())
        keys = []
    module = clone_module(traced.program.module)
    run_pipeline(module, between(None, SIMPLIFIED))
    texts = [f"weights[{key!r}]" for key in keys] + list(specs)
    source = write_functions(module, texts, name, arrays)
    head = _HEAD.format(name=name, origin=origin, weights=weights)
    text = head + "\n".join(source.lines).rstrip() + "\n"
    return Written(text, _npz(source.arrays), len(source.arrays), text.count("\n"))


def _npz(arrays: Mapping[str, np.ndarray]) -> bytes:
    halves = [name for name, array in arrays.items() if array.dtype.name == "bfloat16"]
    plain = {n: a.view(np.uint16) if n in halves else a for n, a in arrays.items()}
    extra = {"bfloat16": np.array(halves)} if halves else {}
    file = io.BytesIO()
    np.savez(file, **plain, **extra)  # type: ignore[arg-type]
    return file.getvalue()
