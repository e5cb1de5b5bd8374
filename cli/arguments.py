"""What several commands take: specs for the arguments of a function, a target, a file to write.

Texts are parsed here, at the edge; a text that means nothing is bad usage (exit code 2) and says what
would have been legal. `--in` is given once per argument (`--in 'f32[8,784]'`), by name
(`--in 'x=f32[8,784]'`), or once per leaf of an argument (`--in 'params.w=f32[3]'`).
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

from ..dialects.errors import AdzeError
from ..runtime.artifact.files import check_writable
from ..runtime.targets import Target, parse_target
from .front import typer
from .reporting import BadUsage, usage

FunctionArgument = Annotated[
    str,
    typer.Argument(
        metavar="FILE.py:FUNC|MODEL",
        help="The file and the function in it, or a model (.onnx, .mlir).",
        show_default=False,
    ),
]
SpecOption = Annotated[
    list[str],
    typer.Option(
        "--in",
        metavar="SPEC",
        help="One argument, in order or by name: 'f32[8,784]', 'x=f32[n,784]', '{w: f32[3], b: f32[]}'.",
        show_default=False,
    ),
]
TargetOption = Annotated[
    str,
    typer.Option(
        "--target", "-t", metavar="TARGET", help="What it shall run on: cpu, cpu:x86-64-v3, vulkan, ..."
    ),
]
TargetsOption = Annotated[
    list[str],
    typer.Option(
        "--target",
        "-t",
        metavar="TARGET",
        help="What it shall run on: cpu, cpu:x86-64-v3, vulkan, ... Several make one file for all of them.",
        show_default="cpu",
    ),
]

_NAMED = re.compile(r"\s*([A-Za-z_]\w*(?:\.\w+)*)\s*=(.*)", re.DOTALL)


def bind_specs(
    function: Callable[..., Any], texts: Sequence[str], option: str = "--in"
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The specs that `texts`, values of `option`, give to the parameters of `function`."""
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for text in texts:
        match = _NAMED.fullmatch(text)
        if match is None:
            positional.append(_parse(text, option))
        else:
            _place(named, match[1].split("."), _parse(match[2], option), text)
    keywords = {name: _as_tree(value) for name, value in named.items()}
    name = getattr(function, "__name__", "the function")
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):
        raise BadUsage(
            f"{name} does not say which parameters it has", hint="wrap it: def f(x): ..., and build f"
        ) from None
    positional, keywords = _with_declared(function, signature, positional, keywords)
    try:
        bound = signature.bind(*positional, **keywords)
    except TypeError as error:
        raise BadUsage(
            f"{option}: {name}{signature} cannot be called so: {error}",
            hint=f"write one {option} for each argument: {option} 'f32[8,3]', by name {option} 'x=f32[8,3]'",
        ) from None
    return bound.args, bound.kwargs


def _with_declared(
    function: Callable[..., Any], signature: inspect.Signature, positional: list[Any], named: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """The specs with those that a model declares of arguments for which none was given."""
    if isinstance(function, types.FunctionType) or len(positional) + len(named) >= len(signature.parameters):
        return positional, named
    from ..frontend.imports.loading import declared_specs

    declared = declared_specs(function)
    if declared is None:
        return positional, named
    rest = [*signature.parameters][len(positional) :]
    return positional, {**{name: declared[name] for name in rest}, **named}


def chosen_targets(names: Sequence[str], default: Sequence[str] = ("cpu",)) -> list[Target]:
    """The targets of `-t`, which must differ."""
    from ..frontend.staging.packages import different_targets

    for name in names:
        usage("--target", parse_target, name)
    try:
        return different_targets(names or default)
    except AdzeError as error:
        raise BadUsage(f"--target: {error.message}", hint=error.hint) from None


def _parse(text: str, option: str) -> Any:
    from ..frontend.tracing.specs import parse_spec

    return usage(option, parse_spec, text)


class _Leaves(dict[str, Any]):
    """An argument that is given leaf by leaf, as opposed to a dict that was written as one."""


def _place(entries: dict[str, Any], path: list[str], spec: Any, text: str) -> None:
    *branches, last = path
    for branch in branches:
        entries = entries.setdefault(branch, _Leaves())
        if not isinstance(entries, _Leaves):
            raise BadUsage(f"--in: {text!r} goes into an argument that was given as a whole")
    if last in entries:
        raise BadUsage(f"--in: {text!r} gives {'.'.join(path)!r} a second time")
    entries[last] = spec


def _as_tree(value: Any) -> Any:
    """Leaves keyed 0, 1, 2, ... are a list, others a dict."""
    if not isinstance(value, _Leaves):
        return value
    entries = {key: _as_tree(entry) for key, entry in value.items()}
    if sorted(entries) == sorted(map(str, range(len(entries)))):
        return [entries[str(index)] for index in range(len(entries))]
    return entries


def check_output(path: Path, option: str = "--output", keep: Sequence[Path] = ()) -> Path:
    """Where to write the file that is called `path`: a wrong one is refused before the work is done.

    `keep` are files that the command reads: none of them is overwritten. Files are written beside their place
    and moved there, so a link is followed first, and a device (`/dev/null`) would be replaced.
    """
    if str(path) == "-":
        raise BadUsage(f"{option}: '-' is no file, and results of this kind go to files", hint="name a file")
    try:
        place = path.resolve() if path.is_symlink() else path
        if place.is_dir():
            raise BadUsage(f"{option}: {str(path)!r} is a folder, expected a file")
        if place.exists() and not place.is_file():
            raise BadUsage(f"{option}: {str(path)!r} is no ordinary file")
        if not place.absolute().parent.is_dir():
            raise BadUsage(f"{option}: there is no folder {str(path.parent)!r}")
        if any(same_file(place, other) for other in keep):
            raise BadUsage(f"{option}: {str(path)!r} is read by this command, and would be overwritten")
        check_writable(place)
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: a loop of links
        raise BadUsage(f"{option}: cannot write {str(path)!r}: {reason(error)}") from None
    return place


def check_outputs(paths: Sequence[Path], option: str, keep: Sequence[Path] = ()) -> list[Path]:
    """As `check_output`, for several files that must differ."""
    places: list[Path] = []
    for path in paths:
        place = check_output(path, option, keep)
        if any(same_file(place, other) for other in places):
            raise BadUsage(f"{option}: {str(path)!r} is named twice, and would hold the last result only")
        places.append(place)
    return places


def same_file(left: Path, right: Path) -> bool:
    """Whether two paths lead to one file, which may not exist yet."""
    try:
        if left.exists() and right.exists():
            return left.samefile(right)
        return left.resolve() == right.resolve()
    except (OSError, ValueError, RuntimeError):
        return False  # one of them is no path of a file


def readable_file(path: Path, option: str = "") -> Path:
    """`path`, if it is an ordinary file that can be read: a FIFO would be waited on for ever."""
    prefix = f"{option}: " if option else ""
    try:
        if path.is_dir():
            raise BadUsage(f"{prefix}{str(path)!r} is a folder, expected a file")
        if path.exists() and not path.is_file():
            raise BadUsage(f"{prefix}{str(path)!r} is no ordinary file")
        if not path.exists():
            raise BadUsage(f"{prefix}there is no file {str(path)!r}")
        with path.open("rb"):
            return path
    except (OSError, ValueError, RuntimeError) as error:
        raise BadUsage(f"{prefix}cannot read {str(path)!r}: {reason(error)}") from None


def reason(error: Exception) -> str:
    """What the system says is wrong with a file, without the path."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def read_text(path: Path) -> str:
    """The text of a file, or of standard input for `-`."""
    try:
        if str(path) == "-":
            return typer.get_binary_stream("stdin").read().decode()
        return readable_file(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise BadUsage(f"{str(path)!r} is not a text in UTF-8") from None
    except OSError as error:
        raise BadUsage(f"cannot read {str(path)!r}: {reason(error)}") from None
