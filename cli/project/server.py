"""A process that does jobs, each in a fork of its own.

Input: jobs, a line of JSON each, on standard input. Output: results, a line each, on standard output. What
the compiler needs is imported once; each fork starts without modules of a user, so that jobs cannot see
each other and a crash ends one job. When standard input closes, which it does when whoever asked is gone,
the job in hand ends.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import tempfile
import time
import warnings
from typing import Any, BinaryIO, Final

_GRACE: Final = 1.0
_LOG_LIMIT: Final = 64 * 1024


def serve(forget: list[str]) -> None:
    """Do jobs until standard input ends. `forget` are variables that only this process was given."""
    results = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    for name in forget:
        os.environ.pop(name, None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from .jobs import preload

    preload()
    while True:
        line = _read_line()
        if not line:
            return
        result = _in_fork(line)
        if result is None:
            return
        results.write(json.dumps(result).encode() + b"\n")


def _read_line() -> bytes:
    """One line of standard input, without reading ahead: `select` must see what is left."""
    parts: list[bytes] = []
    while True:
        part = os.read(0, 1)
        if not part:
            return b""
        if part == b"\n":
            return b"".join(parts)
        parts.append(part)


def _in_fork(line: bytes) -> dict[str, Any] | None:
    """The result of the job, None where nobody waits for it any more."""
    reading, writing = os.pipe()
    with tempfile.TemporaryFile() as log, tempfile.TemporaryDirectory(prefix="adze-job-") as folder:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # threads of BLAS, which survive a fork
            child = os.fork()
        if child == 0:
            os.close(reading)
            _work(line, writing, log, folder)
        os.close(writing)
        content = _await(reading, child)
        os.close(reading)
        if content is None:
            _end(child)
            return None
        _, status = os.waitpid(child, 0)
        result = _result(content, status)
        log.seek(0)
        return {**result, "log": log.read(_LOG_LIMIT).decode(errors="replace")}


def _await(reading: int, child: int) -> bytes | None:
    parts: list[bytes] = []
    while True:
        ready, _, _ = select.select([reading, 0], [], [])
        if reading in ready:
            part = os.read(reading, 65536)
            if not part:
                return b"".join(parts)
            parts.append(part)
        elif 0 in ready:  # nobody sends a second job while one is in hand: the other end is closed
            return None


def _end(child: int) -> None:
    """End a job: it may remove what it began to write."""
    os.kill(child, signal.SIGTERM)
    ends = time.monotonic() + _GRACE
    while time.monotonic() < ends:
        if os.waitpid(child, os.WNOHANG)[0]:
            return
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def _result(content: bytes, status: int) -> dict[str, Any]:
    try:
        return dict(json.loads(content))
    except ValueError:
        code = os.waitstatus_to_exitcode(status)
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return {"ok": False, "crash": how, "seconds": 0.0}


def _work(line: bytes, writing: int, log: BinaryIO, folder: str) -> None:
    """The forked process: it ends here, without what Python and IREE do at the end of a process."""
    code = 1
    try:
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        from .jobs import job_from_json, run_job

        result = run_job(job_from_json(json.loads(line)), folder)
        sys.stdout.flush()
        sys.stderr.flush()
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(json.dumps(result).encode(errors="surrogateescape"))
        code = 0
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode(errors="replace"))
    finally:
        os._exit(code)
