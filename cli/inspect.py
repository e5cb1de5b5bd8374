"""`adze inspect`: what a .vmfb says of itself; nothing of it is run or loaded.

Input: a file. Output: its functions, target, sizes and versions, read from the manifest after the checksum
was checked. A file that is damaged or foreign is an error, never a crash.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from .arguments import readable_file
from .front import typer
from .reporting import JsonOption, command, counted, print_json, print_rows, readable_bytes

if TYPE_CHECKING:
    from ..runtime.artifact.artifact import Inspection
    from ..runtime.artifact.manifest import Manifest
    from ..runtime.artifact.signing import Signature
    from ..runtime.artifact.variants import Verdict


@command
def inspect(
    file: Annotated[Path, typer.Argument(metavar="OUT.vmfb", help="The program.", show_default=False)],
    kernels: Annotated[
        bool, typer.Option("--kernels", help="Count the instructions of each GPU kernel instead.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Show the functions, target and versions of a .vmfb, after checking that it is whole.

    With --kernels, show its kernels: of those for GPUs what is counted in their code, and registers and
    spills where ptxas is installed (the extra gpu-check).

    Example: adze inspect predict.vmfb
    """
    if kernels:
        from .kernel_counts import show_kernels

        show_kernels(readable_file(file), json)
        return
    from ..runtime.artifact.artifact import check_runnable
    from ..runtime.artifact.artifact import inspect as inspect_artifact
    from ..runtime.artifact.variants import verdicts

    artifact = inspect_artifact(readable_file(file))
    manifest = artifact.manifest
    judged = verdicts(manifest, check_runnable)
    if json:
        import json as json_text

        print_json(
            {
                "file": str(artifact.path),
                "bytes": artifact.file_bytes,
                "module_bytes": artifact.module_bytes,
                "ir_bytes": artifact.ir_bytes,
                "sha256": artifact.sha256,
                "signed_by": signer(artifact.signature),
                "manifest": json_text.loads(manifest.to_json()),
                "variants": [_variant_json(verdict) for verdict in judged],
            }
        )
        return
    print_rows(_rows(artifact, judged))


def _rows(artifact: Inspection, judged: Sequence[Verdict]) -> list[tuple[str, object]]:
    """What a file says of itself, line by line."""
    from ..runtime.distributed.programs import callers_signatures

    manifest = artifact.manifest
    rows: list[tuple[str, object]] = [("file", artifact.path)]
    rows += [("function", signature) for signature in callers_signatures(manifest)]
    rows += [
        ("dim", f"{name}: {bounds}, of {signature.name}")
        for signature in manifest.signatures
        for name, bounds in signature.bounds.items()
    ]
    rows += _kept_rows(manifest)
    rows += _job_rows(manifest)
    rows += _variant_rows(judged) if judged else _target_rows(manifest)
    rows += [
        ("size", f"{readable_bytes(artifact.file_bytes)} (module {readable_bytes(artifact.module_bytes)})"),
        ("adze IR", f"kept, {readable_bytes(artifact.ir_bytes)}" if artifact.ir_bytes else "not kept"),
        ("sha256", artifact.sha256),
        ("signature", f"by key {signer(artifact.signature)}, not checked" if artifact.signature else "none"),
    ]
    if manifest.work is not None:
        grows = any(spec.static_shape is None for s in manifest.signatures for spec in s.inputs)
        counted = ", sizes that are not known counted as 1" if grows else ""
        rows.append(("work", f"{manifest.work:.3g} floating point operations a call{counted}"))
    rows += [(name.replace("_", " "), version) for name, version in sorted(manifest.versions.items())]
    return rows


def _job_rows(manifest: Manifest) -> list[tuple[str, object]]:
    """The ranks that a program is for, and for each array that is divided the part of a rank."""
    from ..runtime.distributed.programs import division_of, job_from

    job, division = job_from(manifest.extra), division_of(manifest)
    rows: list[tuple[str, object]] = [] if job is None else [("ranks", f"{job.ranks}, mesh {job}")]
    if division is not None:
        rows += [("divided", line) for line in division.lines(manifest.signatures[0])]
    return rows


def signer(signature: Signature | None) -> str | None:
    """The fingerprint of the key that a signature says it is by."""
    return None if signature is None else signature.public_key.fingerprint


def _kept_rows(manifest: Manifest) -> list[tuple[str, object]]:
    """A row for each array that the program keeps, and one for the file of those that are outside."""
    if manifest.parameters is None:
        return []
    rows: list[tuple[str, object]] = [
        (
            "state" if held.is_mutable else "constant",
            f"{held.spec}{', outside' if held.is_parameter else ''}",
        )
        for held in manifest.parameters.held
    ]
    if any(held.is_parameter for held in manifest.parameters.held):
        digest = f", SHA-256 {manifest.parameters.sha256[:16]}..." if manifest.parameters.sha256 else ""
        named = manifest.parameters.file or "a file that is named at load"
        rows.append(("parameters", named + digest))
    return rows


def _target_rows(manifest: Manifest) -> list[tuple[str, object]]:
    return [
        ("target", manifest.target),
        ("architecture", manifest.architecture),
        ("needs", ", ".join(manifest.required_features) or "nothing beyond the architecture"),
    ]


def _variant_rows(judged: Sequence[Verdict]) -> list[tuple[str, object]]:
    """A row for each variant: size, kernels, and whether it is the one that would be taken, or why not."""
    from ..runtime.artifact.variants import in_order

    best = next(iter(in_order(judged)), None)
    return [
        (
            "taken here" if verdict is best else "variant",
            f"{verdict.variant.target}: {readable_bytes(verdict.variant.bytes)}, "
            f"{counted(verdict.variant.kernels, 'kernel')}; {verdict.reason}",
        )
        for verdict in judged
    ]


def _variant_json(verdict: Verdict) -> dict[str, object]:
    variant = verdict.variant
    return {
        "target": variant.target,
        "bytes": variant.bytes,
        "kernels": variant.kernels,
        "runs_here": verdict.device is not None,
        "reason": verdict.reason,
    }
