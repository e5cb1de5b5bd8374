"""A script as one rank of a job: python -m adze.runtime.distributed.ranked SCRIPT [ARGUMENTS].

Input: a script and its arguments, in a process that a launcher of MPI started. Output: what the script
writes, each line with its rank in front. Idea: whatever ends the script but its last line ends the job, since
the other ranks would wait for this one for ever.
"""

from __future__ import annotations

import io
import runpy
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TextIO

from .jobs import initialize, process_count, process_index


class Prefixed(io.TextIOBase):
    """A stream whose lines begin with the rank; a line is written when it is whole."""

    def __init__(self, stream: TextIO, prefix: str) -> None:
        self._stream, self._prefix, self._line = stream, prefix, ""

    def write(self, text: str) -> int:
        *whole, self._line = (self._line + text).split("\n")
        if whole:
            self._stream.write("".join(f"{self._prefix}{line}\n" for line in whole))
            self._stream.flush()
        return len(text)

    def writable(self) -> bool:
        return True

    def finish(self) -> None:
        """Write what is left of a last line without an end."""
        if self._line:
            self.write("\n")


def run_script(words: Sequence[str]) -> int:
    """Run the script as `__main__`; its exit code, after the reason was written to standard error."""
    sys.argv = [*words]
    sys.path[0:1] = [str(Path(words[0]).resolve().parent)]
    try:
        runpy.run_path(words[0], run_name="__main__")
    except SystemExit as end:
        if end.code in (None, 0):
            return 0
        if not isinstance(end.code, int):
            print(end.code, file=sys.stderr)
        code = end.code if isinstance(end.code, int) else 1
        print(f"ended with exit code {code}, and the job with it", file=sys.stderr)
        return code
    except BaseException as error:
        error.__traceback__ = _from_script(error.__traceback__, words[0])
        traceback.print_exception(error)
        print("ended by this error, and the job with it", file=sys.stderr)
        return 1
    return 0


def _from_script(frames: TracebackType | None, script: str) -> TracebackType | None:
    """The frames from the script's own on: above them is only what runs it."""
    own = frames
    while own is not None and own.tb_frame.f_code.co_filename != script:
        own = own.tb_next
    return frames if own is None else own


def main() -> None:
    """The rank's process."""
    initialize()
    rank, width = process_index(), len(str(process_count() - 1))
    streams = [Prefixed(stream, f"[{rank:>{width}}] ") for stream in (sys.stdout, sys.stderr)]
    sys.stdout, sys.stderr = streams
    code = run_script(sys.argv[1:])
    for stream in streams:
        stream.finish()
    if code:
        from mpi4py import MPI

        MPI.COMM_WORLD.Abort(code)


if __name__ == "__main__":
    main()
