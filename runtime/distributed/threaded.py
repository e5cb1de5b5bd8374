"""A script in several threads of one process, each a rank of a job: for development without MPI.

Input: a script, its arguments, a number of ranks. Output: what the script writes, each line with its rank in
front. Idea: every rank runs the script's code in a namespace of its own; imported modules are shared.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from .jobs import process_index
from .ranked import Prefixed
from .threads import run


class _ByRank:
    """A standard stream that writes to the stream of the thread's rank."""

    def __init__(self, stream: TextIO, ranks: int) -> None:
        width = len(str(ranks - 1))
        self.of_ranks = [Prefixed(stream, f"[{rank:>{width}}] ") for rank in range(ranks)]
        self._lock = threading.Lock()

    def write(self, text: str) -> int:
        with self._lock:
            return self.of_ranks[process_index()].write(text)

    def flush(self) -> None:
        """Lines are written when they are whole."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.of_ranks[0], name)


@contextmanager
def _prefixed(ranks: int) -> Iterator[None]:
    before = sys.stdout, sys.stderr
    streams = [_ByRank(stream, ranks) for stream in before]
    sys.stdout, sys.stderr = streams
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        for stream in streams:
            for of_rank in stream.of_ranks:
                of_rank.finish()


def run_in_threads(words: Sequence[str], ranks: int) -> None:
    """Run the script in `ranks` threads; raises what the first rank that failed raised."""
    path = Path(words[0])
    code = compile(path.read_bytes(), str(path), "exec")
    arguments, folders = sys.argv, sys.path[:]
    sys.argv, sys.path[0:0] = [*words], [str(path.resolve().parent)]

    def of_rank() -> None:
        try:
            exec(code, {"__name__": "__main__", "__file__": str(path), "__builtins__": __builtins__})
        except SystemExit as end:
            if end.code not in (None, 0):
                raise

    try:
        with _prefixed(ranks):
            run(of_rank, ranks)
    finally:
        sys.argv, sys.path[:] = arguments, folders
