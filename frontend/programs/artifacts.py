"""`load`: a saved program as a Python function. Needs NumPy and the IREE runtime, never the compiler."""

from __future__ import annotations

import os
from typing import Any

from ...runtime import artifact
from ...runtime.manifest import Manifest
from .. import tree
from ..errors import ArgumentTypeError
from ..tracing.array import Array
from ..tracing.locations import located, user_location_text
from .host import runtime_argument


class LoadedProgram:
    """A program from a `.vmfb`: call it with the trees of arrays that it was built for."""

    def __init__(self, loaded: artifact.LoadedProgram) -> None:
        self._loaded = loaded
        self._exported = loaded.manifest.functions[0]
        self._function = loaded.executable.function(self._exported.signature.name)

    @property
    def manifest(self) -> Manifest:
        """What the program says of itself."""
        return self._loaded.manifest

    @property
    def device(self) -> str:
        """The name of the device that it runs on."""
        return self._loaded.device.name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves, structure = tree.flatten((args, kwargs))
        given = tree.to_json(structure)
        if given != self._exported.input_tree:
            raise ArgumentTypeError(
                f"{self._exported.signature.name}() takes arguments "
                f"{tree.describe_json_arguments(self._exported.input_tree)}, "
                f"got {tree.describe_json_arguments(given)}",
                where=user_location_text(),
            )
        arguments = [
            runtime_argument(x, spec.dtype)
            for x, spec in zip(leaves, self._exported.signature.inputs, strict=True)
        ]
        with located():
            results = [Array(r) for r in self._function.call(arguments)]
        return tree.from_json(self._exported.output_tree, results)

    def __repr__(self) -> str:
        return f"<{self._exported.signature} on {self.device}>"


def load(path: str | os.PathLike[str], device: str | None = None) -> LoadedProgram:
    """The program saved at `path`, ready to be called on `device` (by default the cheapest of its target).

    Raises `ArtifactError` for a file that is missing, damaged, foreign, or built for another machine.
    """
    with located():
        return LoadedProgram(artifact.load(path, device))
