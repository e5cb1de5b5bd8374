"""`adze check` of artifacts, in workers.

Input: a project. Output: an outcome for each artifact: its function can be traced and lowered for its
targets, its IR is well formed at each stage, and its derivatives agree with each other and with
differences.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from .building import Progress, job_of, problem_of
from .configuration import Artifact, Project
from .outcomes import Outcome, Problem
from .workers import results_of

_HINT = (
    "a rule of its own (custom_jvp, custom_vjp, stop_gradient) may mean it: gradients = false, --no-gradients"
)


def check_artifacts(
    project: Project, names: Sequence[str], gradients: bool, processes: int, progress: Progress
) -> list[Outcome]:
    """The outcomes, in the order of the project's file."""
    artifacts = {artifact.name: artifact for artifact in project.chosen(list(names))}
    jobs = [
        job_of(artifact, project, {}, "check" if gradients and artifact.gradients else "verify")
        for artifact in artifacts.values()
    ]
    outcomes: dict[str, Outcome] = {}
    with progress(len(jobs)) as tell, contextlib.closing(results_of(jobs, processes)) as results:
        for job, result in results:
            outcomes[job.name] = _outcome(artifacts[job.name], result)
            tell(job.name)
    return [outcomes[name] for name in artifacts]


def _outcome(artifact: Artifact, result: dict[str, Any]) -> Outcome:
    log, seconds = result.get("log", ""), result["seconds"]
    if not result["ok"]:
        problem = problem_of(result, artifact.where)
        return Outcome(artifact.name, "failed", "", seconds, {}, (problem,), artifact.where, log)
    facts = result["result"]
    found = tuple(Problem(text, facts["defined_at"], _HINT) for text in facts["failures"])
    why = facts["said"]
    state = "failed" if found else "good"
    return Outcome(artifact.name, state, why, seconds, facts, found, artifact.where, log)
