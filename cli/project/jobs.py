"""One artifact in a process of its own: traced, compiled, measured and written.

Input: a `Job` as JSON. Output: a result as JSON: the record of what the trace read, hashes and sizes, or the error
in the user's terms. With `writes` false the function is traced and lowered, which decides the bytes of the file,
and nothing is compiled or written.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...dialects.errors import AdzeError
from ...runtime.artifact.files import write_atomically
from ..arguments import bind_specs, check_output
from ..reporting import BadUsage, describe
from ..source import load_function, user_code
from .record import record_of
from .recorder import Recording

if TYPE_CHECKING:
    from ...frontend.staging.stages import Compiled, Lowered, Traced

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker is asked for. `locked` is the hash that the file must have, if any; `asks` are budgets
    that are measured only where they are asked for."""

    name: str
    root: str
    entry: str
    inputs: list[str]
    targets: list[str]
    output: str
    derivative: str | None
    argnums: str
    vmap: str | None
    in_axes: str | None
    keep_ir: bool
    depends: list[str]
    decides: Json
    around: dict[str, str]
    asks: list[str]
    writes: bool = True
    locked: str | None = None

    def to_json(self) -> Json:
        return asdict(self)


def job_from_json(data: Json) -> Job:
    """The job that `to_json` wrote."""
    return Job(**{field.name: data[field.name] for field in fields(Job)})


def preload() -> None:
    """Import what every job needs, so that it is imported once; nothing is compiled and no thread started."""
    from ...frontend.staging import derived, jit, measures  # noqa: F401
    from ...passes import pipeline  # noqa: F401
    from ...runtime.compile import strategy  # noqa: F401


def run_job(job: Job, folder: str | None = None) -> Json:
    """The result of a job: `ok`, and `record` or `error`. Temporary files go to `folder`."""
    started = time.perf_counter()
    try:
        os.chdir(job.root)
        record, result = _run(job, folder)
    except Exception as error:
        return {"ok": False, "error": error_to_json(error), "seconds": time.perf_counter() - started}
    return {"ok": True, "record": record, "result": result, "seconds": time.perf_counter() - started}


def error_to_json(error: Exception) -> Json:
    """What went wrong, for a message and for annotations."""
    is_own = isinstance(error, AdzeError)
    return {
        "text": describe(error),
        "message": error.message if isinstance(error, AdzeError) else describe(error).splitlines()[0],
        "where": error.where if is_own else place_in(describe(error)),
        "hint": error.hint if is_own else None,
        "is_usage": isinstance(error, BadUsage),
    }


def place_in(text: str) -> str | None:
    """The last `file:line` that a message names on a line of its own."""
    places = [line.strip()[3:] for line in text.splitlines() if line.startswith("  at ")]
    return places[-1].partition(", in ")[0] if places else None


def _run(job: Job, folder: str | None) -> tuple[Json, Json]:
    destination = check_output(Path(job.output)) if job.writes else Path(job.output)
    with Recording() as seen:
        traced = trace_entry(job)
    record = record_of(
        seen, decides=job.decides, around=job.around, depends=job.depends, root=Path(job.root)
    )
    if len(job.targets) > 1:
        raise BadUsage(
            f"{job.name}: {len(job.targets)} targets for one file",
            hint='write {target} in output, for instance output = "' + f'{job.name}-{{target}}.vmfb"',
        )
    if folder is not None:  # IREE's temporary files too go where they are removed, also after a crash
        os.environ["TMPDIR"] = tempfile.tempdir = folder
    lowered = traced.lower(job.targets[0])
    if not job.writes:
        return record, {"key": _key(lowered), "ir_sha256": lowered.ir_sha256}
    compiled = lowered.compile()
    content = _content(compiled, job.keep_ir)
    result = _result(job, traced, lowered, compiled, content)
    if job.locked is not None and result["sha256"] != job.locked:
        return record, {**result, "written": False}
    write_atomically(destination, content)
    return record, {**result, "written": True}


def trace_entry(job: Job) -> Traced:
    """The function of a job, traced with its specs, derived as it asks."""
    from ...frontend.staging.derived import Specified
    from ...frontend.staging.jit import trace
    from ..derivations import DERIVATIVES, derivation

    flags = {name: name == job.derivative for name in DERIVATIVES}
    how = derivation(flags, job.argnums, job.vmap, job.in_axes)
    with user_code(f"{job.entry} was traced"):
        function = load_function(job.entry)
        specified = Specified(function, *bind_specs(function, job.inputs, "inputs"))
        derived = specified.derived(how)
        traced = trace(derived.function, *derived.args, **derived.kwargs)
    if not traced.does_anything():
        raise AdzeError(
            f"{job.entry} returns nothing: the program would have no results",
            where=traced.defined_at,
            hint="end the function with `return` and the arrays that it computes",
        )
    return traced


def _key(lowered: Lowered) -> str:
    """The hash of everything that decides what IREE compiles."""
    return lowered.cache_key().digest


def _content(compiled: Compiled, keep_ir: bool) -> bytes:
    with tempfile.TemporaryDirectory(prefix="adze-build-") as folder:
        path = Path(folder) / "program.vmfb"
        compiled.save(path, keep_ir=keep_ir)
        return path.read_bytes()


def _result(job: Job, traced: Traced, lowered: Lowered, compiled: Compiled, content: bytes) -> Json:
    record = compiled.report.record
    cost = traced.cost()
    return {
        "signature": str(compiled.manifest.signatures[0]),
        "sha256": hashlib.sha256(content).hexdigest(),
        "ir_sha256": lowered.ir_sha256,
        "key": record.digest,
        "bytes": len(content),
        "flags": list(compiled.manifest.flags),
        "versions": dict(compiled.manifest.versions),
        "targets": [compiled.manifest.target],
        "cache_hit": record.hit,
        "explanation": record.explanation,
        "warnings": list(record.warnings),
        "compile_s": compiled.report.compile_seconds,
        "flops": _number(cost.flops),
        "peak_bytes": _number(cost.peak_bytes),
        "kernels": _kernels(lowered) if "max_kernels" in job.asks else None,
        "error": _error(traced, compiled) if "max_error" in job.asks else None,
    }


def _number(value: Any) -> int | None:
    """A count of the cost; None where it depends on sizes that are not known."""
    return int(value) if isinstance(value, int | float) else None


def _kernels(lowered: Lowered) -> int:
    return lowered.kernels().count("flow.executable.export")


def _error(traced: Traced, compiled: Compiled) -> float:
    """The largest error of the compiled program against NumPy, on drawn inputs."""
    from ...frontend.staging.measures import largest_error

    return largest_error(traced, compiled)
