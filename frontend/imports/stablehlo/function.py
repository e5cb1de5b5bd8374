"""`from_stablehlo`: a program of StableHLO as an ordinary function of adze.

Input: text, or a path. Output: a `StableHLOFunction`.

Idea: the text is read once, into plain data; each call interprets it with adze's ops. So what adze does to a
Python function it does to this one, and nothing of MLIR is kept.
"""

from __future__ import annotations

import inspect
import os
from pathlib import Path
from typing import Any

import numpy as np

from ....dialects.types import TensorType
from ...tracing.interpreter import as_value, ops
from ...tracing.locations import user_location_text
from ...tracing.scalars import is_python_scalar
from ...tracing.specs import ShapeDtype
from ..errors import ModelError
from .application import as_array
from .interpret import Interpreter
from .narrow import NarrowTensor, rounded
from .program import Program, StableHLOError
from .reading import read
from .table import REFUSED, TABLE
from .text import source_of


class StableHLOFunction:
    """The main function of a StableHLO module: call it with arrays of its types.

    One result is returned as it is, several as a tuple.
    """

    takes_declared_dtypes = True

    def __init__(self, program: Program, name: str) -> None:
        main = program.main
        for where, types in (("argument", main.body.argument_types), ("result", main.result_types)):
            for i, type_ in enumerate(types):
                if not isinstance(type_, TensorType):
                    raise StableHLOError(f"{where} {i} of @{main.name} is no array, but a token or a tuple")
        self._program = program
        self._main = main
        self._types = tuple(t for t in main.body.argument_types if isinstance(t, TensorType))
        self.__name__ = name
        self.__qualname__ = name
        self.__doc__ = f"`{self}`, from StableHLO."
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = [inspect.Parameter(n, kind) for n in main.argument_names]
        self._key = "rng_key" if "key" in main.argument_names else "key"
        if program.draws:
            parameters.append(inspect.Parameter(self._key, inspect.Parameter.KEYWORD_ONLY))
        self.__signature__ = inspect.Signature(parameters)

    @property
    def specs(self) -> tuple[ShapeDtype, ...]:
        """The arguments; a dynamic dimension of argument `i` is called `dI_AXIS`."""
        return tuple(
            ShapeDtype(
                [n if isinstance(n, int) else f"d{i}_{axis}" for axis, n in enumerate(t.shape)], t.dtype
            )
            for i, t in enumerate(self._types)
        )

    def __repr__(self) -> str:
        arguments = zip(self._main.argument_names, self._types, strict=True)
        inside = ", ".join(f"{name}: {type_}" for name, type_ in arguments)
        return f"{self.__name__}({inside}) -> ({', '.join(map(str, self._main.result_types))})"

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        try:
            bound = self.__signature__.bind(*args, **kwargs)
        except TypeError as error:
            raise ModelError(
                f"{self.__name__}(): {error}", where=user_location_text(), hint=f"it is {self}"
            ) from None
        values = [
            self._argument(i, value)
            for i, value in enumerate(bound.arguments[n] for n in self._main.argument_names)
        ]
        key = bound.arguments[self._key] if self._program.draws else None
        interpreter = Interpreter(self._program, TABLE, key)
        results = [as_array(v) for v in interpreter.call(self._main.name, values)]
        return results[0] if len(results) == 1 else tuple(results)

    def _argument(self, index: int, value: Any) -> Any:
        type_ = self._types[index]
        if isinstance(type_, NarrowTensor) and isinstance(value, (np.ndarray, np.generic)):
            value = value.astype(type_.dtype) if value.dtype == type_.narrow_dtype else value
        array = as_value(value, type_.dtype if is_python_scalar(value) else None)
        shape = tuple(array.shape)
        fits = len(shape) == len(type_.shape) and all(
            n is None or not isinstance(m, int) or n == m for n, m in zip(type_.shape, shape, strict=True)
        )
        if not fits or array.dtype != type_.dtype:
            raise ModelError(
                f"{self.__name__}(): argument {self._main.argument_names[index]!r} is {ops.type_of(array)}, "
                f"expected {type_}",
                where=user_location_text(),
            )
        return rounded(array, type_) if isinstance(type_, NarrowTensor) else array


def from_stablehlo(text_or_path: str | bytes | os.PathLike[str]) -> StableHLOFunction:
    """The function that a StableHLO module computes, made of adze's ops.

    `text_or_path` is the text of a module (`jax.jit(f).lower(x).as_text()`,
    `jax.export.export(jax.jit(f))(x).mlir_module()`), its portable bytecode (`.mlir_module_serialized`), or
    the path of a file that holds one of these. Its main function becomes an ordinary function of adze: it
    runs, is compiled, differentiated, batched, built. It takes arrays of exactly the types that the module
    states; a dimension `?` may have any size. Integers of 2 and 4 bits are held in int8 and uint8, floats of
    8 bits and less in float32.

    A program that draws numbers by `rng` has one argument more, by keyword: the `key` that they follow from.

    Nothing of the file is executed. Raises `StableHLOError` (a `ValueError`), with the op and its place, for
    text that is not StableHLO, ops and types that adze lacks, and bytecode that MLIR in the compiler's wheel
    cannot read.
    """
    source = source_of(text_or_path)
    program = read(source, TABLE, REFUSED)
    name = Path(source.name).name.split(".")[0] if not source.name.startswith("<") else program.main.name
    return StableHLOFunction(program, name if name.isidentifier() else program.main.name)
