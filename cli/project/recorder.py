"""What a trace reads, noticed while it reads it.

Input: the time from the import of the user's file to the end of its trace (`with Recording() as seen`).
Output: `Seen`: files that were opened or looked for, folders that were listed, modules that were asked for,
variables of the environment; and reasons for which nothing can be told of a later trace, such as a process
that it started.

Idea: Python raises audit events for opens, listings, imports, processes and sockets. What raises none
(`stat`, the environment) is asked through Python, and is replaced for that time. Modules of the user are
compiled from their source: Python's cached bytecode is compared by whole seconds and sizes, and may be that
of an older text.
"""

from __future__ import annotations

import hashlib
import importlib.machinery
import os
import sys
import time
from dataclasses import field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final, Literal

from ...dialects.dataclass import dataclass
from ...runtime.settings import CACHE_SUFFIX, KNOWN_SUFFIX, read_settings
from ..reporting import FOLDERS

Stamp = tuple[int, int, int, int]
"""Size, times of the last change of content and of status, and number of a file: equal for an equal file."""

BASE: Final = ("numpy", "iree", "ml_dtypes", "optree", "opt_einsum")
"""Packages whose versions are compared as a whole, see `surroundings.py`."""

_PACKAGE: Final = Path(__file__).resolve().parent.parent.parent
_LIBRARY: Final = os.path.dirname(os.__file__) + os.sep
_INSTALLED: Final = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_OWN: Final = tuple(f"{_PACKAGE / folder}{os.sep}" for folder in FOLDERS)
_MACHINE: Final = ("/dev/", "/proc/", "/sys/")
_UNKNOWABLE: Final = {
    "subprocess.Popen": "it started a process",
    "os.system": "it started a process",
    "os.posix_spawn": "it started a process",
    "os.spawn": "it started a process",
    "os.exec": "it started a process",
    "os.fork": "it started a process",
    "os.forkpty": "it started a process",
    "socket.connect": "it used the network",
    "socket.getaddrinfo": "it used the network",
    "sqlite3.connect": "it opened a data base",
}
_READ_UNSEEN: Final = ("cv2", "h5py", "netCDF4", "onnx", "onnxruntime", "polars", "pyarrow", "safetensors")
_READ_UNSEEN_TOO: Final = ("tables", "tensorflow", "torch", "zarr")
"""Packages whose native code opens files, which raises no event."""


@dataclass
class Seen:
    """What was read. `files` are stamps at the time of opening, None for a file that was not there."""

    started: int = field(default_factory=time.time_ns)
    files: dict[str, Stamp | None] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    """The SHA-256 of the text of each module of the user, as it was compiled."""
    probes: set[str] = field(default_factory=set)
    listings: set[str] = field(default_factory=set)
    modules: set[str] = field(default_factory=set)
    variables: set[str] = field(default_factory=set)
    whole_environment: bool = False
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))
    written: set[str] = field(default_factory=set)
    reasons: list[str] = field(default_factory=list)
    cache: str = field(default_factory=lambda: f"{os.path.abspath(read_settings().cache_dir)}{os.sep}")
    """The folder of the compile cache, whose files a trace reads where the file computes, and may be lost."""

    def is_known(self, path: str) -> bool:
        """Whether a file says nothing of the user's program: see `is_known`, or one of the compile cache."""
        is_cache = f"{path}{os.sep}" == self.cache or (
            path.startswith(self.cache) and path.endswith((CACHE_SUFFIX, KNOWN_SUFFIX))
        )
        return is_cache or is_known(path)

    def cannot_tell(self, why: str) -> None:
        if why not in self.reasons:
            self.reasons.append(why)


def is_installed(path: str) -> bool:
    """Whether a file belongs to an installed package."""
    return any(part in path for part in _INSTALLED)


def is_known(path: str) -> bool:
    """Whether a file is of Python, adze or its dependencies, whose versions are compared instead."""
    if path.startswith(_OWN):
        return True
    for part in _INSTALLED:
        _, found, rest = path.rpartition(part)
        if found:
            return rest.partition(os.sep)[0].partition(".")[0] in BASE
    return path.startswith(_LIBRARY)


def stamp(path: str) -> Stamp | None:
    """The stamp of a file, None where there is none."""
    try:
        status = _stat(path)
    except (OSError, ValueError):
        return None
    return (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


class Recording:
    """Notices what is read until the block ends. One at a time in a process."""

    def __enter__(self) -> Seen:
        global _current
        _listen()
        self.seen = Seen()
        self._saved = (os.stat, os.lstat, os.access, _Loader.get_code, type(os.environ))
        os.stat, os.lstat, os.access = _probing(os.stat), _probing(os.lstat), _probing(os.access)
        _Loader.get_code = _get_code  # type: ignore[method-assign, assignment]
        os.environ.__class__ = _NoticedEnvironment
        os.environb.__class__ = _NoticedEnvironment
        _current = self.seen
        return self.seen

    def __exit__(self, *_: object) -> None:
        global _current
        _current = None
        os.stat, os.lstat, os.access, get_code, environment = self._saved
        _Loader.get_code = get_code  # type: ignore[method-assign]
        os.environ.__class__ = environment
        os.environb.__class__ = environment  # type: ignore[assignment]
        for name in (*_READ_UNSEEN, *_READ_UNSEEN_TOO):
            if name in sys.modules:
                self.seen.cannot_tell(f"{name} opens files unseen")


_current: Seen | None = None
_is_listening = False
_stat = os.stat
_Loader = importlib.machinery.SourceFileLoader
_original_get_code: Final = _Loader.get_code


def _listen() -> None:
    global _is_listening
    if not _is_listening:  # a hook stays until Python ends
        sys.addaudithook(_hear)
        _is_listening = True


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    seen = _current
    if seen is None:
        return
    if event == "import":
        seen.modules.add(arguments[0])
    elif event == "open":
        _hear_open(seen, *arguments[:3])
    elif event in ("os.listdir", "os.scandir"):
        path = _absolute(arguments[0] if arguments[0] is not None else ".")
        if path and not _is_import(sys._getframe(1)) and not seen.is_known(path) and not _is_machine(path):
            seen.listings.add(path)
    elif event == "ctypes.dlopen":
        path = _absolute(arguments[0]) if arguments[0] else None
        if path and os.sep in os.fsdecode(arguments[0]) and not seen.is_known(path):
            seen.files.setdefault(path, stamp(path))
    elif event in _UNKNOWABLE:
        seen.cannot_tell(f"{_UNKNOWABLE[event]}{_users_line(sys._getframe(1))}")


def _hear_open(seen: Seen, name: Any, mode: str | None, flags: int) -> None:
    path = _absolute(name)
    if path is None or _is_machine(path) or seen.is_known(path) or _is_import(sys._getframe(2)):
        return
    writes = (flags & os.O_ACCMODE) == os.O_WRONLY if mode is None else not ({*"r+"} & {*mode})
    if writes or (mode is not None and "w" in mode):
        seen.written.add(path)
    else:
        seen.files.setdefault(path, stamp(path))


def _absolute(name: Any) -> str | None:
    """The path that a call named, None for a descriptor."""
    if isinstance(name, int) or name is None:
        return None
    try:
        return os.path.abspath(os.fsdecode(name))
    except (TypeError, ValueError):
        return None


def _is_machine(path: str) -> bool:
    return path.startswith(_MACHINE)


def _is_import(frame: FrameType | None) -> bool:
    """Whether Python's import system asks: its files are those of modules, its listings what it searches."""
    return frame is not None and frame.f_code.co_filename.startswith("<frozen importlib")


def _users_line(frame: FrameType | None) -> str:
    while frame is not None:
        path = frame.f_code.co_filename
        if not path.startswith("<") and not is_known(path) and not is_installed(path):
            return f" ({path}:{frame.f_lineno})"
        frame = frame.f_back
    return ""


def _probing(call: Any) -> Any:
    """`os.stat` and its like, which say whether a file is there."""

    def probe(path: Any, *args: Any, **kwargs: Any) -> Any:
        seen = _current
        if seen is not None and kwargs.get("dir_fd") is None:
            place = _absolute(path)
            if place and not _is_machine(place) and not seen.is_known(place) and not is_installed(place):
                seen.probes.add(place)
        return call(path, *args, **kwargs)

    return probe


def _get_code(self: importlib.machinery.SourceFileLoader, fullname: str) -> CodeType | None:
    """The code of a module: of the user's, that of the text which stands in the file now."""
    path = os.path.abspath(self.get_filename(fullname))
    if _current is None or is_known(path) or is_installed(path):
        return _original_get_code(self, fullname)
    text = self.get_data(path)
    _current.sources[path] = hashlib.sha256(text).hexdigest()
    return self.source_to_code(text, path)


class _NoticedEnvironment(os._Environ):  # type: ignore[type-arg]
    """The environment, where each name that is asked for is noted."""

    def __getitem__(self, key: Any) -> Any:
        if _current is not None:
            _current.variables.add(os.fsdecode(key) if isinstance(key, str | bytes) else str(key))
        return super().__getitem__(key)

    def __iter__(self) -> Any:
        if _current is not None:
            _current.whole_environment = True
        return super().__iter__()

    def __len__(self) -> int:
        if _current is not None:
            _current.whole_environment = True
        return super().__len__()


Kind = Literal["file", "folder", "nothing"]


def kind_of(path: str) -> Kind:
    """What stands at a path."""
    if os.path.isdir(path):
        return "folder"
    return "file" if os.path.exists(path) else "nothing"
