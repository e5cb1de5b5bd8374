"""The persistent compile cache.

Input: a `CacheKey` (everything that decides a compile's outcome) and a function that compiles. Output: the
program, and a `CacheRecord` that says whether the cache had it, and if not, why. An entry is one file,
named by the key's hash, written atomically and checked by its SHA-256 when read: a damaged entry counts as
absent. Trouble with the disk is a warning in the record and never the end of a compile.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import math
import os
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakValueDictionary

from ...dialects.dataclass import dataclass
from ..artifact.files import TEMPORARY_SUFFIX, is_left_behind, write_atomically
from ..artifact.manifest import versions
from ..settings import CACHE_SUFFIX, KNOWN_SUFFIX, Settings
from ..targets import Target

if TYPE_CHECKING:
    from .compiler import CompileOptions

# An entry: magic, length of the header, the header (JSON: the key and what the caller wants back), the
# payload, and the SHA-256 of all that.
PROCEDURE: Final = "69"  # part of the key: raised when the same module is to be compiled another way
_MAGIC: Final = b"ADZECCH1"
_HEAD: Final = struct.Struct("<8sI")
_LOCK_NAME: Final = ".evict.lock"
# After an eviction this much of the bound is in use, so that not every new entry pays for the next one.
_KEEP_FRACTION: Final = 0.9
_LARGE: Final = 256  # a new entry of more than this part of the bound is large


@dataclass(frozen=True, slots=True)
class CacheKey:
    """Everything that decides what a compile gives. Two equal keys mean the same bytes."""

    ir_sha256: str
    target: str
    machine: str
    flags: tuple[str, ...]
    versions: tuple[tuple[str, str], ...]

    @property
    def digest(self) -> str:
        """The name of the entry."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def to_json(self) -> str:
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, key: Mapping[str, Any]) -> CacheKey:
        """The key that `to_json` wrote, once it is parsed."""
        flags, versions = tuple(key["flags"]), tuple((name, version) for name, version in key["versions"])
        return cls(key["ir_sha256"], key["target"], key["machine"], flags, versions)


@dataclass(frozen=True, slots=True)
class CacheRecord:
    """What the cache did for one compile: `explain` says why it was a hit or a miss.

    It compares with other entries when it is asked: to read them all takes a while.
    """

    hit: bool
    explain: Callable[[], str]
    digest: str
    seconds: float
    warnings: tuple[str, ...] = ()

    @property
    def explanation(self) -> str:
        """Why it was a hit or a miss, in words."""
        return self.explain()


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """A program found in the cache, with what was stored beside it."""

    payload: bytes
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """One entry of the cache as its header describes it; `used` is when it was last used (seconds)."""

    path: Path
    digest: str
    bytes: int
    used: float
    key: dict[str, Any]
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True)
class CacheStats:
    """What `adze cache stats` prints."""

    folder: Path
    enabled: bool
    entries: int
    bytes: int
    max_bytes: int


def cache_key(module: bytes, target: Target, options: CompileOptions) -> CacheKey:
    """The key of compiling `module`, whose bytes must be canonical: equal programs, equal bytes."""
    return CacheKey(
        ir_sha256=hashlib.sha256(module).hexdigest(),
        target=target.name,
        machine=target.fingerprint,
        flags=(*target.flags, *options.flags()),
        versions=tuple(sorted({**versions(), "procedure": PROCEDURE}.items())),
    )


_COMPILING: WeakValueDictionary[str, threading.RLock] = WeakValueDictionary()
"""A lock for each program that a thread compiles just now."""

# A child of this process has none of its other threads, which hold some of the locks.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_COMPILING.clear)


@contextlib.contextmanager
def _alone(digest: str) -> Iterator[bool]:
    """Whether another thread compiled this program meanwhile: threads that call a function at once, as the
    ranks of a program do, compile it once."""
    lock = _COMPILING.setdefault(digest, threading.RLock())
    is_free = lock.acquire(blocking=False)
    if not is_free:
        lock.acquire()
    try:
        yield not is_free
    finally:
        lock.release()


class CompileCache:
    """The cache in one folder. Any number of processes and threads may use the same one."""

    def __init__(self, folder: Path, max_bytes: int, enabled: bool = True) -> None:
        self.folder = folder
        self.max_bytes = max_bytes
        self.enabled = enabled

    @classmethod
    def from_settings(cls, settings: Settings) -> CompileCache:
        return cls(settings.cache_dir, settings.cache_max_bytes, settings.cache)

    def get_or_compile(
        self, key: CacheKey, compile_it: Callable[[], tuple[bytes, dict[str, Any]]]
    ) -> tuple[CacheEntry, CacheRecord]:
        """The entry for `key`; where there is none, `compile_it` makes payload and metadata, to be kept."""
        started = time.perf_counter()
        if not self.enabled:
            payload, metadata = compile_it()
            seconds = time.perf_counter() - started
            return CacheEntry(payload, metadata), CacheRecord(
                False, _said("the cache is off"), key.digest, seconds
            )
        entry, reason = self._lookup(key)
        if entry is not None:
            seconds = time.perf_counter() - started
            return entry, CacheRecord(True, _said("found"), key.digest, seconds)
        explain = _said(reason) if reason else functools.partial(self.explain_miss, key, time.time())
        with _alone(key.digest) as has_waited:
            entry = self._lookup(key)[0] if has_waited else None
            if entry is not None:
                seconds = time.perf_counter() - started
                return entry, CacheRecord(True, _said("found"), key.digest, seconds)
            payload, metadata = compile_it()
            warning = self.put(key, payload, metadata)
        seconds = time.perf_counter() - started
        entry = CacheEntry(payload, metadata)
        return entry, CacheRecord(False, explain, key.digest, seconds, (warning,) if warning else ())

    def get(self, key: CacheKey) -> CacheEntry | None:
        """The entry for `key`, if there is a sound one."""
        return self._lookup(key)[0] if self.enabled else None

    def find(self, key: CacheKey) -> tuple[CacheEntry, CacheRecord] | None:
        """As `get_or_compile`, where nothing is compiled: the entry for `key`, if there is a sound one."""
        started = time.perf_counter()
        entry = self.get(key)
        if entry is None:
            return None
        return entry, CacheRecord(True, _said("found"), key.digest, time.perf_counter() - started)

    def put(self, key: CacheKey, payload: bytes, metadata: dict[str, Any]) -> str | None:
        """Keep an entry. Returns None, or the warning that says why it could not be kept."""
        header = json.dumps({"key": json.loads(key.to_json()), "metadata": metadata}, sort_keys=True).encode()
        content = _HEAD.pack(_MAGIC, len(header)) + header + payload
        path = self._path(key.digest)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, content + hashlib.sha256(content).digest())
            if self._looks_after(key.digest, len(content)):
                self._remove_temporaries()
                self._evict(keep=path)
        except OSError as error:
            return f"the compiled program was not cached in {self.folder}: {error.strerror or error}"
        return None

    def _looks_after(self, digest: str, size: int) -> bool:
        """Whether this new entry is one that pays for a look at all others: one of 16, and each large one.

        So the entries may exceed the bound by a 16th of it, about, until the next look.
        """
        return digest.startswith("0") or size * _LARGE > self.max_bytes

    def explain_miss(self, key: CacheKey, missed_at: float = math.inf) -> str:
        """Which parts of `key` differ from those of the entry that is nearest to it.

        Entries that were written or used since `missed_at`, a time, do not count.
        """
        wanted = json.loads(key.to_json())
        nearest: tuple[int, list[str]] | None = None
        for used_at, _, path in self._sized_entries():
            header = _read_header(path) if used_at <= missed_at else None
            if header is None:
                continue
            differing = [name for name in _KEY_FIELDS if header["key"].get(name) != wanted[name]]
            # a program with the same IR is nearer than any other
            distance = len(differing) + (len(_KEY_FIELDS) if "ir_sha256" in differing else 0)
            if differing and (nearest is None or distance < nearest[0]):
                have = header["key"]
                nearest = distance, [_describe(name, have.get(name), wanted[name]) for name in differing]
        if nearest is None:
            return "the cache has no entry to compare with"
        return f"the nearest entry differs in {'; '.join(nearest[1])}"

    def stats(self) -> CacheStats:
        """Number and size of the entries now."""
        sizes = [size for _, size, _ in self._sized_entries()]
        return CacheStats(self.folder, self.enabled, len(sizes), sum(sizes), self.max_bytes)

    def entries(self) -> list[StoredEntry]:
        """The entries that can be read, the one that was used last first."""
        found = []
        for used, size, path in sorted(self._sized_entries(), reverse=True):
            header = _read_header(path)
            if header is not None:
                found.append(StoredEntry(path, path.stem, size, used, header["key"], header["metadata"]))
        return found

    def prune(self, wanted: Callable[[StoredEntry], bool], max_bytes: int | None = None) -> tuple[int, int]:
        """Delete the entries that are not `wanted`, then those used longest ago, down to `max_bytes`.

        Entries that cannot be read go too. Returns how many were deleted, and their bytes.
        """
        kept = {entry.path for entry in self.entries() if wanted(entry)}
        sized = sorted(self._sized_entries(), reverse=True)
        total, removed, freed = 0, 0, 0
        for _, size, path in sized:
            if path in kept and (max_bytes is None or total + size <= max_bytes):
                total += size
                continue
            with contextlib.suppress(OSError):
                path.unlink()
                removed, freed = removed + 1, freed + size
        self._forget_known()
        self._remove_temporaries()
        return removed, freed

    def clear(self) -> int:
        """Delete every entry, and nothing else; returns how many there were."""
        removed = 0
        for path in list(self._entries()):
            with contextlib.suppress(OSError):
                path.unlink()
                removed += 1
        self._forget_known()
        self._remove_temporaries(every=True)
        return removed

    def _path(self, digest: str) -> Path:
        return self.folder / digest[:2] / f"{digest}{CACHE_SUFFIX}"

    def _lookup(self, key: CacheKey) -> tuple[CacheEntry | None, str]:
        path = self._path(key.digest)
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None, ""
        except OSError as error:
            return None, f"the entry cannot be read: {error.strerror or error}"
        entry = _parse_entry(content, key)
        if entry is None:
            return None, "the entry was damaged or foreign, and is replaced"
        with contextlib.suppress(OSError):
            os.utime(path)  # the time of last use decides what is evicted
        return entry, ""

    def _entries(self, suffix: str = CACHE_SUFFIX) -> Iterator[Path]:
        yield from self.folder.glob(f"[0-9a-f][0-9a-f]/*{suffix}")

    def _forget_known(self) -> None:
        """Delete what says which traced program an entry is of: the next call of such a program lowers it."""
        for path in list(self._entries(KNOWN_SUFFIX)):
            with contextlib.suppress(OSError):
                path.unlink()

    def _sized_entries(self, *suffixes: str) -> list[tuple[float, int, Path]]:
        entries = []
        for path in (path for suffix in suffixes or (CACHE_SUFFIX,) for path in self._entries(suffix)):
            with contextlib.suppress(OSError):  # another process may have deleted it just now
                status = path.stat()
                entries.append((status.st_mtime, status.st_size, path))
        return entries

    def _evict(self, keep: Path) -> None:
        """Delete the files that were used longest ago until the rest fits; `keep` goes last."""
        entries = self._sized_entries(CACHE_SUFFIX, KNOWN_SUFFIX)
        total = sum(size for _, size, _ in entries)
        if total <= self.max_bytes:
            return
        import filelock  # a tenth of the time of importing adze, and needed only here

        # One process at a time, so that two do not each delete a half of what should stay.
        with contextlib.suppress(filelock.Timeout), filelock.FileLock(self.folder / _LOCK_NAME, timeout=5):
            entries = self._sized_entries(CACHE_SUFFIX, KNOWN_SUFFIX)
            entries.sort(key=lambda entry: (entry[2] == keep, entry[0]))
            total = sum(size for _, size, _ in entries)
            for _, size, path in entries:
                if total <= self.max_bytes * _KEEP_FRACTION:
                    break
                if path == keep and total <= self.max_bytes:
                    break
                with contextlib.suppress(OSError):
                    path.unlink()
                    total -= size

    def _remove_temporaries(self, every: bool = False) -> None:
        """Delete what processes left behind that were killed while writing, or `every` temporary file."""
        for path in self.folder.glob(f"[0-9a-f][0-9a-f]/.*{TEMPORARY_SUFFIX}"):
            with contextlib.suppress(OSError):
                if every or is_left_behind(path):
                    path.unlink()


_KEY_FIELDS: Final = tuple(field.name for field in fields(CacheKey))
_FIELD_WORDS: Final = {
    "ir_sha256": "the program",
    "target": "the target",
    "machine": "the machine",
    "flags": "the flags",
    "versions": "the versions",
}


def _parse_entry(content: bytes, key: CacheKey) -> CacheEntry | None:
    if len(content) < _HEAD.size + 32 or hashlib.sha256(content[:-32]).digest() != content[-32:]:
        return None
    magic, header_length = _HEAD.unpack_from(content)
    if magic != _MAGIC:
        return None
    header = _parse_header(content[_HEAD.size : _HEAD.size + header_length])
    if header is None or header["key"] != json.loads(key.to_json()):
        return None
    return CacheEntry(content[_HEAD.size + header_length : -32], header["metadata"])


def _read_header(path: Path) -> dict[str, Any] | None:
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD.size)
            if len(head) < _HEAD.size:
                return None
            magic, length = _HEAD.unpack(head)
            return _parse_header(file.read(length)) if magic == _MAGIC else None
    except OSError:
        return None


def _parse_header(text: bytes) -> dict[str, Any] | None:
    try:
        header = json.loads(text)
        sound = isinstance(header["key"], dict) and isinstance(header["metadata"], dict)
    except (ValueError, KeyError, TypeError):
        return None
    return header if sound else None


def _said(text: str) -> Callable[[], str]:
    return lambda: text


def _describe(name: str, have: Any, want: Any) -> str:
    word = _FIELD_WORDS[name]
    if name == "ir_sha256":
        return word
    if name in ("flags", "versions") and isinstance(have, list):
        gone = [str(item) for item in have if item not in want]
        new = [str(item) for item in want if item not in have]
        return f"{word} ({' '.join(gone) or 'none'} there, {' '.join(new) or 'none'} here)"
    return f"{word} ({have} there, {want} here)"
