"""`load`: a saved program as a Python function. Needs NumPy and the IREE runtime, never the compiler."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...runtime.artifact import artifact
from ...runtime.artifact.manifest import Manifest
from ...runtime.artifact.signing import public_key
from ...runtime.errors import MissingCompilerError
from ..tracing.array import Array
from ..tracing.locations import located
from .exported_calls import ExportedCall
from .host import runtime_argument

if TYPE_CHECKING:
    from .kept import KeptFunction


class LoadedProgram:
    """A program from a `.vmfb`: call it with the trees of arrays that it was built for."""

    def __init__(self, loaded: artifact.LoadedProgram) -> None:
        self._loaded = loaded
        self._call = ExportedCall(loaded.manifest.functions[0])
        self._function = loaded.executable.function(self._call.name)

    @property
    def manifest(self) -> Manifest:
        """What the program says of itself."""
        return self._loaded.manifest

    @property
    def target(self) -> str:
        """What its code was built for: of a file with several variants, that of the chosen one."""
        return self._loaded.manifest.target

    @property
    def device(self) -> str:
        """The name of the device that it runs on."""
        return self._loaded.device.name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call by position or by name; numbers may be written as nested lists."""
        return self._call.results(self.leaves_of(self._call.leaves(args, kwargs)))

    def leaves_of(self, leaves: Sequence[Any]) -> list[Array]:
        """The results in order, for one argument an input in order."""
        specs = self._call.function.signature.inputs
        arguments = [runtime_argument(x, spec.dtype) for x, spec in zip(leaves, specs, strict=True)]
        with located():
            return [Array(r) for r in self._function.call(arguments)]

    def differentiable(self) -> KeptFunction:
        """The program as a function that `grad`, `vmap`, `jit` and the other transforms take.

        It is that of the adze IR which the file keeps, with the shapes, dtypes and custom rules that it was
        traced with. Called as it is, it evaluates op by op with NumPy; `adze.jit` compiles it. Needs the
        compiler. Raises `ArgumentError` where the file keeps no IR, `ArtifactError` for one that this adze
        cannot read.
        """
        try:
            from .kept import KeptFunction
        except ModuleNotFoundError as error:
            if not (error.name or "").startswith("adze."):
                raise
            raise MissingCompilerError("differentiable()") from None

        with located():
            return KeptFunction(artifact.Contents(b"", self.manifest, self._loaded.ir))

    def __repr__(self) -> str:
        return f"<{self._call.function.signature} on {self.device}>"


def load(
    path: str | os.PathLike[str],
    device: str | None = None,
    *,
    key: str | os.PathLike[str] | bytes | None = None,
    target: str | None = None,
) -> LoadedProgram:
    """The program saved at `path`, ready to be called on `device` (by default the cheapest of its target).

    `key` is the public key of who signed the file (`adze sign`), as a PEM file or its text in bytes: a file
    that is not signed by it, or was changed since, is refused before any native code sees it. Without a key
    the file is protected against damage only, and has to come from somewhere that you trust.

    Of a file with several variants the best one is taken that this machine can run, or that for `target`.

    Raises `ArtifactError` for a file that is missing, damaged, foreign, or built for another machine,
    `SignatureError`, which is one, for a wrong signature, and `KeyFileError` for what is no key.
    """
    with located():
        return LoadedProgram(artifact.load(path, device, None if key is None else public_key(key), target))
