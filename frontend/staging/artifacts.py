"""`load`: a saved program as a Python function. Needs NumPy and the IREE runtime, never the compiler."""

from __future__ import annotations

import os
from typing import Any

from ...runtime.artifact import artifact
from ...runtime.artifact.manifest import Manifest
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
        """Call by position or by name; numbers may be written as nested lists."""
        specs = self._exported.signature.inputs
        leaves = self._leaves(args, kwargs)
        arguments = [runtime_argument(x, spec.dtype) for x, spec in zip(leaves, specs, strict=True)]
        with located():
            results = [Array(r) for r in self._function.call(arguments)]
        if self._exported.output_tree is None and results:
            return tuple(results)  # no tree was written down
        return tree.from_json(self._exported.output_tree, results)

    def _leaves(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The leaves of the arguments of a call, in the order of the inputs."""
        if self._exported.input_tree is None:  # no tree was written down: one argument an input
            names: list[str | None] = [spec.name for spec in self._exported.signature.inputs]
            return self._in_order(names, args, kwargs)
        positional, named = self._exported.input_tree["tuple"]
        names = self._names(len(positional["tuple"]))
        own = {name: value for name, value in kwargs.items() if name in named["dict"]}
        rest = {name: value for name, value in kwargs.items() if name not in own}
        missing = [name for name in named["dict"] if name not in own]
        values = self._in_order(names, args, rest, missing, keywords=list(named["dict"]))
        leaves = tree.leaves_as_json(self._exported.input_tree, (tuple(values), own))
        if leaves is None:
            given = tree.to_json(tree.structure((tuple(values), own)))
            raise self._error(
                f"takes arguments {tree.describe_json_arguments(self._exported.input_tree)}, "
                f"got {tree.describe_json_arguments(given)}"
            )
        return leaves

    def _names(self, count: int) -> list[str | None]:
        """The names of the positional arguments, where the program tells them."""
        names = self.manifest.extra.get("arguments")
        if not isinstance(names, list) or len(names) != count:
            return [None] * count
        return [name if isinstance(name, str) else None for name in names]

    def _in_order(
        self,
        names: list[str | None],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        missing: list[str] | None = None,
        keywords: list[str] | None = None,
    ) -> list[Any]:
        """Positional arguments and those given by name, in the order of `names`."""
        known = [name for name in names if name is not None]
        if len(args) > len(names):
            raise self._error(f"takes {len(names)} positional arguments, got {len(args)}")
        for name in kwargs:
            if name not in known:
                legal = ", ".join([*known, *(keywords or [])]) or "none"
                raise self._error(f"has no argument {name!r}: it has {legal}")
            if names.index(name) < len(args):
                raise self._error(f"got argument {name!r} twice: by position and by name")
        absent = [n for n, name in enumerate(names) if n >= len(args) and name not in kwargs]
        lacking = [repr(names[n]) if names[n] else f"number {n}" for n in absent]
        lacking += [repr(name) for name in missing or []]
        if lacking:
            raise self._error(f"lacks argument {', '.join(lacking)}")
        return [args[n] if n < len(args) else kwargs[name or ""] for n, name in enumerate(names)]

    def _error(self, problem: str) -> ArgumentTypeError:
        name = self._exported.signature.name
        return ArgumentTypeError(
            f"{name}() {problem}", where=user_location_text(), hint=f"it is {self._exported.signature}"
        )

    def __repr__(self) -> str:
        return f"<{self._exported.signature} on {self.device}>"


def load(path: str | os.PathLike[str], device: str | None = None) -> LoadedProgram:
    """The program saved at `path`, ready to be called on `device` (by default the cheapest of its target).

    Raises `ArtifactError` for a file that is missing, damaged, foreign, or built for another machine.
    """
    with located():
        return LoadedProgram(artifact.load(path, device))
