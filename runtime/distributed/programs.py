"""Programs of several ranks as files: what their manifest says of the job, and what ranks compare.

Input: the manifest of a program that was saved. Output: the functions that it imports, after this process
was found to be a rank of a job of its size, all of whose ranks load the same program. A program that differs
in one rank would wait for ever, or add other numbers.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...dialects.communicator import DistributedError, bound
from ...dialects.dataclass import dataclass
from ..artifact.signature import FunctionSignature
from ..errors import ArtifactError
from ..execute.host_calls import HostSite
from .division import Division, division_from_json
from .imports import ranks_of, sites_of

if TYPE_CHECKING:
    from ..artifact.manifest import Manifest

EXTRA: Final = "job"
"""Where it stands in what a manifest says besides."""

Json = Any


@dataclass(frozen=True)
class Job:
    """The job that a program is for: its number of ranks, the functions that it imports, and its meshes.

    A mesh has a size and a name for each axis, the name None where no collective is along the axis. With a
    `division` the program takes and returns the parts of each rank, else whole arrays.
    """

    ranks: int
    imports: tuple[str, ...]
    meshes: tuple[tuple[tuple[int, str | None], ...], ...]
    division: Division | None = None

    def to_json(self) -> Json:
        """As it stands in a manifest."""
        meshes = [[{"size": size, "name": name} for size, name in mesh] for mesh in self.meshes]
        stated = {"ranks": self.ranks, "imports": list(self.imports), "meshes": meshes}
        return stated if self.division is None else stated | {"division": self.division.to_json()}

    def __str__(self) -> str:
        meshes = self.meshes
        if self.division is not None:  # it names every axis
            meshes = (tuple(zip(self.division.sizes, self.division.names, strict=True)),)
        return ", ".join(
            " x ".join(f"{size}" if name is None else f"{name} {size}" for size, name in mesh)
            for mesh in meshes
        )


def job_for(imports: Sequence[str], meshes: Mapping[tuple[int, ...], Mapping[int, str]]) -> Job:
    """The job of a program; all its meshes have the same number of ranks."""
    sizes = {math.prod(mesh) for mesh in meshes}
    if len(sizes) > 1:
        raise DistributedError(
            f"the program has meshes of {', '.join(map(str, sorted(sizes)))} ranks: a job has one number"
        )
    named = (tuple((n, names.get(i)) for i, n in enumerate(mesh)) for mesh, names in meshes.items())
    return Job(sizes.pop(), tuple(imports), tuple(sorted(named, key=repr)))


def for_any_target(extras: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    """What manifests of one program for several targets say besides: a job has the imports of all of them."""
    first, *others = extras
    if EXTRA not in first:
        return dict(first)
    imports = {name for extra in (first, *others) for name in extra[EXTRA]["imports"]}
    return {**first, EXTRA: {**first[EXTRA], "imports": sorted(imports)}}


def job_from(extra: Mapping[str, Json]) -> Job | None:
    """The job that a manifest states; None for a program of one rank, `ArtifactError` for what is no job."""
    data = extra.get(EXTRA)
    if data is None:
        return None
    try:
        meshes = tuple(
            tuple((_whole(axis["size"]), _text_or_none(axis["name"])) for axis in mesh)
            for mesh in data["meshes"]
        )
        division = division_from_json(data["division"]) if "division" in data else None
        job = Job(_whole(data["ranks"]), tuple(map(str, data["imports"])), meshes, division)
        fits = bool(job.imports or division) and all(ranks_of(name) == job.ranks for name in job.imports)
        fits = fits and all(math.prod(size for size, _ in mesh) == job.ranks for mesh in meshes)
        fits = fits and (division is None or math.prod(division.sizes) == job.ranks)
    except (KeyError, TypeError, ValueError, AttributeError):
        fits = False
    if not fits:
        raise ArtifactError("its manifest is damaged: extra.job is no job of several ranks")
    return job


def division_of(manifest: Manifest) -> Division | None:
    """How what a program takes and returns lies on the ranks; None where it is whole.

    Raises `ArtifactError` for a manifest whose division is not of its function.
    """
    job = job_from(manifest.extra)
    if job is None or job.division is None:
        return None
    check_division(job, manifest.signatures)
    return job.division


def callers_signatures(manifest: Manifest) -> tuple[FunctionSignature, ...]:
    """The functions as their callers see them: of whole arrays, also where a rank takes parts."""
    division = division_of(manifest)
    return manifest.signatures if division is None else tuple(map(division.whole, manifest.signatures))


def check_division(job: Job, signatures: Sequence[FunctionSignature]) -> None:
    """Raise the ArtifactError where a manifest's division is not of the function that the manifest states."""
    division = job.division
    if division is not None and not (len(signatures) == 1 and division.fits(signatures[0])):
        raise ArtifactError("its manifest is damaged: extra.job divides other arrays than its function has")


def _whole(value: Json) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(value)
    return value


def _text_or_none(value: Json) -> str | None:
    if value is not None and not isinstance(value, str):
        raise ValueError(value)
    return value


def enter_job(job: Job, program: bytes) -> tuple[HostSite, ...]:
    """The imports of a program, in a rank of a job that fits, all of whose ranks have the same `program`.

    Raises `DistributedError` elsewhere; the ranks wait here for each other.
    """
    sites = tuple(site for name in job.imports for site in sites_of(name))
    communicator = bound()
    size = 1 if communicator is None else communicator.size
    if communicator is None or size == 1:
        raise DistributedError(
            f"the program is for {job.ranks} ranks (mesh {job}), and this process is no rank of a job",
            hint=f"mpirun -n {job.ranks} adze run FILE, or adze.distributed.initialize() before adze.load in "
            f"a script that adze launch -n {job.ranks} starts",
        )
    if size != job.ranks:
        raise DistributedError(
            f"the program is for {job.ranks} ranks (mesh {job}), and the job has {size}",
            hint=f"start it with -n {job.ranks}, or build it for {size} ranks",
        )
    mine = np.frombuffer(hashlib.sha256(program).digest(), np.uint8)
    every = communicator.all_gather(tuple(range(size)), mine)
    others = [rank for rank, theirs in enumerate(every) if not np.array_equal(theirs, mine)]
    if others:
        raise DistributedError(
            f"rank {communicator.rank} and rank {others[0]} load different programs",
            hint="every rank must load the same file",
        )
    return sites
