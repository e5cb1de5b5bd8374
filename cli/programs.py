"""Several functions in one file: what `adze build` makes of more than one function, or of an `adze.Program`.

Input: functions as the user names them, and texts of options. Output: a program to compile. Contradictions
are bad usage.

`--in SPEC` holds for all functions, and `--in NAME:SPEC` for the one called NAME. `--bundle vjp,batched=8`
adds derivatives and batches of each function beside it, called `f.vjp` and `f.batched`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ..dialects.dataclass import dataclass
from ..dialects.errors import AdzeError
from .arguments import bind_specs
from .default_dtypes import tracing_dtypes
from .dims import bounded
from .reporting import BadUsage, working
from .source import function_name, load_objects, user_code

if TYPE_CHECKING:
    from ..frontend.staging.compiled import Compiled
    from ..frontend.staging.derived import Derivation, Specified
    from ..frontend.staging.programs import Program
    from ..frontend.staging.traced import Traced
    from ..frontend.tracing.specs import BoundedName
    from ..runtime.targets import Target

BundleOption = Annotated[
    str | None,
    typer.Option(
        "--bundle",
        metavar="KIND,...",
        help="Put derivatives and batches beside the function: grad, value_and_grad, vjp, jvp, batched=SIZE.",
    ),
]
_OF_ONE: Final = re.compile(r"\s*([A-Za-z_]\w*)\s*:(.*)", re.DOTALL)
_BATCHED: Final = "batched"


@dataclass(frozen=True)
class Asked:
    """What the options of `adze build` ask of its functions."""

    specs: Sequence[str]
    how: Derivation
    bundle: str | None
    dims: Mapping[str, BoundedName] = field(default_factory=dict)
    sizes: Sequence[Mapping[str, int]] = ()
    option: str = "--in"
    """What messages call the place of the specs."""
    default_dtypes: str | None = field(default=None, kw_only=True)

    def named(self, option: str, key: str) -> str:
        """What messages call another place: an option of a command, or a key of a project."""
        return option if self.option.startswith("--") else key


@dataclass(frozen=True)
class Tracing:
    """What functions of the user were traced to, and the arrays of a program that stand outside its file.

    `functions` are those whose derivatives can be checked, by name.
    """

    program: Traced
    parameters: Mapping[str, Any] | None = None
    functions: Sequence[tuple[str, Specified]] = ()


def trace_functions(functions: Sequence[str], asked: Asked) -> Tracing:
    """Import and trace what the user calls `functions`: one, several, or an `adze.Program`."""
    from ..frontend.staging.derived import Specified

    with user_code(f"{', '.join(functions)} was traced"), tracing_dtypes(asked.default_dtypes):
        loaded = load_objects(functions)
        program = program_of(functions, loaded, asked)
        if program is not None:
            return Tracing(program.trace(), program.parameters(), program.functions())
        args, kwargs = bounded(
            bind_specs(loaded[0], asked.specs, asked.option), asked.dims, asked.named("--dim", "dims")
        )
        specified = Specified(loaded[0], args, kwargs)
        return Tracing(traced(specified, asked.how, functions[0]), None, [(functions[0], specified)])


def traced(specified: Specified, how: Derivation, shown: str) -> Traced:
    """What `how` asks of the function that the user calls `shown`; one that does nothing is an error."""
    from ..frontend.staging.jit import trace

    derived = specified.derived(how)
    program = trace(derived.function, *derived.args, **derived.kwargs)
    if not program.does_anything():
        raise AdzeError(
            f"{shown} returns nothing: the program would have no results",
            where=program.defined_at,
            hint="end the function with `return` and the arrays that it computes",
        )
    return program


def program_of(functions: Sequence[str], loaded: Sequence[Any], asked: Asked) -> Program | None:
    """The program of these functions, which were loaded; None for one function alone, which needs none."""
    from ..frontend.staging.derived import Specified
    from ..frontend.staging.programs import Program

    if any(isinstance(each, Program) for each in loaded):
        return _given(functions, loaded, asked)
    if len(functions) == 1 and asked.bundle is None and not asked.sizes:
        return None
    names = [function_name(text) for text in functions]
    by_function, kinds = _specs_of(names, asked.specs), _kinds(asked.bundle, asked.how)
    program = Program()
    dims = asked.named("--dim", "dims")
    for name, function in zip(names, loaded, strict=True):
        args, kwargs = bounded(bind_specs(function, by_function[name], asked.option), asked.dims, dims)
        specified = Specified(function, args, kwargs).derived(asked.how)
        program.add(specified.function, *specified.args, name=name, **specified.kwargs)
        for kind, derivation in kinds:
            program.derive(name, derivation, kind)
        for sizes in asked.sizes:
            _specialize(program, name, sizes, asked.named("--specialize", "specialize"))
    return program


def _specialize(program: Program, name: str, sizes: Mapping[str, int], option: str) -> None:
    from ..frontend.errors import ArgumentError

    try:
        program.specialize(name, sizes)
    except ArgumentError as error:
        raise BadUsage(f"{option}: {error.message}") from None


def _given(functions: Sequence[str], loaded: Sequence[Any], asked: Asked) -> Program:
    """A program that the user's file makes."""
    if len(functions) > 1:
        raise BadUsage("an adze.Program is built alone", hint="add the functions to it in Python")
    how, options = asked.how, (asked.specs, asked.bundle, asked.dims, asked.sizes)
    if any(options) or how.derivative is not None or how.batch is not None:
        raise BadUsage(
            "an adze.Program states the arguments of its functions, and their derivatives",
            hint="leave --in, --bundle, --grad and their like out",
        )
    program: Program = loaded[0]
    return program


def _specs_of(names: Sequence[str], texts: Sequence[str]) -> dict[str, list[str]]:
    """The specs of each function: those for all, and those for it alone."""
    if len(set(names)) < len(names):
        raise BadUsage(f"{', '.join(names)}: functions of one file have different names")
    by_function: dict[str, list[str]] = {name: [] for name in names}
    for text in texts:
        match = _OF_ONE.fullmatch(text)
        if match is None:
            for specs in by_function.values():
                specs.append(text)
        elif match[1] in by_function:
            by_function[match[1]].append(match[2])
        else:
            raise BadUsage(f"--in: {text!r} is for {match[1]!r}: the functions are {', '.join(names)}")
    return by_function


def _kinds(bundle: str | None, how: Derivation) -> list[tuple[str, Derivation]]:
    """Suffix and derivation of each entry of `--bundle`."""
    from ..frontend.staging.derived import DERIVATIVES, Derivation

    kinds: list[tuple[str, Derivation]] = []
    for text in [] if bundle is None else bundle.split(","):
        kind, separator, size = text.strip().partition("=")
        if kind in DERIVATIVES and not separator:
            kinds.append((kind, Derivation(kind, how.argnums)))
        elif kind == _BATCHED and (size.isdecimal() or size.isidentifier()):
            kinds.append((kind, Derivation(batch=int(size) if size.isdecimal() else size)))
        else:
            raise BadUsage(
                f"--bundle: {text.strip()!r} is none of {', '.join(DERIVATIVES)} and batched=SIZE",
                hint="write --bundle vjp,batched=8",
            )
    if len({kind for kind, _ in kinds}) < len(kinds):
        raise BadUsage(f"--bundle: {bundle!r} names one of them twice")
    return kinds


@dataclass(frozen=True)
class Written:
    """A program that was compiled for each of its targets and written: its size, and the seconds it took."""

    compiled: tuple[Compiled, ...]
    size: int
    seconds: float


def write_program(
    trace: Callable[[], Tracing], shown: str, targets: Sequence[Target], destination: Path, keep_ir: bool
) -> Written:
    """Trace what the user calls `shown`, compile it for the targets, and write it."""
    from ..frontend.staging.packages import write_traced

    started = time.perf_counter()
    with working(f"compiling {shown} for {', '.join(map(str, targets))}"):
        tracing = trace()
        compiled = write_traced(
            destination, tracing.program, targets, keep_ir=keep_ir, parameters=tracing.parameters
        )
    return Written(tuple(compiled), destination.stat().st_size, time.perf_counter() - started)
