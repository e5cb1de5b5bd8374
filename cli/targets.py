"""`adze targets`: what programs can be built for, what of that runs here, and what a function compiles for.

Input: nothing, or a function with specs of its arguments. Output: a line a target. With `--for` the function
is compiled for each of them, and where one refuses it, the line says which op is in the way, and which line
of the user's made it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ..dialects.errors import AdzeError
from ..runtime.targets import Target, TargetKind, parse_target, seen_of, target_names
from .arguments import SpecOption, TargetsOption, bind_specs, chosen_targets
from .reporting import BadUsage, JsonOption, command, counted, print_json, print_text, readable_bytes, working
from .source import load_function, user_code

if TYPE_CHECKING:
    from ..frontend.staging.traced import Traced

TRIED: Final = (
    "cpu",
    "cpu:x86-64-v2",
    "cpu:x86-64-v3",
    "cpu:x86-64-v4",
    "cpu:aarch64",
    "cpu:riscv64",
    "vulkan:lavapipe",
    "vulkan:ampere",
    "vulkan:rdna3",
    "vulkan:adreno",
    "cuda:sm_80",
    "cuda:sm_90",
    "rocm:gfx942",
    "rocm:gfx1100",
    "metal",
)
"""What a function is compiled for where nobody names targets: one or two of each family."""


@command
def targets(
    function: Annotated[
        str | None,
        typer.Option(
            "--for", metavar="FILE.py:FUNC", help="Compile this function for each target.", show_default=False
        ),
    ] = None,
    specs: SpecOption = [],  # noqa: B006 - typer copies it
    target: TargetsOption = [],  # noqa: B006
    json: JsonOption = False,
) -> None:
    """List the targets of programs, or say for which of them a function compiles.

    Example: adze targets --for model.py:predict --in 'f32[8,784]' -t cpu -t vulkan:ampere
    """
    if function is None:
        if specs:
            raise BadUsage("--in: there is no function", hint="write --for FILE.py:FUNC too")
        names = [chosen.name for chosen in chosen_targets(target)] if target else listed_names()
        rows = [described(name) for name in names]
    else:
        wanted = chosen_targets(target, TRIED)
        with user_code(f"{function} was traced"):
            from ..frontend.staging.jit import trace

            loaded = load_function(function)
            args, kwargs = bind_specs(loaded, specs)
            traced = trace(loaded, *args, **kwargs)
            rows = [tried(traced, chosen) for chosen in wanted]
    if json:
        print_json(rows)
        return
    width = max(len(str(row["target"])) for row in rows)
    for row in rows:
        print_text(f"{row['target']:<{width}}  {row['text']}")


def listed_names() -> list[str]:
    """Every target but `vulkan`, `cuda` and `rocm` alone, which stand for others."""
    return [name for name in target_names() if name not in ("vulkan", "cuda", "rocm")]


def described(name: str) -> dict[str, Any]:
    """A target: its architecture, what it needs, where it was run, and whether this machine runs it."""
    target = parse_target(name)
    problem, seen = problem_here(target), seen_of(target)
    facts = [target.architecture]
    if target.kind is TargetKind.CPU:
        facts.append(f"vectors of {target.vector_bits} bits")
    if target.missing_dtypes:
        facts.append(f"without {', '.join(target.missing_dtypes)}")
    where = [*([seen] if seen else []), "runs here" if problem is None else problem]
    text = "; ".join([", ".join(facts), *where])
    return {
        "target": target.name,
        "architecture": target.architecture,
        "required_features": list(target.required_features),
        "missing_dtypes": list(target.missing_dtypes),
        "seen": seen,
        "runs_here": problem is None,
        "text": text,
    }


def problem_here(target: Target) -> str | None:
    """Why this machine cannot run programs for `target`, None where it can."""
    from ..runtime.cpu import host_cpu
    from ..runtime.execute.architectures import runs
    from ..runtime.execute.devices import list_devices

    if target.kind in (TargetKind.ROCM, TargetKind.METAL):
        return f"adze has no {target.kind.value} devices"
    if target.kind is not TargetKind.CPU:
        kind = target.kind.value
        here = [info for info in list_devices() if info.kind.value == kind]
        if not here:
            return f"there is no {kind} device here"
        is_here = any(runs(kind, info.architecture, target.architecture) for info in here)
        return None if is_here else f"here there is {', '.join(info.description for info in here)}"
    cpu = host_cpu()
    if target.architecture != cpu.architecture:
        return f"this machine is {cpu.architecture}"
    missing = cpu.missing(target.required_features)
    return f"this machine lacks {', '.join(missing)}" if missing else None


def tried(traced: Traced, target: Target) -> dict[str, Any]:
    """Whether a function compiles for `target`: its size, or the op and the line that are in the way."""
    from ..frontend.staging.blocking import blocking
    from ..runtime.artifact.variants import kernels_of
    from ..runtime.errors import CompileError

    row: dict[str, Any] = {"target": target.name}
    started = time.perf_counter()
    try:
        with working(f"compiling for {target}"):
            compiled = traced.lower(target).compile()
    except AdzeError as error:
        found = blocking(traced, target)
        op = found.op if found else error.op if isinstance(error, CompileError) else None
        where, reason = (found.where, found.reason) if found else (error.where, error.message)
        blamed = " ".join([*([f"op {op}"] if op else []), *([f"at {where}"] if where else [])])
        text = f"no: {f'{blamed}: ' if blamed else ''}{reason}"
        return {**row, "compiles": False, "op": op, "where": where, "reason": reason, "text": text}
    seconds, kernels = time.perf_counter() - started, len(kernels_of(compiled.vmfb))
    text = f"yes: {readable_bytes(len(compiled.vmfb))}, {counted(kernels, 'kernel')}, {seconds:.2f} s"
    facts = {"bytes": len(compiled.vmfb), "kernels": kernels, "seconds": round(seconds, 3)}
    return {**row, "compiles": True, **facts, "text": text}
