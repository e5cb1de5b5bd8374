"""`adze build`: a Python function compiled to one .vmfb for one target or several.

Input: a file with a function in it, specs of its arguments and targets. Output: the program's file, whole or
not at all, and a line (or JSON) on its signature, size and time. `frontend` does the work: trace, lower,
compile, save.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from .arguments import SpecOption, TargetsOption, check_output, chosen_targets
from .c_stub import CEmbedOption, CStubOption, check_c_stub, write_c_stub
from .default_dtypes import DefaultDtypesOption, check_default_dtypes
from .derivations import (
    ArgnumsOption,
    GradOption,
    InAxesOption,
    JvpOption,
    KeepIrOption,
    ValueAndGradOption,
    VjpOption,
    VmapOption,
    derivation,
)
from .dims import DimOption, SpecializeOption, parse_dims, parse_sizes
from .programs import Asked, BundleOption, Tracing, Written, trace_functions, write_program
from .project.command import (
    OF_A_FUNCTION,
    OF_A_PROJECT,
    AgainOption,
    CheckOption,
    FormatOption,
    JobsOption,
    LockedOption,
    ProjectOption,
    build_artifacts,
    finish,
    names_function,
    refuse,
)
from .project.depfile import DepfileOption, write_depfile
from .project.jobs import error_to_json
from .project.outcomes import Outcome, Problem, parse_format
from .project.recorder import Recording
from .ranks import RanksOption, ranks_of_the_job
from .reporting import (
    BadUsage,
    JsonOption,
    command,
    print_json,
    print_note,
    print_text,
    readable_bytes,
)
from .source import source_file


@command
def build(
    functions: Annotated[
        list[str],
        typer.Argument(
            metavar="[FILE.py:FUNC... | MODEL | ARTIFACT...]",
            help="Functions, an adze.Program, or a model (.onnx, .mlir); "
            "or artifacts of the project: all, if none is named.",
            show_default=False,
        ),
    ] = [],  # noqa: B006 - typer copies it
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="OUT.vmfb", help="The file to write.", show_default=False),
    ] = None,
    specs: SpecOption = [],  # noqa: B006 - typer copies it
    target: TargetsOption = [],  # noqa: B006
    grad: GradOption = False,
    value_and_grad: ValueAndGradOption = False,
    vjp: VjpOption = False,
    jvp: JvpOption = False,
    argnums: ArgnumsOption = "0",
    vmap: VmapOption = None,
    in_axes: InAxesOption = None,
    bundle: BundleOption = None,
    dims: DimOption = [],  # noqa: B006
    specialize: SpecializeOption = [],  # noqa: B006
    keep_ir: KeepIrOption = False,
    ranks: RanksOption = None,
    default_dtypes: DefaultDtypesOption = None,
    c_stub: CStubOption = None,
    c_embed: CEmbedOption = False,
    depfile: DepfileOption = None,
    project: ProjectOption = None,
    check: CheckOption = False,
    locked: LockedOption = False,
    again: AgainOption = False,
    jobs: JobsOption = None,
    form: FormatOption = "text",
    json: JsonOption = False,
) -> None:
    """Compile a Python function to one .vmfb, or the artifacts of a project that changed.

    Python runs the file once, and the function is traced with the given shapes and dtypes. What comes
    out is one file that runs without Python on the device that the target names. With --grad and its like
    the derivative is compiled in place of the function, with --vmap a batch of it. With several targets the
    file holds a program for each, and the best one that a machine can run is chosen when it is loaded.

    With --ranks N the meshes that the file makes are of N ranks, which mpirun -n N adze run starts: one file
    for all of them.

    Several functions, or an adze.Program of the file, become functions of one program. --in SPEC holds for
    all of them, --in NAME:SPEC for one; --bundle vjp,batched=8 adds f.vjp and f.batched to each f.

    Without a function it builds the artifacts of adze.toml (or [tool.adze] of pyproject.toml) that changed.

    Example: adze build model.py:predict --in 'f32[8,784]' -o predict.vmfb
    """
    options = dict(locals())
    if not any(map(names_function, functions)):
        refuse(options, OF_A_FUNCTION, "is for one function", "name it: adze build model.py:f -o f.vmfb")
        chosen = parse_format(form, json)
        build_artifacts(functions, project, check=check, locked=locked, again=again, jobs=jobs, form=chosen)
        return
    refuse(options, OF_A_PROJECT, "is for the artifacts of a project", "leave it out, or the function")
    chosen = parse_format(form, json)
    if chosen in ("text", "json"):
        report(_build_one_program(options, output), output, chosen == "json")
        return
    finish([_outcome(options, output)], chosen, "adze build")


def _outcome(options: dict[str, Any], output: Path | None) -> Outcome:
    """What became of a program, for machines; a failure is a problem of it. Bad usage stays what it is."""
    name, where = ", ".join(options["functions"]), f"{source_file(options['functions'][0])}:1"
    started = time.perf_counter()
    try:
        written = _build_one_program(options, output)
    except BadUsage:
        raise
    except Exception as error:
        seconds, told = time.perf_counter() - started, error_to_json(error)
        problem = Problem(told["message"], told["where"], told["hint"], told["text"])
        return Outcome(name, "failed", "", seconds, {}, (problem,), where)
    warn(written)
    return Outcome(name, "built", "", written.seconds, {"bytes": written.size}, (), where)


def _build_one_program(options: dict[str, Any], output: Path | None) -> Written:
    """One file of the functions that the options of `build` name, and what is written beside it."""
    if output is None:
        raise BadUsage("--output is missing: which file shall be written?", hint="write -o predict.vmfb")
    functions, c_stub, depfile = options["functions"], options["c_stub"], options["depfile"]
    flags = {name: options[name] for name in ("grad", "value_and_grad", "vjp", "jvp")}
    how = derivation(flags, options["argnums"], options["vmap"], options["in_axes"])
    targets = chosen_targets(options["target"])
    destination = check_output(output, keep=[source_file(function) for function in functions])
    header = check_c_stub(c_stub, options["c_embed"], [destination, *map(source_file, functions)])
    rules = None if depfile is None else check_output(depfile, "--depfile", _read_or_written(options))
    sizes = parse_dims(options["dims"]), parse_sizes(options["specialize"])
    check_default_dtypes(options["default_dtypes"])
    asked = Asked(options["specs"], how, options["bundle"], *sizes, default_dtypes=options["default_dtypes"])
    with Recording() as seen, ranks_of_the_job(options["ranks"]):
        written = write_program(
            lambda: _for_c(trace_functions(functions, asked), header),
            ", ".join(functions),
            targets,
            destination,
            options["keep_ir"],
        )
    if header is not None:
        write_c_stub(header, destination, output, embed=options["c_embed"])
    if rules is not None:
        outputs = [output] if c_stub is None else [output, c_stub]
        write_depfile(rules, outputs, seen, source_file(functions[0]))
    return written


def _for_c(tracing: Tracing, header: Path | None) -> Tracing:
    """The same; where a header is wanted, weights outside are refused before anything is compiled."""
    from ..frontend.staging.exports import kept_arrays
    from ..runtime.artifact.c_header import check_inside

    if header is not None:
        check_inside(kept_arrays(tracing.program.program))
    return tracing


def _read_or_written(options: dict[str, Any]) -> list[Path]:
    named = [options["output"], options["c_stub"], *map(source_file, options["functions"])]
    return [path for path in named if path is not None]


def warn(written: Written) -> None:
    """Say what the compile cache warned of."""
    records = [compiled.report.record for compiled in written.compiled]
    for warning in dict.fromkeys(warning for record in records for warning in record.warnings):
        print_note(f"warning: {warning}")


def report(written: Written, output: Path | None, as_json: bool) -> None:
    """Say what was written to the file that the user calls `output`: signatures, targets, size and time."""
    from ..runtime.distributed.programs import callers_signatures

    warn(written)
    targets = [str(compiled.target) for compiled in written.compiled]
    signatures = callers_signatures(written.compiled[0].manifest)
    is_hit = all(compiled.report.record.hit for compiled in written.compiled)
    if as_json:
        print_json(
            {
                "output": str(output),
                "function": str(signatures[0]),
                "functions": [str(signature) for signature in signatures],
                "target": targets[0],
                "targets": targets,
                "bytes": written.size,
                "seconds": round(written.seconds, 3),
                "cache_hit": is_hit,
            }
        )
    else:
        origin = ", from the compile cache" if is_hit else ""
        size = readable_bytes(written.size)
        for signature in signatures:
            print_text(str(signature))
        print_text(f"{output}: {size} for {', '.join(targets)} in {written.seconds:.2f} s{origin}")
