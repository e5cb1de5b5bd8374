"""One artifact in a process of its own: traced, compiled, measured and written.

Input: a `Job` as JSON. Output: a result as JSON: the record of what the trace read, hashes and sizes, or
the error in the user's terms. Actions other than `build` compile and write nothing.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...dialects.dataclass import dataclass
from ...dialects.errors import AdzeError
from ...runtime.artifact.files import write_atomically
from ..arguments import check_output
from ..default_dtypes import tracing_dtypes
from ..derivations import DERIVATIVES, derivation
from ..dims import parse_dims, parse_sizes
from ..programs import Asked, Tracing, trace_functions
from ..reporting import describe
from ..source import user_code
from .record import record_of
from .recorder import Recording

if TYPE_CHECKING:
    from ...frontend.staging.compiled import Compiled
    from ...frontend.staging.gradient_checks import GradientCheck
    from ...frontend.staging.traced import Traced

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker is asked for. `locked` is the hash that the file must have, if any; `asks` are budgets
    that are measured only where they are asked for."""

    name: str
    root: str
    entries: list[str]
    inputs: list[str]
    targets: list[str]
    output: str
    derivative: str | None
    argnums: str
    vmap: str | None
    in_axes: str | None
    bundle: list[str]
    dims: list[str]
    specialize: list[str]
    keep_ir: bool
    default_dtypes: str | None
    depends: list[str]
    decides: Json
    around: dict[str, str]
    asks: list[str]
    action: str = "build"
    """`build`, `outline` (what decides the bytes), `verify` (trace and lower), `check` (derivatives too)."""
    locked: str | None = None

    def to_json(self) -> Json:
        return asdict(self)


def job_from_json(data: Json) -> Job:
    """The job that `to_json` wrote."""
    return Job(**{field.name: data[field.name] for field in fields(Job)})


def preload() -> None:
    """Import what every job needs, so that it is imported once; nothing is compiled and no thread started."""
    from ...frontend.staging import derived, jit, measures, packages  # noqa: F401
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
    text = describe(error)
    if isinstance(error, AdzeError):
        return {"text": text, "message": error.message, "where": error.where, "hint": error.hint}
    return {"text": text, "message": text.splitlines()[0], "where": place_in(text), "hint": None}


def place_in(text: str) -> str | None:
    """The last `file:line` that a message names on a line of its own."""
    places = [line.strip()[3:] for line in text.splitlines() if line.startswith("  at ")]
    return places[-1].partition(", in ")[0] if places else None


def _run(job: Job, folder: str | None) -> tuple[Json, Json]:
    destination = check_output(Path(job.output)) if job.action == "build" else Path(job.output)
    if job.action in ("verify", "check"):
        return {}, _checked(job)
    with Recording() as seen:
        tracing = trace_entries(job)
    record = record_of(seen, decides=job.decides, around=job.around, depends=job.depends, root=Path(job.root))
    if folder is not None:  # IREE's temporary files too go where they are removed, also after a crash
        os.environ["TMPDIR"] = tempfile.tempdir = folder
    if job.action == "outline":
        return record, _outline(job, tracing)
    with tempfile.TemporaryDirectory(prefix="adze-build-") as place:
        result, files = _compiled(job, tracing, Path(place) / destination.name)
    agrees = job.locked in (None, result["sha256"])
    for name, content in files.items() if agrees else ():
        _write(destination.with_name(name), content)
    return record, {**result, "written": agrees}


def _write(path: Path, content: bytes) -> None:
    try:
        write_atomically(path, content)
    except OSError as error:
        raise AdzeError(f"cannot write {path}: {error.strerror or error}") from None


def _outline(job: Job, tracing: Tracing) -> Json:
    """What decides the bytes of the file, and is known before anything is compiled."""
    from ...frontend.staging.packages import different_targets

    lowered = [tracing.program.lower(target) for target in different_targets(job.targets)]
    digests = [each.cache_key().digest for each in lowered]
    return {"key": _key(digests, tracing.parameters), "ir_sha256": lowered[0].ir_sha256}


def _compiled(job: Job, tracing: Tracing, path: Path) -> tuple[Json, dict[str, bytes]]:
    """The result of a compile, and the files of it by their names: the last one is the program."""
    from ...frontend.staging.packages import write_traced

    compiled = write_traced(
        path, tracing.program, job.targets, keep_ir=job.keep_ir, parameters=tracing.parameters
    )
    content = path.read_bytes()
    beside = {other.name: other.read_bytes() for other in path.parent.iterdir() if other != path}
    result = _result(job, tracing, compiled, content)
    result["parameters"] = {name: hashlib.sha256(data).hexdigest() for name, data in beside.items()}
    return result, {**beside, path.name: content}


def _checked(job: Job) -> Json:
    """What `adze check` finds; the IR is verified at each stage, for each target."""
    from ...frontend.staging.gradient_checks import check_gradients
    from ...frontend.staging.packages import different_targets

    tracing = trace_entries(job)
    traced = tracing.program
    for target in different_targets(job.targets):
        traced.lower(target)
    facts: Json = {"failures": [], "said": "", "defined_at": traced.defined_at, "cost": str(traced.cost())}
    if job.action != "check":
        return facts
    failures, said = [], []
    for name, specified in tracing.functions:
        with user_code(f"{name} was differentiated"), tracing_dtypes(job.default_dtypes):
            found = check_gradients(specified)
        prefix = f"{name}: " if len(tracing.functions) > 1 else ""
        failures += [f"{prefix}{failure}" for failure in found.failures()]
        said.append(prefix + _told(found))
    return {**facts, "failures": failures, "said": "; ".join(said)}


def _told(found: GradientCheck) -> str:
    if found.skipped is not None:
        return f"derivatives were not checked: {found.skipped}"
    return f"reverse {found.reverse:.1g}, differences {found.difference:.1g}"


def trace_entries(job: Job) -> Tracing:
    """The functions of a job, traced with its specs and derived as it asks."""
    flags = {name: name == job.derivative for name in DERIVATIVES}
    how = derivation(flags, job.argnums, job.vmap, job.in_axes)
    sizes = parse_dims(job.dims), parse_sizes(job.specialize)
    bundle = ",".join(job.bundle) or None
    asked = Asked(job.inputs, how, bundle, *sizes, "inputs", default_dtypes=job.default_dtypes)
    return trace_functions(job.entries, asked)


def _key(digests: list[str], parameters: Mapping[str, Any] | None) -> str:
    """The hash of everything that decides what IREE compiles, for each target, and of weights outside."""
    from ...runtime.artifact.weights import safetensors_of

    if parameters:
        digests = [*digests, hashlib.sha256(safetensors_of(parameters)).hexdigest()]
    return digests[0] if len(digests) == 1 else hashlib.sha256(" ".join(digests).encode()).hexdigest()


def _result(job: Job, tracing: Tracing, compiled: Sequence[Compiled], content: bytes) -> Json:
    from ...runtime.artifact.variants import variant_of

    records = [each.report.record for each in compiled]
    manifests = [each.manifest for each in compiled]
    seconds = [each.report.compile_seconds for each in compiled]
    traced, cost = tracing.program, tracing.program.cost()
    return {
        "signatures": [str(signature) for signature in manifests[0].signatures],
        "sha256": hashlib.sha256(content).hexdigest(),
        "ir_sha256": manifests[0].ir_sha256,
        "key": _key([record.digest for record in records], tracing.parameters),
        "bytes": len(content),
        "flags": [*dict.fromkeys(flag for manifest in manifests for flag in manifest.flags)],
        "versions": dict(manifests[0].versions),
        "targets": [manifest.target for manifest in manifests],
        "cache_hit": all(record.hit for record in records),
        "explanation": "; ".join(dict.fromkeys(record.explanation for record in records)),
        "warnings": [*dict.fromkeys(warning for record in records for warning in record.warnings)],
        "compile_s": None if None in seconds else sum(s for s in seconds if s is not None),
        "flops": cost.flops if cost.is_static else None,
        "peak_bytes": cost.peak_bytes if cost.is_static else None,
        "kernels": max(variant_of(each.manifest, each.vmfb).kernels for each in compiled),
        "error": max(_error(traced, each) for each in compiled) if "max_error" in job.asks else None,
    }


def _error(traced: Traced, compiled: Compiled) -> float:
    """The largest error of the compiled program against NumPy, on drawn inputs."""
    from ...frontend.staging.measures import largest_error

    return largest_error(traced, compiled)
