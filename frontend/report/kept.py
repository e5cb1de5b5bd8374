"""Kept IR as a source with lines: an artifact has no names of files, but its IR is a text.

Input: the contents of an artifact. Output: the same with IR whose ops have the lines of its own text, and the
text, of which large constants are left out. The one idea: MLIR's parser gives each op of a text its line.
"""

from __future__ import annotations

from dataclasses import replace

from ...dialects import mlir
from ...runtime.artifact.artifact import Contents
from ...runtime.errors import ArtifactError


def with_lines(contents: Contents) -> tuple[Contents, str]:
    """The contents with IR that is text, and that text as the page shows it, with the same lines.

    Raises `ArtifactError` where no IR is kept.
    """
    if not contents.ir:
        name = contents.manifest.signatures[0].name
        raise ArtifactError(
            f"the file keeps no adze IR of {name}()", hint="build it with adze build --keep-ir"
        )
    with mlir.new_context() as context:
        try:
            module = mlir.ir.Module.parse(contents.ir, context)
        except mlir.ir.MLIRError as error:
            raise ArtifactError(f"its adze IR cannot be read: {str(error).splitlines()[0]}") from None
        whole = str(module.operation.get_asm(large_elements_limit=None))
        shown = str(module.operation.get_asm(large_elements_limit=16))
    return replace(contents, ir=whole.encode()), shown
