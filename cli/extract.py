"""`adze extract`: one module of a .vmfb as a plain file of IREE, for hosts that know nothing of adze.

Input: a program, and the target whose module is wanted. Output: that module alone, whole or not at all, and
where asked for a C header for it. The compiler is never loaded.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from .arguments import check_output, readable_file
from .front import typer
from .reporting import BadUsage, JsonOption, command, print_json, print_text, readable_bytes
from .run import KeyOption

if TYPE_CHECKING:
    from ..runtime.artifact.artifact import Contents
    from ..runtime.artifact.manifest import Manifest


@command
def extract(
    file: Annotated[Path, typer.Argument(metavar="IN.vmfb", help="The program.", show_default=False)],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="OUT.vmfb", help="The file to write.", show_default=False),
    ],
    target: Annotated[
        str | None,
        typer.Option(
            "--target", "-t", metavar="TARGET", help="Whose module.", show_default="the first in the file"
        ),
    ] = None,
    c_stub: Annotated[
        Path | None,
        typer.Option("--c-stub", metavar="FILE.h", help="Also write a C header for it.", show_default=False),
    ] = None,
    c_embed: Annotated[
        bool, typer.Option("--c-embed", help="Put the module itself into the header of --c-stub.")
    ] = False,
    key: KeyOption = None,
    json: JsonOption = False,
) -> None:
    """Write one module of a .vmfb as a plain IREE module, for C and other hosts of IREE.

    A file for several targets holds a module for each, of which such hosts see the first only. What is
    written has no manifest of adze behind it, and no signature: check the file that it comes from (--key).

    Example: adze extract predict.vmfb -t cpu:aarch64 -o predict_aarch64.vmfb --c-stub predict.h
    """
    from ..runtime.artifact.artifact import read
    from ..runtime.artifact.c_header import c_header
    from ..runtime.artifact.files import write_atomically
    from ..runtime.artifact.signing import public_key

    if c_embed and c_stub is None:
        raise BadUsage("--c-embed: there is no header to put the module into", hint="add --c-stub FILE.h")
    public = None if key is None else public_key(readable_file(key, "--key"))
    contents = read(readable_file(file), public)
    manifest, module = _chosen(contents, target)
    destination = check_output(output, keep=[file])
    header = None if c_stub is None else check_output(c_stub, "--c-stub", keep=[file, destination])
    if header is not None:
        text = c_header(manifest, output.stem, file=str(output), content=module if c_embed else None)
        write_atomically(header, text.encode())
    write_atomically(destination, module)
    if json:
        print_json({"output": str(output), "target": manifest.target, "bytes": len(module)})
    else:
        print_text(f"{output}: {readable_bytes(len(module))}, the module for {manifest.target}")


def _chosen(contents: Contents, target: str | None) -> tuple[Manifest, bytes]:
    """The module for a target, with the manifest as that of it alone."""
    manifest = contents.manifest
    targets = [variant.target for variant in manifest.variants] or [manifest.target]
    if target is not None and target not in targets:
        raise BadUsage(f"--target: the file has no module for {target}: it has {', '.join(targets)}")
    for variant in manifest.variants:
        if variant.target == (target or targets[0]):
            return manifest.of(variant), contents.module_of(variant)
    return manifest, contents.module
