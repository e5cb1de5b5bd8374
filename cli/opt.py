"""`adze opt`: named passes over a module of adze IR, with no Python function in sight.

Input: MLIR text and a pipeline such as `simplify,lower{target=cpu}`. Output: MLIR text. The input may be from
anywhere: whatever holds an op of adze is verified first, so that no pass meets a malformed one. A file of
ADZE_DUMP_DIR goes on as `jit` does: `adze opt 05-mark-barriers.mlir --start-after mark-barriers`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Set
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..dialects.dataclass import dataclass
from ..dialects.errors import AdzeError
from .arguments import check_output, read_text
from .reporting import BadUsage, JsonOption, command, print_json, print_note, print_rows, print_text, usage

if TYPE_CHECKING:
    from ..dialects import mlir
    from ..passes.base import Pass
    from ..passes.registry import Group

EVERY_PASS = "all"
WHOLE_PIPELINE = "optimize,lower"
"""The groups of passes that make up what `jit` runs."""


class UnverifiedError(AdzeError, ValueError):
    """A pass failed on a module that was not verified."""


FileArgument = Annotated[
    Path | None,
    typer.Argument(metavar="FILE.mlir", help="The module, or - for standard input.", show_default=False),
]
PipelineOption = Annotated[
    str,
    typer.Option(
        "--pass-pipeline",
        metavar="PASSES",
        help="The passes in order, options in braces: 'simplify,lower{target=cpu}'.",
    ),
]
StartOption = Annotated[
    str,
    typer.Option(
        "--start-after",
        metavar="PASS",
        help="Skip the passes up to this one; without a pipeline, those of the pipeline of jit.",
    ),
]
StopOption = Annotated[
    str,
    typer.Option(
        "--stop-after",
        metavar="PASS",
        help="Run no pass behind this one; without a pipeline, those of the pipeline of jit.",
    ),
]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="OUT.mlir", help="Write there, not to standard output."),
]
PrintOption = Annotated[
    list[str],
    typer.Option(
        "--print-after",
        metavar="PASS",
        help="Print the module after this pass to standard error; 'all' for every pass. May be repeated.",
    ),
]
VerifyOption = Annotated[
    bool, typer.Option("--verify/--no-verify", help="Verify adze IR at the start and after each pass.")
]


@command
def opt(
    file: FileArgument = None,
    pass_pipeline: PipelineOption = "",
    start_after: StartOption = "",
    stop_after: StopOption = "",
    output: OutputOption = None,
    print_after: PrintOption = [],  # noqa: B006 - typer copies it
    verify: VerifyOption = True,
    locations: Annotated[bool, typer.Option("--locations", help="Print the location of each op.")] = False,
    list_passes: Annotated[bool, typer.Option("--list-passes", help="List the passes and stop.")] = False,
    json: JsonOption = False,
) -> None:
    """Run passes over a file of MLIR.

    Example: adze opt model.mlir --pass-pipeline 'simplify,lower{target=cpu}'
    """
    from ..passes.ir.parsing import holds_adze, parse_module
    from ..passes.pipeline import run_pipeline
    from ..passes.registry import GROUPS, PASSES, Verify
    from ..runtime.artifact.files import write_atomically

    if list_passes:
        show_passes((*PASSES, *GROUPS), json)
        return
    if file is None:
        raise BadUsage("no FILE.mlir was given", hint="adze opt --list-passes needs none")
    steps = chosen_passes(pass_pipeline, start_after, stop_after)
    check_print_after(print_after, steps)
    destination = check_output(output) if output else None
    piped = str(file) == "-"
    module = parse_module(read_text(file), "<stdin>" if piped else str(file), None if piped else file)

    observer = Observer({last_of(name) for name in print_after}, locations)
    if verify and holds_adze(module):
        Verify().run(module)
    with refusing_unverified(verify):
        run_pipeline(module, steps, check=verify, observer=observer)
    text = text_of(module, locations)
    if destination is not None:
        write_atomically(destination, f"{text}\n".encode())
    if json:
        print_json({"passes": observer.report, "output": str(output) if output else None, "module": text})
    elif destination is None:
        print_text(text)


def chosen_passes(pass_pipeline: str, start_after: str, stop_after: str) -> tuple[Pass, ...]:
    """The passes of a pipeline as written, or of the whole one, behind one pass and up to another."""
    from ..passes.registry import parse_pipeline

    written = pass_pipeline or (WHOLE_PIPELINE if start_after or stop_after else "")
    steps = usage("--pass-pipeline", parse_pipeline, written) if written else ()
    steps = steps[place_after("--start-after", start_after, steps) if start_after else 0 :]
    return steps[: place_after("--stop-after", stop_after, steps) if stop_after else None]


@dataclass(frozen=True)
class Observer:
    """Notes the time of each pass, and prints the module after those in `printed`."""

    printed: Set[str]
    locations: bool
    report: list[dict[str, object]] = field(default_factory=list)

    def __call__(self, step: Pass, module: mlir.ir.Module, seconds: float) -> None:
        """Called by the pipeline behind each pass."""
        self.report.append({"pass": step.name, "seconds": round(seconds, 6)})
        if EVERY_PASS in self.printed or step.name in self.printed:
            print_note(f"// after {step.name}, {seconds * 1e3:.2f} ms")
            print_note(text_of(module, self.locations))


@contextlib.contextmanager
def refusing_unverified(verify: bool) -> Iterator[None]:
    """With `--no-verify` a pass may meet what it cannot read: any failure is then the module's."""
    try:
        yield
    except AdzeError:
        raise
    except Exception as error:
        if verify:
            raise
        raise UnverifiedError(
            f"a pass cannot read the module, which was not verified ({type(error).__name__})",
            hint="leave out --no-verify, and adze says what is wrong with it",
        ) from error


def show_passes(passes: tuple[type[Pass] | Group, ...], json: bool) -> None:
    """The passes and groups with their options and what they do."""
    from ..passes.registry import description_of, options_of

    described = [(known.name, options_of(known), description_of(known)) for known in passes]
    if json:
        keys = ("name", "options", "description")
        print_json([dict(zip(keys, entry, strict=True)) for entry in described])
        return
    rows: list[tuple[str, object]] = []
    for name, options, description in described:
        written = " ".join(f"{option}={default}" for option, default in options.items())
        rows.append((f"{name}{{{written}}}" if written else name, description))
    print_rows(rows)


def last_of(name: str) -> str:
    """The name of a pass; of a group, that of its last pass."""
    from ..passes.registry import GROUPS

    return next((group.passes[-1].name for group in GROUPS if group.name == name), name)


def place_after(option: str, name: str, steps: tuple[Pass, ...]) -> int:
    """The place behind the last pass called `name`."""
    names = [step.name for step in steps]
    last = last_of(name)
    if last not in names:
        raise BadUsage(f"{option}: the pipeline has no pass {name!r}", hint=f"write {', '.join(names)}")
    return len(names) - names[::-1].index(last)


def check_print_after(names: list[str], steps: tuple[Pass, ...]) -> None:
    """Names of `--print-after` that are not in the pipeline would print nothing: they are mistakes."""
    legal = [EVERY_PASS, *(step.name for step in steps)]
    for name in names:
        if last_of(name) not in legal:
            raise BadUsage(
                f"--print-after: the pipeline has no pass {name!r}", hint=f"write {', '.join(legal)}"
            )


def text_of(module: mlir.ir.Module, locations: bool) -> str:
    """The module as MLIR text without a newline at its end."""
    return str(module.operation.get_asm(enable_debug_info=locations)).rstrip()
