"""`Program`: several functions in one artifact, over one set of weights and one state.

Input: a tree of arrays (or of `ShapeDtype`) that the artifact keeps, and functions with specs of their other
arguments. Output: one traced program, whose functions take the leaves of the tree before their arguments and
return those that they change before their results; the pass `hold-state` makes globals of them.

Idea: a function that updates the tree returns a new one, as everywhere in adze. A leaf that it returns as it
came is not changed, and one that no function changes is constant on the device.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...dialects import mlir
from ...dialects.dataclass import dataclass
from ...dialects.types import COMPLEX64, COMPLEX128
from ...passes.lower.hold_state import CHANGES, HELD, HOLDS
from ...runtime.artifact.manifest import GETTER, SETTER
from .. import tree
from ..errors import ArgumentError, TraceError
from ..tracing.array import Array
from ..tracing.frames import Tracer
from ..tracing.locations import located, user_location_text
from ..tracing.program import Program as Module
from ..tracing.specs import ShapeDtype
from ..tracing.trace import (
    MOST_BYTES,
    HeldArray,
    TracedProgram,
    argument_names,
    function_name,
    keyword_names,
    parameter_of,
    trace_program,
)
from .derived import Derivation, Specified
from .held import array_of, names_of, type_of, written_array, zeros_of
from .packages import write_traced
from .traced import Traced

INSIDE_AT_MOST: Final = 1 << 20
"""Bytes of arrays that are kept inside the artifact where nobody says where they shall be."""

READS, UPDATES, SETS = "reads", "updates", "sets"


@dataclass(frozen=True)
class _Entry:
    name: str
    kind: str
    specified: Specified
    specializes: tuple[str, Mapping[str, int]] | None = None
    is_derived: bool = False


@dataclass
class Program:
    """Functions that share weights and state, built into one artifact.

    `state` is a pytree of arrays, their first values, or of `ShapeDtype`, whose values are set by a function
    of the program (`sets`) or come from a file of parameters when the artifact is loaded. Functions take it
    as their first argument; without `state` they take their own arguments only.

    `outside` says whether the arrays are stored in a `.safetensors` file beside the artifact, where they can
    be replaced, or inside it; by default, outside from 1 MiB on. Raises `ArgumentError` for what is no array.
    """

    state: Any = None
    outside: bool | None = None
    _entries: list[_Entry] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        leaves, self._structure = tree.flatten(self.state)
        self._names = names_of(self._structure)
        with located():
            self._leaves = [
                leaf if isinstance(leaf, ShapeDtype) else array_of(leaf, name)
                for leaf, name in zip(leaves, self._names, strict=True)
            ]
        for leaf, name in zip(self._leaves, self._names, strict=True):
            if leaf.dtype == COMPLEX128 or (leaf.dtype == COMPLEX64 and isinstance(leaf, ShapeDtype)):
                raise ArgumentError(
                    f"{name} of the state is {leaf.dtype.name}, which a program cannot keep",
                    where=user_location_text(),
                    hint="keep the real and the imaginary part",
                )
            if isinstance(leaf, ShapeDtype) and not leaf.type.is_static:
                raise ArgumentError(
                    f"{name} of the state is {leaf}: what a program keeps has a static shape",
                    where=user_location_text(),
                )

    # -- functions -----------------------------------------------------------------------------

    def reads(self, *specs: Any, name: str | None = None, **keywords: Any) -> Callable[..., Any]:
        """Decorator: the function `(state, *arguments) -> results` becomes an entry point."""
        return self._decorator(READS, specs, name, keywords)

    def updates(self, *specs: Any, name: str | None = None, **keywords: Any) -> Callable[..., Any]:
        """Decorator: the function `(state, *arguments) -> (new state, results)` becomes an entry point."""
        return self._decorator(UPDATES, specs, name, keywords)

    def sets(self, *specs: Any, name: str | None = None, **keywords: Any) -> Callable[..., Any]:
        """Decorator: the function `(*arguments) -> state` becomes an entry point, such as `init`."""
        return self._decorator(SETS, specs, name, keywords)

    def add(
        self, function: Callable[..., Any], *specs: Any, name: str | None = None, **keywords: Any
    ) -> Program:
        """Add an entry point that reads the state, and return the program."""
        self._decorator(READS, specs, name, keywords)(function)
        return self

    def derive(self, name: str, how: Derivation, suffix: str) -> Program:
        """Add a derivative or batch of the entry point `name`, called `name.suffix`; returns the program."""
        base = self._entry(name)
        if self.state is not None:
            raise ArgumentError(
                f"{name} takes the state of the program: it is differentiated by adze.grad in Python",
                hint="add a function that calls adze.grad or adze.vmap of it",
            )
        self._add(f"{name}.{suffix}", READS, base.specified.derived(how), is_derived=True)
        return self

    def specialize(self, name: str, sizes: Mapping[str, int]) -> Program:
        """Add another program of the entry point `name` for these sizes of its named dimensions.

        It shares weights and state with the one for any size, and a call with arrays of these sizes takes it.
        Raises `ArgumentError` for a dimension that no argument has, or a size outside its bounds.
        """
        base = self._entry(name)
        specs = [leaf for leaf in tree.leaves((base.specified.args, base.specified.kwargs))]
        names = {
            n: n for spec in specs if isinstance(spec, ShapeDtype) for n in spec.shape if isinstance(n, str)
        }
        for dim, size in sizes.items():
            if dim not in names:
                known = ", ".join(names) or "none"
                raise ArgumentError(f"{name} has no dimension {dim!r}: it has {known}")
            bounds = getattr(names[dim], "bounds", None)
            if size < 0 or (bounds is not None and size not in bounds):
                raise ArgumentError(f"{name} cannot be specialized for {dim}={size}: expected {bounds or 0}")
        suffix = "_".join(f"{dim}_{size}" for dim, size in sorted(sizes.items()))
        fixed = tree.map(lambda spec: _fixed(spec, sizes), (base.specified.args, base.specified.kwargs))
        specified = Specified(base.specified.function, *fixed)
        self._add(f"{name}.{suffix}", base.kind, specified, (name, dict(sizes)), is_derived=True)
        return self

    def functions(self) -> list[tuple[str, Specified]]:
        """The entry points by name, as functions that take the state first where they read it.

        Derivatives, batches and programs for single sizes of an entry point are left out.
        """
        state = tree.unflatten(self._structure, [ShapeDtype(x.shape, x.dtype) for x in self._leaves])
        taken = {entry.name: entry.kind != SETS and self.state is not None for entry in self._entries}
        return [
            (e.name, replace(e.specified, args=(*(state,) * taken[e.name], *e.specified.args)))
            for e in self._entries
            if not e.is_derived
        ]

    def _entry(self, name: str) -> _Entry:
        for entry in self._entries:
            if entry.name == name:
                return entry
        known = ", ".join(entry.name for entry in self._entries) or "none"
        raise ArgumentError(f"the program has no function {name!r}: it has {known}")

    def _decorator(
        self, kind: str, specs: Sequence[Any], name: str | None, keywords: dict[str, Any]
    ) -> Callable[..., Any]:
        def add(function: Callable[..., Any]) -> Callable[..., Any]:
            self._add(name or function_name(function), kind, Specified(function, tuple(specs), keywords))
            return function

        return add

    def _add(
        self,
        name: str,
        kind: str,
        specified: Specified,
        specializes: tuple[str, Mapping[str, int]] | None = None,
        *,
        is_derived: bool = False,
    ) -> None:
        if any(entry.name == name for entry in self._entries) or name in (GETTER, SETTER):
            raise ArgumentError(
                f"the program has a function {name!r} already",
                where=user_location_text(),
                hint="give one of them another name=",
            )
        if not all(part.isidentifier() for part in name.split(".")):
            raise ArgumentError(f"{name!r} is no name of a function", where=user_location_text())
        if len(name.encode()) > MOST_BYTES:
            raise ArgumentError(
                f"the name {name[:30]!r}... has {len(name.encode())} bytes: expected {MOST_BYTES} at most",
                where=user_location_text(),
                hint="give the function a shorter name=",
            )
        if kind != READS and self.state is None:
            raise ArgumentError(
                f"{name} {kind} the state, and the program has none",
                where=user_location_text(),
                hint="write adze.Program(state)",
            )
        self._entries.append(_Entry(name, kind, specified, specializes, is_derived))

    # -- tracing -------------------------------------------------------------------------------

    def trace(self) -> Traced:
        """Trace all functions into one module. Raises `ArgumentError` where there are none."""
        if not self._entries:
            raise ArgumentError("the program has no functions", hint="add one: program.add(f, *specs)")
        module = Module(self._entries[0].name)
        module.symbols.update(entry.name for entry in self._entries)
        changed: set[int] = set()
        programs = []
        for entry in self._entries:
            module.memo.clear()  # its keys are ids of what the last function may have dropped
            programs.append(self._traced(module, entry, changed))
        first, *others = programs
        first.others = others
        first.held = [self._held(n, n in changed) for n in range(len(self._names))]
        if self._names:
            self._mark(module)
        return Traced(first)

    def _traced(self, module: Module, entry: _Entry, all_changed: set[int]) -> TracedProgram:
        """One function, with the state in front where it reads it."""
        function, args, kwargs = entry.specified.function, entry.specified.args, entry.specified.kwargs
        takes = self.state is not None and entry.kind != SETS
        held = [ShapeDtype(leaf.shape, leaf.dtype) for leaf in self._leaves] if takes else []
        changed: list[int] = []

        def call(arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
            state, rest = arguments[: len(held)], arguments[len(held) :]
            before = (tree.unflatten(self._structure, state),) if takes else ()
            result = function(*before, *rest, **keywords)
            if entry.kind == READS:
                return (), result
            new, result = _pair(entry, result) if entry.kind == UPDATES else (result, ())
            kept = self._changed(entry.name, new, state)
            changed.extend(kept)
            return tuple(kept.values()), result

        own = _argument_names(function, takes, args, kwargs)
        names = [*self._names[: len(held)], *own]
        traced = trace_program(
            function,
            (*held, *args),
            kwargs,
            static=call,
            names=names,
            program=module,
            symbol=entry.name,
        )
        _drop_held(traced, len(held), len(changed), args, kwargs)
        traced.specializes = entry.specializes
        traced.argument_names = keyword_names(function, (0, *args) if takes else args)[takes:]
        if not traced.result_types and not changed:
            raise TraceError(
                f"{entry.name} returns nothing: the function would do nothing",
                where=traced.defined_at,
                hint="end the function with `return` and the arrays that it computes",
            )
        if self._names:
            self._mark_function(module, entry, changed)
        all_changed.update(changed)
        return traced

    def _changed(self, name: str, new: Any, state: Sequence[Any]) -> dict[int, Any]:
        """The leaves of the new state by position that differ from the old ones."""
        leaves, structure = tree.flatten(new)
        if structure != self._structure:
            raise ArgumentError(
                f"{name} returns the state {tree.describe(structure)}, expected "
                f"{tree.describe(self._structure)}",
                where=user_location_text(),
            )
        changed = {}
        for n, (leaf, kept, path) in enumerate(zip(leaves, self._leaves, self._names, strict=True)):
            if state and leaf is state[n]:
                continue
            is_known = isinstance(leaf, (Tracer, Array, np.ndarray, np.generic))
            type_ = parameter_of(leaf, path).type if not isinstance(leaf, Tracer) else leaf.type
            if not is_known or type_ != type_of(kept):
                raise ArgumentError(
                    f"{name} returns {type_} for {path} of the state, expected "
                    f"{ShapeDtype(kept.shape, kept.dtype)}",
                    where=user_location_text(),
                    hint="convert it with .astype(...)",
                )
            changed[n] = leaf
        return changed

    # -- what the pass `hold-state` reads --------------------------------------------------------

    @property
    def _is_outside(self) -> bool:
        size = sum(zeros_of(leaf).nbytes for leaf in self._leaves)
        return size > INSIDE_AT_MOST if self.outside is None else self.outside

    def _is_parameter(self, n: int) -> bool:
        if isinstance(self._leaves[n], ShapeDtype):
            return not any(entry.kind == SETS for entry in self._entries)
        # MLIR's bindings cannot hand on a constant of complex numbers
        return self._is_outside or self._leaves[n].dtype == COMPLEX64

    def _held(self, n: int, is_changed: bool) -> HeldArray:
        return HeldArray(self._names[n], type_of(self._leaves[n]), is_changed, self._is_parameter(n))

    def _mark_function(self, module: Module, entry: _Entry, changed: Sequence[int]) -> None:
        function = next(
            f for f in module.module.body.operations if f.attributes["sym_name"].value == entry.name
        )
        with module.context:
            function.attributes[HOLDS] = mlir.ir.StringAttr.get(entry.kind)
            function.attributes[CHANGES] = mlir.ir.DenseI64ArrayAttr.get(list(changed))

    def _mark(self, module: Module) -> None:
        with module.context, module.unknown:
            held = self._held_of(module)
            written = [written_array(module.codec, h, x) for h, x in zip(held, self._leaves, strict=True)]
            module.module.operation.attributes[HELD] = mlir.ir.ArrayAttr.get(written)

    def _held_of(self, module: Module) -> list[HeldArray]:
        changed: set[int] = set()
        for function in module.module.body.operations:
            if CHANGES in function.attributes:
                changed.update(mlir.ir.DenseI64ArrayAttr(function.attributes[CHANGES]))
        return [self._held(n, n in changed) for n in range(len(self._names))]

    # -- artifacts -----------------------------------------------------------------------------

    def parameters(self) -> dict[str, np.ndarray]:
        """The arrays that stand outside the artifact, by name, where the program has values for them."""
        return {
            name: leaf
            for n, (name, leaf) in enumerate(zip(self._names, self._leaves, strict=True))
            if not isinstance(leaf, ShapeDtype) and self._is_parameter(n)
        }

    def save(
        self, path: str | os.PathLike[str], target: str | Sequence[str] = "cpu", *, keep_ir: bool = False
    ) -> Path:
        """Compile the program for each target and write it to `path`.

        Arrays that stand outside are written beside it, to a file of the same name that ends in
        `.safetensors`.
        """
        targets = [target] if isinstance(target, str) else list(target)
        with located():
            write_traced(path, self.trace(), targets, keep_ir=keep_ir, parameters=self.parameters())
        return Path(path)


def _fixed(spec: Any, sizes: Mapping[str, int]) -> Any:
    """A spec with these sizes in place of names."""
    if not isinstance(spec, ShapeDtype):
        return spec
    return ShapeDtype([sizes.get(n, n) if isinstance(n, str) else n for n in spec.shape], spec.dtype)


def _pair(entry: _Entry, result: Any) -> tuple[Any, Any]:
    if not isinstance(result, tuple) or len(result) != 2:
        raise ArgumentError(
            f"{entry.name} updates the state: expected a pair (new state, results), got "
            f"{type(result).__name__}",
            where=user_location_text(),
            hint="return (state, results); results may be ()",
        )
    return result[0], result[1]


def _argument_names(
    function: Callable[..., Any], takes: bool, args: Sequence[Any], kwargs: dict[str, Any]
) -> list[str]:
    """A name for each leaf of the arguments behind the state."""
    names = argument_names(function, (0, *args) if takes else args, kwargs)
    return names[bool(takes) :]


def _drop_held(
    traced: TracedProgram, taken: int, changed: int, args: Sequence[Any], kwargs: dict[str, Any]
) -> None:
    """Let a traced program show the arguments and results of its callers only."""
    del traced.parameters[:taken]
    traced.argument_tree = tree.structure((tuple(args), dict(kwargs)))
    _, traced.result_tree = traced.result_tree.children()
    for values in (traced.result_types, traced.result_shapes, traced.result_names):
        del values[:changed]
    traced.result_names[:] = [f"result{path}" for path in tree.paths(traced.result_tree)]
