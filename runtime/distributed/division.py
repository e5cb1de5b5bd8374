"""How the arguments and results of a program of several ranks lie on them: what its manifest says of it.

Input: for each array the axes of a mesh that divide each of its dimensions. Output: shapes of whole arrays,
the part of a rank, and the whole array of all parts. A program takes and returns parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any, TypeAlias

import numpy as np

from ...dialects.communicator import Communicator
from ...dialects.dataclass import dataclass
from ..artifact.signature import ArraySpec, FunctionSignature

Json = Any

Axes: TypeAlias = tuple[tuple[str, ...], ...]
"""For each dimension of an array the names of the axes that divide it, the major one first."""


@dataclass(frozen=True)
class Division:
    """A mesh (sizes and names of its axes), and how the inputs and outputs of a function lie on it."""

    sizes: tuple[int, ...]
    names: tuple[str, ...]
    inputs: tuple[Axes, ...]
    outputs: tuple[Axes, ...]

    def to_json(self) -> Json:
        """As it stands in a manifest."""
        mesh = [{"size": n, "name": name} for n, name in zip(self.sizes, self.names, strict=True)]
        lists = ([[list(dim) for dim in axes] for axes in each] for each in (self.inputs, self.outputs))
        inputs, outputs = lists
        return {"mesh": mesh, "inputs": inputs, "outputs": outputs}

    def whole(self, signature: FunctionSignature) -> FunctionSignature:
        """The signature of whole arrays, for that of parts."""
        return replace(
            signature,
            inputs=tuple(map(self._whole, signature.inputs, self.inputs)),
            outputs=tuple(map(self._whole, signature.outputs, self.outputs)),
        )

    def fits(self, signature: FunctionSignature) -> bool:
        """Whether it says of each input and output how it lies, and what is divided has a size."""
        pairs = ((signature.inputs, self.inputs), (signature.outputs, self.outputs))
        return all(len(specs) == len(each) for specs, each in pairs) and all(
            len(spec.shape) == len(axes)
            and all(isinstance(n, int) or not dim for n, dim in zip(spec.shape, axes, strict=True))
            for specs, each in pairs
            for spec, axes in zip(specs, each, strict=True)
        )

    def lines(self, signature: FunctionSignature) -> list[str]:
        """For each array that is divided the part of a rank, and by which axes: `x: f32[2,3], by d, none`."""
        specs = (*signature.inputs, *signature.outputs)
        return [
            f"{spec}, by {', '.join(' x '.join(dim) or 'none' for dim in axes)}"
            for spec, axes in zip(specs, (*self.inputs, *self.outputs), strict=True)
            if any(axes)
        ]

    def index(self, axes: Axes, shape: Sequence[int], rank: int) -> tuple[slice, ...]:
        """Which part of a whole array a rank has."""
        place = dict(zip(self.names, map(int, np.unravel_index(rank, self.sizes)), strict=True))
        found = []
        for dim, n in zip(axes, shape, strict=True):
            number = 0
            for name in dim:
                number = number * self._size(name) + place[name]
            part = n // self._count(dim)
            found.append(slice(number * part, (number + 1) * part))
        return tuple(found)

    def part(self, axes: Axes, whole: np.ndarray, rank: int) -> np.ndarray:
        """The part of a rank, a copy in order."""
        return np.array(whole[self.index(axes, whole.shape, rank)], order="C")

    def gathered(self, axes: Axes, part: np.ndarray, communicator: Communicator) -> np.ndarray:
        """The whole array of the parts of all ranks, each of which calls this."""
        if not any(axes):
            return part
        shape = tuple(n * self._count(dim) for n, dim in zip(part.shape, axes, strict=True))
        whole = np.empty(shape, part.dtype)
        for rank, theirs in enumerate(communicator.all_gather(tuple(range(prod(self.sizes))), part)):
            whole[self.index(axes, shape, rank)] = theirs
        return whole

    def _whole(self, spec: ArraySpec, axes: Axes) -> ArraySpec:
        counts = map(self._count, axes)
        shape = (n * count if isinstance(n, int) else n for n, count in zip(spec.shape, counts, strict=True))
        return replace(spec, shape=tuple(shape))

    def _count(self, dim: Sequence[str]) -> int:
        return prod(map(self._size, dim))

    def _size(self, name: str) -> int:
        return self.sizes[self.names.index(name)]


def division_from_json(data: Json) -> Division:
    """What a manifest states; `ValueError`, `TypeError` or `KeyError` for what is no division."""
    sizes = tuple(axis["size"] for axis in data["mesh"])
    names = tuple(axis["name"] for axis in data["mesh"])
    arrays = (tuple(tuple(tuple(dim) for dim in axes) for axes in data[key]) for key in ("inputs", "outputs"))
    inputs, outputs = arrays
    whole = all(isinstance(n, int) and not isinstance(n, bool) and n >= 1 for n in sizes)
    if not whole or len({*names}) != len(names) or not all(isinstance(name, str) for name in names):
        raise ValueError(data)
    for axes in (*inputs, *outputs):
        used = [name for dim in axes for name in dim]
        if len({*used}) != len(used) or not {*used} <= {*names}:
            raise ValueError(axes)
    return Division(sizes, names, inputs, outputs)
