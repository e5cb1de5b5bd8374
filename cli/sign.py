"""`adze sign`: a .vmfb with the signature of a private key in its trailer, in place or as another file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from .arguments import check_output, readable_file
from .front import typer
from .reporting import JsonOption, command, print_json, print_note


@command
def sign(
    file: Annotated[Path, typer.Argument(metavar="OUT.vmfb", help="The program.", show_default=False)],
    key: Annotated[
        Path, typer.Option("--key", metavar="PRIVATE.pem", help="Your private key.", show_default=False)
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where to write it, if not in place.", show_default=False
        ),
    ] = None,
    passphrase: Annotated[
        Path | None,
        typer.Option(
            "--passphrase-file", metavar="FILE", help="Its first line unlocks the key.", show_default=False
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Sign a .vmfb, so that who has the public key knows it unchanged.

    The signature (Ed25519) is of every part of the file and replaces any that it had. Loading with a key,
    adze.load(path, key=...) or adze run --key, refuses what that key has not signed before native code sees
    it. Equal files and keys give equal bytes.

    Example: adze sign predict.vmfb --key release.private.pem
    """
    from ..runtime.artifact.artifact import read, save
    from ..runtime.artifact.signing import private_key

    secret = None
    if passphrase is not None:
        lines = readable_file(passphrase, "--passphrase-file").read_bytes().splitlines()
        secret = lines[0] if lines else b""
    chosen = private_key(readable_file(key, "--key"), secret)
    contents = read(readable_file(file)).signed(chosen)
    keep = [key] if passphrase is None else [key, passphrase]
    place = check_output(output or file, "--output" if output else "OUT.vmfb", keep=keep)
    mode = place.stat().st_mode if place.exists() else None
    save(place, contents)
    if mode is not None:
        place.chmod(mode)  # of a file that is only readable by some
    if json:
        print_json({"file": str(output or file), "fingerprint": chosen.public.fingerprint})
    else:
        print_note(f"{output or file}: signed with key {chosen.public.fingerprint}")
