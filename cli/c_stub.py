"""`adze build --c-stub`: the header of C beside a program.

Input: the path of a `.vmfb` that was just written. Output: a header with the functions of the program, whole
or not at all. `runtime/artifact/c_header.py` writes its text.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from .arguments import check_output
from .reporting import BadUsage

CStubOption = Annotated[
    Path | None,
    typer.Option(
        "--c-stub", metavar="FILE.h", help="Also write a C header with a typed function for each function."
    ),
]
CEmbedOption = Annotated[
    bool, typer.Option("--c-embed", help="Put the program itself into the header of --c-stub.")
]


def check_c_stub(stub: Path | None, embed: bool, others: Sequence[Path]) -> Path | None:
    """Where to write the header that is called `stub`, which is none of the `others`: program and sources."""
    if stub is None:
        if embed:
            raise BadUsage(
                "--c-embed: there is no header to put the program into", hint="add --c-stub FILE.h"
            )
        return None
    return check_output(stub, "--c-stub", keep=others)


def write_c_stub(stub: Path, output: Path, shown: Path, *, embed: bool) -> None:
    """Write the header `stub` of the program `output`, which the user calls `shown`."""
    from ..runtime.artifact import artifact
    from ..runtime.artifact.c_header import c_header
    from ..runtime.artifact.files import write_atomically

    contents = artifact.read(output)
    text = c_header(
        contents.manifest, shown.stem, file=str(shown), content=contents.module if embed else None
    )
    write_atomically(stub, text.encode())
