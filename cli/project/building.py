"""All artifacts of a project: those that changed are built by workers, the others are left alone.

Input: a project and what is asked. Output: an outcome for each artifact; files, records and `adze.lock` are
written whole or not at all. Idea: a record says what a trace read, so that a build in which nothing changed
looks at files and imports no compiler.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...dialects.dataclass import dataclass
from ...runtime.artifact.files import TEMPORARY_SUFFIX, is_left_behind
from ...runtime.settings import read_settings
from ..reporting import BadUsage, print_note
from .budgets import asked, problems, unmeasured
from .configuration import Artifact, Project
from .jobs import Job
from .lock import Locked, holds, lock_entry, read_lock, write_lock
from .outcomes import Outcome, Problem
from .record import Checker, digest_of, read_record, record_path, write_record
from .recorder import stamp
from .surroundings import surroundings
from .workers import results_of

Json = dict[str, Any]
Progress = Callable[[int], contextlib.AbstractContextManager[Callable[[str], None]]]
"""From a number of artifacts to what is told the name of each as it is done."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a build. `checks` writes nothing, `locked` writes only what `adze.lock` says."""

    names: tuple[str, ...] = ()
    checks: bool = False
    locked: bool = False
    again: bool = False
    processes: int = 1


def build_project(project: Project, request: Request, progress: Progress) -> list[Outcome]:
    """The outcomes, in the order of the project's file."""
    return _Build(project, request).run(progress)


class _Build:
    def __init__(self, project: Project, request: Request) -> None:
        self.project = project
        self.request = request
        self.artifacts = project.chosen(list(request.names))
        self.folder = read_settings().cache_dir
        self.around = {
            targets: surroundings(targets) for targets in dict.fromkeys(a.targets for a in self.artifacts)
        }
        self.locked: Mapping[str, Locked] = {}
        if request.checks or request.locked:
            self.locked = self.read_lock()

    def read_lock(self) -> Mapping[str, Locked]:
        lock = read_lock(self.project.lock_file)
        if lock is None:
            raise BadUsage(
                f"there is no {self.project.lock_file}",
                hint="run adze build, and commit the adze.lock that it writes",
            )
        return lock

    def run(self, progress: Progress) -> list[Outcome]:
        outcomes: dict[str, Outcome] = {}
        reasons: dict[str, str] = {}
        checker = Checker(os.environ)
        for artifact in self.artifacts:
            why, record = self.look(artifact, checker)
            if why is None and record is not None:
                outcomes[artifact.name] = self.current(artifact, record["result"])
            else:
                reasons[artifact.name] = why or "it was asked for"
        stale = [artifact for artifact in self.artifacts if artifact.name in reasons]
        jobs = [job for artifact in stale if (job := self.prepared(artifact, outcomes)) is not None]
        if jobs:
            with progress(len(jobs)) as tell, contextlib.closing(self.results(jobs)) as results:
                for job, result in results:
                    outcomes[job.name] = self.ended(job, result, reasons[job.name])
                    tell(job.name)
        ordered = [outcomes[artifact.name] for artifact in self.artifacts]
        if not self.request.checks and not self.request.locked:
            self.write_lock(ordered)
        return [*ordered, *self.left_over()]

    def results(self, jobs: Sequence[Job]) -> Generator[tuple[Job, Json], None, None]:
        return results_of(jobs, self.request.processes)

    def look(self, artifact: Artifact, checker: Checker) -> tuple[str | None, Json | None]:
        """Why the artifact is to be built (None: it is not), and its record."""
        path = self.record_path(artifact)
        record = read_record(path)
        if record is None:
            return "it was never built here", None
        if self.request.again:
            return "it was asked for", record
        if str(artifact.output) not in record["outputs"]:
            return "its output is another file", record
        why = checker.change(record, artifact.decides(), self.around[artifact.targets], self.project.root)
        if why is None and checker.renewed:
            write_record(path, checker.renew(record))
        missing = unmeasured(artifact.budgets, record["result"])
        if why is None and missing is not None:
            why = f"{missing} was not measured"
        expected = self.locked.get(artifact.name)
        if why is None and self.request.locked and expected and expected.sha256 != record["result"]["sha256"]:
            why = "it differs from adze.lock"
        return why, record

    def record_path(self, artifact: Artifact) -> Path:
        return record_path(self.folder, self.project.root, artifact.name)

    def prepared(self, artifact: Artifact, outcomes: dict[str, Outcome]) -> Job | None:
        """The job of an artifact, whose folder exists then; what prevents it is its outcome."""
        expected = self.locked.get(artifact.name)
        if expected is None and (self.request.checks or self.request.locked):
            hint = "run adze build, and commit adze.lock"
            outcomes[artifact.name] = self.failed(artifact, Problem("it is not in adze.lock", hint=hint))
            return None
        if not self.request.checks:
            try:
                artifact.output.parent.mkdir(parents=True, exist_ok=True)
                _remove_temporaries(artifact.output.parent)
            except OSError as error:
                problem = Problem(
                    f"cannot make the folder {artifact.output.parent}: {error.strerror or error}"
                )
                outcomes[artifact.name] = self.failed(artifact, problem)
                return None
        action = "outline" if self.request.checks else "build"
        locked = expected.sha256 if self.request.locked and expected else None
        return job_of(artifact, self.project, self.around[artifact.targets], action, locked)

    def current(self, artifact: Artifact, result: Json) -> Outcome:
        """The outcome of an artifact that nothing changed for."""
        found = problems(artifact.budgets, result, artifact.where)
        if self.request.checks or self.request.locked:
            found += self.differences(artifact, result)
        state = "failed" if found else "current"
        return Outcome(artifact.name, state, "", 0.0, _facts(artifact, result), tuple(found), artifact.where)

    def ended(self, job: Job, result: Json, why: str) -> Outcome:
        """The outcome of a job: what was written is recorded."""
        artifact = next(a for a in self.artifacts if a.name == job.name)
        log, seconds = result.get("log", ""), result["seconds"]
        if not result["ok"]:
            problem = problem_of(result, artifact.where)
            return replace(self.failed(artifact, problem, why), log=log, seconds=seconds)
        facts = result["result"]
        found: list[Problem] = []
        if self.request.checks:
            found = self.staleness(artifact, facts, why)
            state = "stale" if found else "current"
            return Outcome(
                job.name, state, why if found else "", seconds, {}, tuple(found), artifact.where, log
            )
        if not facts["written"]:
            found = self.differences(artifact, facts)
        else:
            self.record(artifact, result["record"], facts)
            found = problems(artifact.budgets, facts, artifact.where)
        for warning in facts["warnings"]:
            print_note(f"warning: {warning}")
        state = "failed" if found else "built"
        return Outcome(
            job.name, state, why, seconds, _facts(artifact, facts), tuple(found), artifact.where, log
        )

    def record(self, artifact: Artifact, record: Json, facts: Json) -> None:
        digests = {artifact.output.name: facts["sha256"], **facts["parameters"]}
        outputs = {}
        for name, digest in digests.items():
            path = str(artifact.output.with_name(name))
            outputs[path] = {"stamp": list(stamp(path) or (0, 0, 0, 0)), "sha256": digest}
        warning = write_record(self.record_path(artifact), {**record, "outputs": outputs, "result": facts})
        if warning:
            print_note(f"warning: {warning}")

    def differences(self, artifact: Artifact, facts: Json) -> list[Problem]:
        """What a built artifact and `adze.lock` do not agree on."""
        expected = self.locked.get(artifact.name)
        if expected is None:
            return [Problem("it is not in adze.lock", artifact.where, "run adze build, and commit adze.lock")]
        found = expected.differences(self.entry(artifact, facts))
        if not found:
            return []
        hint = "if that is meant, run adze build, and commit adze.lock"
        if found == ["the processor that it is compiled for"]:
            hint = 'name a processor in targets, such as "cpu:x86-64-v3": "cpu" is this machine\'s'
        return [Problem(f"it differs from adze.lock in {', '.join(found)}", artifact.where, hint)]

    def staleness(self, artifact: Artifact, facts: Json, why: str) -> list[Problem]:
        """What a build would change, of an artifact that was traced and not compiled."""
        expected = self.locked[artifact.name]
        hint = "run adze build, and commit what it writes"
        if expected.key != facts["key"]:
            what = (
                "the program" if expected.ir_sha256 != facts["ir_sha256"] else "versions, flags or processor"
            )
            return [Problem(f"adze.lock is stale: {why}; {what} would differ", artifact.where, hint)]
        digest = digest_of(str(artifact.output))
        if not digest:
            return [Problem(f"{artifact.output} is missing", artifact.where, hint)]
        if digest != expected.sha256:
            return [Problem(f"{artifact.output} is not the file that adze.lock names", artifact.where, hint)]
        return []

    def failed(self, artifact: Artifact, problem: Problem, why: str = "") -> Outcome:
        return Outcome(artifact.name, "failed", why, 0.0, _facts(artifact, {}), (problem,), artifact.where)

    def entry(self, artifact: Artifact, facts: Json) -> Locked:
        output = os.path.relpath(artifact.output, self.project.root)
        return lock_entry(", ".join(artifact.entries), output, facts)

    def write_lock(self, outcomes: Sequence[Outcome]) -> None:
        """Lock what was built, beside what other builds of this project locked meanwhile."""
        names = {artifact.name for artifact in self.project.artifacts}
        built = {
            artifact.name: self.entry(artifact, outcome.facts)
            for artifact, outcome in zip(self.artifacts, outcomes, strict=True)
            if "sha256" in outcome.facts
        }
        with _held(self.project.root):
            if built.keys() == names and holds(self.project.lock_file, built):
                return  # to compare texts costs less than to read TOML
            entries = {k: v for k, v in (read_lock(self.project.lock_file) or {}).items() if k in names}
            try:
                write_lock(self.project.lock_file, {**entries, **built})
            except OSError as error:
                print_note(f"warning: {self.project.lock_file} was not written: {error.strerror or error}")

    def left_over(self) -> list[Outcome]:
        """Artifacts of the lock that the project has not."""
        if self.request.names or not (self.request.checks or self.request.locked):
            return []
        known = {artifact.name for artifact in self.project.artifacts}
        hint = "run adze build, and commit adze.lock"
        return [
            Outcome(
                name,
                "stale",
                "",
                problems=(Problem(f"adze.lock has {name}, and the project has not", hint=hint),),
                where=f"{self.project.file}:1",
            )
            for name in sorted(self.locked.keys() - known)
        ]


def job_of(
    artifact: Artifact, project: Project, around: Mapping[str, str], action: str, locked: str | None = None
) -> Job:
    """What a worker is asked for an artifact."""
    return Job(
        name=artifact.name,
        root=str(project.root),
        entries=list(artifact.entries),
        inputs=list(artifact.inputs),
        targets=list(artifact.targets),
        output=str(artifact.output),
        derivative=artifact.derivative,
        argnums=artifact.argnums,
        vmap=artifact.vmap,
        in_axes=artifact.in_axes,
        bundle=list(artifact.bundle),
        dims=list(artifact.dims),
        specialize=list(artifact.specialize),
        keep_ir=artifact.keep_ir,
        default_dtypes=artifact.default_dtypes,
        depends=list(artifact.depends),
        decides=artifact.decides(),
        around=dict(around),
        asks=asked(artifact.budgets),
        action=action,
        locked=locked,
    )


def _facts(artifact: Artifact, result: Json) -> Json:
    return {"entry": ", ".join(artifact.entries), "output": str(artifact.output), **result}


def problem_of(result: Json, table: str) -> Problem:
    """What was wrong; an error that names no place is at the artifact's `table` in the project's file."""
    if "crash" in result:
        return Problem(f"the process that built it ended by {result['crash']}", table)
    error = result["error"]
    if error["where"] is None and "\n  at " not in error["text"]:
        return Problem(error["message"], table, error["hint"])
    return Problem(error["message"], error["where"], error["hint"], error["text"])


def _remove_temporaries(folder: Path) -> None:
    """What builds left in the folder that were killed while they wrote."""
    for path in folder.glob(f".*{TEMPORARY_SUFFIX}"):
        with contextlib.suppress(OSError):
            if is_left_behind(path):
                path.unlink()


@contextlib.contextmanager
def _held(folder: Path) -> Iterator[None]:
    """One build at a time in the block; the system lets go of it when a process ends, however it ends."""
    try:
        import fcntl

        descriptor = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        yield  # a system without them: the last of two builds that end together wins
        return
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
