"""`adze import`: a model's file as a Python file against adze.numpy, with its weights beside it.

Input: a model's function and specs. Output: source and arrays, by `write_model`; what the two files hold.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import numpy as np

from ....dialects.dataclass import dataclass
from ....frontend.staging.modules import clone_module
from ....passes.pipeline import SIMPLIFIED, between, run_pipeline
from ...staging.jit import trace
from ..onnx.model import OnnxFunction
from .writer import argument_names, function_identifier, write_functions

_NO_NAMES: Final = frozenset({"file", "allow_pickle", "bfloat16"})
"""What `numpy.savez` and the written file mean something else by."""

_HEAD: Final = '''"""{name}, from {origin} by `adze import`; its weights are in {weights}."""

from pathlib import Path

import numpy as np

import adze.numpy as xp
from adze import lax


def _weights():
    with np.load(Path(__file__).with_name({file!r})) as file:
        halves = set(file["bfloat16"]) if "bfloat16" in file else set()
        names = [name for name in file if name != "bfloat16"]
        return {{name: file[name].view(xp.bfloat16) if name in halves else file[name] for name in names}}


WEIGHTS = _weights()


'''


@dataclass(frozen=True)
class Written:
    """A Python file and the file of its weights; `name` is what its function is called."""

    name: str
    source: str
    weights: bytes
    arrays: int
    lines: int


def write_model(
    function: Callable[..., Any], specs: Mapping[str, Any], name: str, origin: str, weights: str
) -> Written:
    """The Python source of a model, traced with these specs; `weights` is what the other file is called."""
    arrays: dict[str, np.ndarray] = {}
    stored: dict[str, str] = {}
    name = function_identifier(name)
    if isinstance(function, OnnxFunction) and function.parameters:
        model = function
        stored = _stored(function.parameters)
        arrays = {stored[key]: np.asarray(value) for key, value in function.parameters.items()}

        def with_parameters(parameters: Any, *args: Any) -> Any:
            return model.apply(parameters, *args)

        traced = trace(with_parameters, function.parameters, *specs.values())
    else:
        traced = trace(function, *specs.values())
    module = clone_module(traced.program.module)
    run_pipeline(module, between(None, SIMPLIFIED))
    texts = [f"weights[{stored[key]!r}]" for key in sorted(stored)] + argument_names(list(specs))
    source = write_functions(module, texts, name, arrays)
    head = _HEAD.format(name=name, origin=_shown(origin), weights=_shown(weights), file=weights)
    text = head + "\n".join(source.lines).rstrip() + "\n"
    return Written(name, text, _npz(source.arrays), len(source.arrays), text.count("\n"))


def _stored(names: Iterable[str]) -> dict[str, str]:
    """What weights are called in their file: as in the model, unless no file has such a name."""
    own, result = list(names), {}
    for number, name in enumerate(own):
        is_kept = name.isprintable() and 0 < len(name) < 200 and "\\" not in name
        if not is_kept or name.endswith(".npy") or name in _NO_NAMES:
            result[name] = f"array_{number}"
            while result[name] in own:
                result[name] += "_"
        else:
            result[name] = name
    return result


def _shown(name: str) -> str:
    """The name of a file as a part of a docstring, which it cannot end."""
    return "".join(c if c.isprintable() and c not in '"\\' else "_" for c in name)


def _npz(arrays: Mapping[str, np.ndarray]) -> bytes:
    halves = [name for name, array in arrays.items() if array.dtype.name == "bfloat16"]
    plain = {n: a.view(np.uint16) if n in halves else a for n, a in arrays.items()}
    extra = {"bfloat16": np.array(halves)} if halves else {}
    file = io.BytesIO()
    np.savez(file, **plain, **extra)  # type: ignore[arg-type]
    return file.getvalue()
