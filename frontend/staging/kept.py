"""The function of an artifact that keeps its adze IR: called in a trace or outside, like one from Python.

Input: manifest and IR of an artifact. Output: a Python function of its arguments' trees. In a trace its IR is
copied into the program being recorded, and called there, so that every transform goes through it.

Idea: a function of named dimensions has `?` in its types. An argument of a known size is given to it as one
of a size operand, and a result gets the sizes back that its names stand for.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from ...dialects import mlir
from ...dialects.errors import VerificationError
from ...passes.analysis.verify import verify
from ...passes.ir.functions import functions
from ...runtime.artifact.artifact import Contents
from ...runtime.artifact.signature import ArraySpec, Bounds, FunctionSignature
from ...runtime.errors import ArtifactError
from .. import written_trees
from ..errors import ArgumentError, ArgumentTypeError
from ..tracing.argument_sizes import solved
from ..tracing.frames import Frame, current_frame
from ..tracing.function_scope import FunctionScope
from ..tracing.interpreter import as_value, ops
from ..tracing.locations import user_location_text
from ..tracing.program import Program
from ..tracing.sizes import Dim, size_of_text
from ..tracing.specs import BoundedName, ShapeDtype
from .exported_calls import ExportedCall
from .host import runtime_argument
from .kept_state import with_state, without_state


class KeptFunction:
    """A function from kept adze IR: call it with arrays of the dtypes and shapes that it was traced for.

    That of a program with state takes the state first, a dict of its arrays by their paths, and returns
    before its results a dict of those that it changes.
    """

    def __init__(self, contents: Contents, name: str | None = None) -> None:
        """The function called `name`, by default the first of the program."""
        manifest = contents.manifest
        exported = manifest.functions[0] if name is None else manifest.function(name)
        self.__name__ = exported.signature.name
        self._program = program_of(contents, self.__name__)
        self._call = ExportedCall(with_state(exported, manifest.parameters, self._program.module))
        self.__doc__ = f"`{self._call.function.signature}`, from the adze IR that an artifact keeps."
        self.__signature__ = self._python_signature()
        without_state(self._program.module)

    @property
    def module(self) -> mlir.ir.Module:
        """The kept IR, as long as this function is."""
        return self._program.module

    @property
    def signature(self) -> FunctionSignature:
        """What it takes and returns."""
        return self._call.function.signature

    @property
    def specs(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional and keyword arguments as trees of `ShapeDtype`."""
        bounds = self._call.function.signature.bounds
        leaves = [
            ShapeDtype([_bounded(n, bounds) for n in spec.shape], spec.dtype)
            for spec in self._call.function.signature.inputs
        ]
        if self._call.function.input_tree is None:
            return tuple(leaves), {}
        args, kwargs = written_trees.from_json(self._call.function.input_tree, leaves)
        return tuple(args), dict(kwargs)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """The results, as a tree; raises `ArgumentTypeError` for arguments of another dtype or shape."""
        return self._call.results(self.leaves_of(self._call.leaves(args, kwargs)))

    def leaves_of(self, leaves: Sequence[Any]) -> list[Any]:
        """The results in order, for one argument an input in order."""
        specs, outputs = self._call.function.signature.inputs, self._call.function.signature.outputs
        values = self._values(leaves)
        sizes = self._sizes(values)
        scope = FunctionScope(self._program)
        frame = current_frame()
        if frame is None:
            return scope.call(self.__name__, values)
        operands = [_as_declared(frame, v, spec) for v, spec in zip(values, specs, strict=True)]
        results = zip(scope.call(self.__name__, operands), outputs, strict=True)
        return [_sized(value, spec, sizes) for value, spec in results]

    def sizes_of(self, leaves: Sequence[Any]) -> dict[str, Any]:
        """The size that each named dimension has for these arguments in order, which are checked."""
        return self._sizes(self._values(leaves))

    def _values(self, leaves: Sequence[Any]) -> list[Any]:
        specs = self._call.function.signature.inputs
        return [as_value(_as_typed(leaf, spec)) for leaf, spec in zip(leaves, specs, strict=True)]

    def _sizes(self, values: Sequence[Any]) -> dict[str, Any]:
        """The size that each named dimension has in a call, whose arguments are checked."""
        named: list[tuple[str, Any, str]] = []
        for value, spec in zip(values, self._call.function.signature.inputs, strict=True):
            if value.dtype != spec.dtype or len(value.shape) != len(spec.shape):
                raise self._mismatch(value, spec)
            for axis, (n, declared) in enumerate(zip(value.shape, spec.shape, strict=True)):
                if isinstance(declared, int) and (isinstance(n, Dim) or n != declared):
                    raise self._mismatch(value, spec)
                if isinstance(declared, str):
                    named.append((declared, n, f"axis {axis} of '{spec.name}'"))
        sizes = solved((declared, n) for declared, n, _ in named)
        for declared, n, place in named:
            expected = size_of_text(declared, sizes)
            if isinstance(n, int) and isinstance(expected, int) and n != expected:
                others = (f"{where} is {m}" for text, m, where in named if text in sizes and text in declared)
                raise ArgumentError(
                    f"{self.__name__}() has one size for dimension '{declared}': {next(others)}, "
                    f"{place} is {n}",
                    where=user_location_text(),
                    hint=f"it is {self._call.function.signature}",
                )
        return sizes

    def _mismatch(self, value: Any, spec: ArraySpec) -> ArgumentTypeError:
        shape = ",".join(map(str, value.shape))
        return self._call.error(f"takes {spec}, got {ShapeDtype((), value.dtype).__str__()[:-2]}[{shape}]")

    def _python_signature(self) -> inspect.Signature:
        """The arguments that the function takes, for whoever asks `inspect`."""
        kind = inspect.Parameter
        if self._call.function.input_tree is None:
            names: list[str | None] = [
                spec.name if spec.name.isidentifier() else None
                for spec in self._call.function.signature.inputs
            ]
            named: list[str] = []
        else:
            positional, keywords = self._call.function.input_tree["tuple"]
            names, named = self._call.names(len(positional["tuple"])), list(keywords["dict"])
        both = kind.POSITIONAL_OR_KEYWORD if None not in names else kind.POSITIONAL_ONLY
        return inspect.Signature(
            [
                *(kind(name or f"arg{n}", both) for n, name in enumerate(names)),
                *(kind(name, kind.KEYWORD_ONLY) for name in named),
            ]
        )

    def __repr__(self) -> str:
        return f"<{self._call.function.signature}, from kept IR>"


def _bounded(n: int | str | None, bounds: Mapping[str, Bounds]) -> int | str | None:
    return BoundedName(n, bounds[n]) if isinstance(n, str) and n in bounds else n


def program_of(contents: Contents, name: str) -> Program:
    """A program that holds the kept IR, verified."""
    if not contents.ir:
        raise ArgumentError(
            f"the file keeps no adze IR of {name}()",
            where=user_location_text(),
            hint="build it with adze build --keep-ir, or save it with keep_ir=True",
        )
    program = Program(name)
    try:
        program.module = mlir.ir.Module.parse(contents.ir, program.context)
        verify(program.module)
    except (mlir.ir.MLIRError, VerificationError) as error:
        built = contents.manifest.versions.get("adze", "of unknown version")
        raise ArtifactError(
            f"the kept IR of {name}(), written by adze {built}, cannot be read: {str(error).splitlines()[0]}",
            hint="build the program again from its source",
        ) from None
    program.symbols.update(functions(program.module))
    if name not in program.symbols:
        raise ArtifactError(f"the kept IR has no function {name!r}: the file is not what adze writes")
    return program


def _as_typed(leaf: Any, spec: ArraySpec) -> Any:
    """A Python number or a list of them as an array of the argument's dtype; others as they are."""
    is_plain = isinstance(leaf, (bool, int, float, complex, list)) and not hasattr(leaf, "dtype")
    return runtime_argument(leaf, spec.dtype) if is_plain else leaf


def _as_declared(frame: Frame, value: Any, spec: ArraySpec) -> Any:
    """`value` with the type that the function states for it: `?` for each size that it leaves open."""
    is_known = [isinstance(n, int) and not isinstance(declared, int) for n, declared in _axes(value, spec)]
    if not any(is_known):
        return value
    shape = [
        Dim(frame, frame.size_value(n), str(n)) if known else n
        for n, known in zip(value.shape, is_known, strict=True)
    ]
    return ops.reshape(value, shape=tuple(shape))


def _axes(value: Any, spec: ArraySpec) -> list[tuple[Any, int | str | None]]:
    return list(zip(value.shape, spec.shape, strict=True))


def _sized(value: Any, spec: ArraySpec, sizes: dict[str, Any]) -> Any:
    """A result with the sizes that its named dimensions have in this call."""
    shape = [size_of_text(n, sizes) if isinstance(n, str) else n for n in spec.shape]
    if None in shape or all(isinstance(n, int) for n in spec.shape):
        return value
    return ops.reshape(value, shape=tuple(shape))
