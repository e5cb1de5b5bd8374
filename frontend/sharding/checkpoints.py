"""Arrays of a job on disk: one file a rank, and an index that says what is in them.

Input: a folder and a tree of arrays. Output: the folder; and from it the arrays again, for as many ranks, and
divided as, one likes. Idea: of parts that several ranks have one rank writes one, and each rank reads the
windows of files that its own parts overlap. The index is written last, in place of the old one: a job that
ends in between leaves the old checkpoint.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...dialects.communicator import Communicator, bound
from ...dialects.dataclass import dataclass
from ...dialects.errors import AdzeError
from ...dialects.types import as_dtype, dtype_name
from ...runtime.artifact.files import write_atomically
from .. import tree
from ..errors import ArgumentTypeError
from ..tracing.array import Array
from ..tracing.interpreter import as_value
from ..tracing.locations import user_location_text
from ..tracing.scalars import is_python_scalar
from ..tracing.specs import ShapeDtype
from .arrays import ShardedArray, make_array_from_callback
from .named import Index, NamedSharding, is_sharding

FORMAT: Final = "adze-checkpoint-1"
INDEX: Final = "index.json"
ALIGNMENT: Final = 64
_FILE: Final = re.compile(r"[0-9a-f]{16}-\d{5}\.bin")


class CheckpointError(AdzeError, ValueError):
    """A folder is no checkpoint, or not one of these arrays, or could not be written."""


@dataclass(frozen=True)
class _Part:
    """Elements in a file: which file, from which byte on, and where they are in the array."""

    file: int
    offset: int
    start: tuple[int, ...]
    shape: tuple[int, ...]

    def overlap(self, index: Index) -> tuple[tuple[slice, ...], tuple[slice, ...]] | None:
        """Where the elements that `index` asks for are in this part, and in what it asks for."""
        inner, outer = [], []
        for s, first, n in zip(index, self.start, self.shape, strict=True):
            low, high = max(s.start, first), min(s.stop, first + n)
            if low >= high:
                return None
            inner.append(slice(low - first, high - first))
            outer.append(slice(low - s.start, high - s.start))
        return tuple(inner), tuple(outer)


@dataclass(frozen=True)
class _Leaf:
    """An array in a checkpoint."""

    path: str
    shape: tuple[int, ...]
    dtype: np.dtype
    parts: tuple[_Part, ...]


def save_checkpoint(folder: str | os.PathLike[str], state: Any) -> None:
    """Write the arrays of the tree `state` to `folder`, replacing a checkpoint that is there.

    In a job every rank calls it, with the same tree; each writes its parts of divided arrays, and rank 0
    those that every rank has. A call that fails, in any rank, leaves the old checkpoint and raises
    `CheckpointError`.
    """
    where, communicator = Path(folder), bound()
    size = 1 if communicator is None else communicator.size
    rank = 0 if communicator is None else communicator.rank
    leaves = [(tree.keystr(path), _array(path, leaf)) for path, leaf in tree.leaves_with_path(state)]
    token = _token(communicator)
    files = [f"{token}-{k:05d}.bin" for k in range(size)]
    planned, sizes = _planned(leaves, size)
    with _all_or_none(communicator, where, files[rank]):
        where.mkdir(parents=True, exist_ok=True)
        _write_parts(where / files[rank], rank, leaves, planned, sizes[rank])
    with _all_or_none(communicator, where, files[rank]):
        if rank == 0:
            written = [{"name": name, "bytes": n} for name, n in zip(files, sizes, strict=True)]
            index = {"format": FORMAT, "files": written, "leaves": list(map(_to_json, planned))}
            write_atomically(where / INDEX, json.dumps(index, indent=1).encode())
    if rank == 0:
        for other in where.iterdir():
            if _FILE.fullmatch(other.name) and other.name not in files:
                other.unlink(missing_ok=True)


def load_checkpoint(folder: str | os.PathLike[str], like: Any = None) -> Any:
    """The arrays of a checkpoint, as a tree like `like`.

    A leaf of `like` is an array or a `ShapeDtype`, whose shape and dtype must be those that were saved, a
    Python number, or a `NamedSharding`. What comes out lies as it does: divided by the leaf's sharding,
    otherwise whole in every rank. Without `like` the result is a dict of whole arrays by the paths that they
    had, `"['layers'][0]"`.

    Each rank reads what its parts need. Raises `CheckpointError` for a folder that is no whole checkpoint,
    and for arrays that are not in it.
    """
    where = Path(folder)
    files, leaves = _read_index(where)
    if like is None:
        return {path: _whole(where, files, leaf) for path, leaf in leaves.items()}
    wanted = tree.leaves_with_path(like, is_leaf=is_sharding)
    structure = tree.structure(like, is_leaf=is_sharding)
    paths = [tree.keystr(path) for path, _ in wanted]
    unknown = [path for path in paths if path not in leaves]
    if unknown:
        raise CheckpointError(
            f"{where}: there is no array {unknown[0]!r}; it has {', '.join(map(repr, leaves)) or 'none'}",
            where=user_location_text(),
        )
    pairs = zip(paths, wanted, strict=True)
    found = [_like(where, files, leaves[path], leaf) for path, (_, leaf) in pairs]
    return tree.unflatten(structure, found)


# -- writing -------------------------------------------------------------------------------------


def _array(path: Any, leaf: Any) -> Array:
    value = as_value(leaf)
    if not isinstance(value, Array):
        raise ArgumentTypeError(
            f"save_checkpoint: state{tree.keystr(path)} is no concrete array",
            where=user_location_text(),
            hint="save outside of jitted functions",
        )
    return value


def _token(communicator: Communicator | None) -> str:
    """A name for the files of one checkpoint, the same in every rank."""
    mine = np.frombuffer(secrets.token_bytes(8), np.uint8)
    if communicator is not None and communicator.size > 1:
        mine = communicator.all_gather(tuple(range(communicator.size)), mine)[0]
    return bytes(mine).hex()


def _planned(leaves: Sequence[tuple[str, Array]], size: int) -> tuple[list[_Leaf], list[int]]:
    """What each rank writes where, and the sizes of the files: every rank finds the same."""
    ends = [0] * size
    found = []
    for path, array in leaves:
        sharding = array.sharding if isinstance(array, ShardedArray) and array.sharding.is_remote else None
        parts = []
        for rank in range(size) if sharding is not None else (0,):
            if sharding is not None and sharding.replica(rank):
                continue
            index = tuple(slice(0, n) for n in array.shape)
            index = index if sharding is None else sharding.index(array.shape, rank)
            shape = tuple(s.stop - s.start for s in index)
            parts.append(_Part(rank, ends[rank], tuple(s.start for s in index), shape))
            ends[rank] += -(-prod(shape) * array.dtype.itemsize // ALIGNMENT) * ALIGNMENT
        found.append(_Leaf(path, array.shape, array.dtype, tuple(parts)))
    return found, ends


def _write_parts(
    path: Path, rank: int, leaves: Sequence[tuple[str, Array]], planned: Sequence[_Leaf], size: int
) -> None:
    with path.open("wb") as file:
        for (_, array), leaf in zip(leaves, planned, strict=True):
            for part in leaf.parts:
                if part.file == rank:
                    is_part = isinstance(array, ShardedArray) and array.sharding.is_remote
                    elements = array.part.numpy() if is_part else array.numpy()  # type: ignore[attr-defined]
                    file.seek(part.offset)
                    file.write(np.ascontiguousarray(elements).tobytes())
        file.truncate(size)
        file.flush()
        os.fsync(file.fileno())


@contextlib.contextmanager
def _all_or_none(communicator: Communicator | None, where: Path, file: str) -> Iterator[None]:
    """What ranks do together: where one fails, all remove their files and raise."""
    error: BaseException | None = None
    try:
        yield
    except (OSError, AdzeError) as caught:
        error = caught
    failed = [0] if error is not None else []
    if communicator is not None and communicator.size > 1:
        flags = communicator.all_gather(
            tuple(range(communicator.size)), np.asarray([error is not None], np.uint8)
        )
        failed = [rank for rank, flag in enumerate(flags) if flag[0]]
    if failed:
        with contextlib.suppress(OSError):
            (where / file).unlink(missing_ok=True)
        told = str(error) if error is not None else f"rank {failed[0]} could not write its file"
        raise CheckpointError(f"{where}: {told}", where=user_location_text()) from error


def _to_json(leaf: _Leaf) -> dict[str, Any]:
    parts = [[p.file, p.offset, list(p.start), list(p.shape)] for p in leaf.parts]
    return {"path": leaf.path, "shape": list(leaf.shape), "dtype": leaf.dtype.name, "parts": parts}


# -- reading -------------------------------------------------------------------------------------


def _read_index(where: Path) -> tuple[list[str], dict[str, _Leaf]]:
    """The names of the files, each of which is there and as long as it was, and the arrays by their paths."""
    try:
        data = json.loads((where / INDEX).read_bytes())
        if data["format"] != FORMAT:
            raise CheckpointError(
                f"{where}: its format is {data['format']!r}, this adze reads {FORMAT!r}",
                where=user_location_text(),
            )
        files = [(str(each["name"]), int(each["bytes"])) for each in data["files"]]
        leaves = [_from_json(each, len(files)) for each in data["leaves"]]
    except OSError as error:
        raise CheckpointError(
            f"{where} is no checkpoint: {INDEX} cannot be read ({error.strerror})", where=user_location_text()
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(f"{where}: its {INDEX} is damaged", where=user_location_text()) from None
    for name, size in files:
        path = where / name
        actual = path.stat().st_size if _FILE.fullmatch(name) and path.is_file() else None
        if actual != size:
            told = "is missing" if actual is None else f"has {actual} bytes, the index says {size}"
            raise CheckpointError(f"{where}: its file {name} {told}", where=user_location_text())
    return [name for name, _ in files], {leaf.path: leaf for leaf in leaves}


def _from_json(data: dict[str, Any], count: int) -> _Leaf:
    shape = tuple(map(int, data["shape"]))
    parts = tuple(
        _Part(int(f), int(o), tuple(map(int, s)), tuple(map(int, n))) for f, o, s, n in data["parts"]
    )
    if any(
        not 0 <= p.file < count or p.offset < 0 or min((*p.start, *p.shape), default=0) < 0 for p in parts
    ):
        raise ValueError(data)
    return _Leaf(str(data["path"]), shape, as_dtype(np.dtype(data["dtype"])), parts)


def _elements(where: Path, files: Sequence[str], leaf: _Leaf, index: Index) -> np.ndarray:
    """Some elements of an array, from the files that have them."""
    found = np.empty([s.stop - s.start for s in index], leaf.dtype)
    left = found.size
    for part in leaf.parts:
        overlap = part.overlap(index)
        if overlap is None:
            continue
        inner, outer = overlap
        try:
            stored = np.memmap(where / files[part.file], leaf.dtype, "r", part.offset, part.shape)
        except (OSError, ValueError) as error:
            raise CheckpointError(
                f"{where}: {leaf.path} cannot be read: {error}", where=user_location_text()
            ) from None
        found[outer] = stored[inner]
        left -= found[outer].size
    if left:
        raise CheckpointError(f"{where}: elements of {leaf.path} are missing", where=user_location_text())
    return found


def _whole(where: Path, files: Sequence[str], leaf: _Leaf) -> Array:
    return Array(_elements(where, files, leaf, tuple(slice(0, n) for n in leaf.shape)))


def _like(where: Path, files: Sequence[str], leaf: _Leaf, wanted: Any) -> Array:
    """An array as a leaf of `like` asks for it."""
    sharding = wanted if isinstance(wanted, NamedSharding) else None
    if isinstance(wanted, ShardedArray):
        sharding = wanted.sharding
    if not is_sharding(wanted) and not is_python_scalar(wanted):
        kind = wanted.type if isinstance(wanted, ShapeDtype) else as_value(wanted)
        if (tuple(kind.shape), kind.dtype) != (leaf.shape, leaf.dtype):
            raise CheckpointError(
                f"{where}: {leaf.path} is {dtype_name(leaf.dtype)}{list(leaf.shape)}, expected "
                f"{dtype_name(kind.dtype)}{list(kind.shape)}",
                where=user_location_text(),
            )
    if sharding is None or not sharding.has_ranks:
        return _whole(where, files, leaf)
    return make_array_from_callback(leaf.shape, sharding, lambda index: _elements(where, files, leaf, index))
