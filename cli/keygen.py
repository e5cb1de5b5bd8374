"""`adze keygen`: a pair of Ed25519 keys in PEM files, for `adze sign` and for whoever verifies."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from .arguments import check_output
from .front import typer
from .reporting import BadUsage, JsonOption, command, print_json, print_note


@command
def keygen(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="NAME.private.pem and NAME.public.pem.", show_default=False)
    ],
    json: JsonOption = False,
) -> None:
    """Make a pair of keys to sign programs with.

    NAME.private.pem is for who signs, readable by its owner alone, and belongs in no repository and in no
    image. NAME.public.pem goes to every machine that loads the programs. No file is overwritten.

    Example: adze keygen release
    """
    from ..runtime.artifact.files import write_atomically
    from ..runtime.artifact.signing import new_key_pair, private_key

    if not name or name.endswith(("/", os.sep)):
        raise BadUsage(f"{name!r} is no name of a file", hint="write a name, such as release")
    private, public = Path(f"{name}.private.pem"), Path(f"{name}.public.pem")
    for path in (private, public):
        if path.exists() or path.is_symlink():
            raise BadUsage(
                f"{str(path)!r} exists, and keys are never overwritten", hint="choose another name"
            )
        check_output(path, "NAME")
    secret, shared = new_key_pair()
    write_atomically(private, secret, 0o600)
    write_atomically(public, shared)
    fingerprint = private_key(secret).public.fingerprint
    if json:
        print_json({"private": str(private), "public": str(public), "fingerprint": fingerprint})
    else:
        print_note(f"{private}: keep it secret\n{public}: give it to who loads your programs")
        print_note(f"fingerprint {fingerprint}")
