"""Communicators: how the collectives of a mesh reach the other ranks of the program that runs.

Input: the communicator that an engine binds to a thread. Output: what an op asks it for. Idea: an op knows
the shape of its mesh and the axis that it runs along; ranks are the positions of a mesh in row-major order.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np

from .errors import AdzeError


class DistributedError(AdzeError, RuntimeError):
    """The ranks of a program do not fit together, or one of them is gone."""


class Communicator(Protocol):
    """The ranks of one program. Every member of `group` calls a method with equal arguments but the array."""

    @property
    def rank(self) -> int: ...

    @property
    def size(self) -> int: ...

    overlaps: bool
    """Whether a thread of its own exchanges arrays while the program computes."""

    has_own_process: bool
    """Whether no other rank is in this process: what waits for the others then holds up none of them."""

    def all_reduce(self, group: tuple[int, ...], kind: str, x: np.ndarray, /) -> np.ndarray:
        """The sum, max or min over the group, a new array of the same bytes in each member."""

    def all_gather(self, group: tuple[int, ...], x: np.ndarray, /) -> Sequence[np.ndarray]:
        """The arrays of all members, in the order of the group."""

    def all_to_all(self, group: tuple[int, ...], parts: Sequence[np.ndarray], /) -> Sequence[np.ndarray]:
        """Part i goes to member i; what each member has for this one, in the order of the group."""

    def permute(
        self, group: tuple[int, ...], x: np.ndarray, target: int | None, source: int | None, /
    ) -> np.ndarray | None:
        """Send `x` to one member (a position of the group), receive from another; None from nobody."""

    def fail(self) -> None:
        """This rank ends by an error: let no other wait for it."""


class _Bound(threading.local):
    communicator: Communicator | None = None


_bound: Final = _Bound()
_everywhere: list[Communicator] = []


def bind(communicator: Communicator | None) -> Communicator | None:
    """Let this thread be a rank; what it was before."""
    before, _bound.communicator = _bound.communicator, communicator
    return before


def bind_process(communicator: Communicator) -> None:
    """Let every thread of this process be one rank, unless it is bound to another."""
    _everywhere[:] = [communicator]


def bound() -> Communicator | None:
    """The communicator of this thread, None in a program of one rank."""
    return _bound.communicator or (_everywhere[0] if _everywhere else None)


def rank_of(name: str, mesh: Sequence[int]) -> int:
    """The rank of this thread in a mesh of these sizes; `DistributedError` where the mesh does not fit."""
    total = int(np.prod(mesh))
    if total == 1:
        return 0
    communicator = bound()
    size = 1 if communicator is None else communicator.size
    if communicator is None or size != total:
        raise DistributedError(
            f"{name}: the program is for a mesh of {total} ranks, and runs on {size}",
            hint=f"run it in adze.distributed.run(f, {total}), or by mpirun -n {total} with "
            "adze.distributed.initialize() at its start",
        )
    return communicator.rank


def group_of(rank: int, mesh: Sequence[int], axis: int) -> tuple[tuple[int, ...], int]:
    """The ranks along one axis of the mesh through `rank`, and the position of `rank` among them."""
    place = [int(i) for i in np.unravel_index(rank, tuple(mesh))]
    ranks = []
    for position in range(mesh[axis]):
        other = [*place[:axis], position, *place[axis + 1 :]]
        ranks.append(int(np.ravel_multi_index(other, tuple(mesh))))
    return tuple(ranks), place[axis]
