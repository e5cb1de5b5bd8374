"""Jobs for several processes at once, and their results in the order in which they end.

Input: jobs. Output: pairs of a job and its result. However the block ends, by Ctrl-C too, no process is left.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Generator, Sequence
from typing import Any, Final

from .jobs import Job

_SERVE: Final = "import sys; from adze.cli.project.server import serve; serve(sys.argv[1:])"
_HASH_SEED: Final = "PYTHONHASHSEED"


def default_jobs() -> int:
    """As many as there are processors for this process."""
    with contextlib.suppress(AttributeError):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def results_of(jobs: Sequence[Job], processes: int) -> Generator[tuple[Job, dict[str, Any]], None, None]:
    """Each job with its result, as they end."""
    waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
    ended: queue.SimpleQueue[tuple[Job, dict[str, Any]]] = queue.SimpleQueue()
    for job in jobs:
        waiting.put(job)
    servers = []
    try:
        for _ in range(max(1, min(processes, len(jobs)))):
            server = _start()
            servers.append(server)
            threading.Thread(target=_feed, args=(server, waiting, ended), daemon=True).start()
        for _ in jobs:
            yield ended.get()
    finally:
        for server in servers:
            _close(server)
        for server in servers:
            _await_end(server)


def _start() -> subprocess.Popen[bytes]:
    environment = dict(os.environ)
    forget = []
    if _HASH_SEED not in environment:  # the order of sets is the same in each build
        environment[_HASH_SEED] = "0"
        forget.append(_HASH_SEED)
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _SERVE, *forget],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        process_group=0,  # Ctrl-C in a terminal comes to this process, which ends the others
    )


def _close(server: subprocess.Popen[bytes]) -> None:
    """Close what it waits for, which ends the job in hand too."""
    assert server.stdin is not None
    with contextlib.suppress(OSError):
        server.stdin.close()


def _await_end(server: subprocess.Popen[bytes]) -> None:
    assert server.stdout is not None
    try:
        server.wait(timeout=5)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
    server.stdout.close()


def _feed(
    server: subprocess.Popen[bytes],
    waiting: queue.SimpleQueue[Job],
    ended: queue.SimpleQueue[tuple[Job, dict[str, Any]]],
) -> None:
    """Give jobs to one process until none is left; a process that ended is an error of its job."""
    assert server.stdin is not None and server.stdout is not None
    while True:
        try:
            job = waiting.get_nowait()
        except queue.Empty:
            return
        try:
            server.stdin.write(json.dumps(job.to_json()).encode() + b"\n")
            server.stdin.flush()
            line = server.stdout.readline()
            result = json.loads(line)
        except (OSError, ValueError):
            result = {"ok": False, "crash": "the end of its process", "seconds": 0.0}
        ended.put((job, result))
