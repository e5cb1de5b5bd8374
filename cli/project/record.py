"""The record of a build: what its trace read, so that the next build can tell whether anything changed.

Input: what was seen of a trace (`recorder.py`) and what was written. Output: a JSON file in adze's cache
folder, and `Checker`, which compares it with what is there now and says what changed first. A file is the
same when its stamp is; where that differs, or cannot be trusted because the file was written at about the
time of the record, its content decides. Values of the environment are kept as hashes only.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from ...runtime.artifact.files import write_atomically
from .recorder import Seen, is_installed, is_known, kind_of, stamp

FORMAT: Final = 1
_SMALL: Final = 65536  # files up to here are compared by content: that costs less than to explain a doubt
_TRUSTED_AFTER: Final = 2 * 10**9  # nanoseconds between a file's last change and its record
_MODULE_SUFFIXES: Final = (".py", ".pyc", ".so", ".pyd")

Json = dict[str, Any]


def record_of(
    seen: Seen, *, decides: Json, around: Mapping[str, str], depends: Iterable[str], root: Path
) -> Json:
    """The record of a trace that has ended; what it says of outputs is added by `with_output`."""
    files: dict[str, Json | None] = {}
    modules = _module_files()
    for path in sorted(modules | seen.files.keys() | seen.sources.keys()):
        files[path] = _file_entry(seen, path)
    searches = _searches(seen.modules)
    patterns = {}
    for pattern in depends:
        patterns[pattern] = _matches(root, pattern)
        files.update((path, _file_entry(seen, path)) for path in patterns[pattern])
        if not patterns[pattern]:
            seen.cannot_tell(f"no file matches {pattern!r} of depends")
    names = sorted(seen.variables)
    return {
        "format": FORMAT,
        "decides": decides,
        "around": dict(around),
        "at": time.time_ns(),
        "files": files,
        "probes": {path: kind_of(path) for path in sorted(seen.probes - files.keys())},
        "listings": {path: _listing(path) for path in sorted(seen.listings)},
        "searches": searches,
        "patterns": patterns,
        "environment": {name: _hash_of_value(seen.environment.get(name)) for name in names},
        "whole_environment": _hash_of_environment(seen.environment) if seen.whole_environment else None,
        "reasons": list(seen.reasons),
        "outputs": {},
        "result": {},
    }


def _file_entry(seen: Seen, path: str) -> Json | None:
    now = stamp(path)
    if now is None:
        if seen.files.get(path) is not None or path in seen.sources:
            seen.cannot_tell(f"{path} vanished while it was traced")
        return None
    if not os.path.isfile(path):
        seen.cannot_tell(f"{path} is no ordinary file")
        return None
    digest = digest_of(path)
    noted = path in seen.files or path in seen.sources
    changed = (
        (path in seen.files and seen.files[path] != now and path not in seen.written)
        or seen.sources.get(path, digest) != digest
        or (not noted and now[2] > seen.started)
    )
    if changed:
        seen.cannot_tell(f"{path} changed while it was traced")
    return {"stamp": list(now), "sha256": digest}


def _module_files() -> set[str]:
    """The files of all modules that are loaded, except those whose versions are compared."""
    files = set()
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if isinstance(path, str):
            path = os.path.abspath(path)
            if not is_known(path) and os.path.exists(path):
                files.add(path)
    return files


def _searches(names: Iterable[str]) -> list[Json]:
    """Where modules were searched for, and which of the names are there: a new file may come before."""
    by_parent: dict[str, set[str]] = {}
    for name in names:
        parent, _, last = name.rpartition(".")
        by_parent.setdefault(parent, set()).add(last)
    searches = []
    for parent, wanted in sorted(by_parent.items()):
        folders = sys.path if not parent else list(getattr(sys.modules.get(parent), "__path__", []))
        folders = [os.path.abspath(folder) for folder in folders]
        if parent:
            folders = [
                folder for folder in folders if not is_installed(folder) and not is_known(folder + os.sep)
            ]
        if folders:
            found = [sorted(wanted & _importable(folder)) for folder in folders]
            searches.append({"folders": folders, "names": sorted(wanted), "found": found})
    return searches


def _importable(folder: str) -> frozenset[str]:
    """The names that a folder may hold modules of."""
    try:
        entries = os.listdir(folder)
    except OSError:
        return frozenset()
    names = set()
    for entry in entries:
        name, dot, _ = entry.partition(".")
        if not dot or entry.endswith(_MODULE_SUFFIXES):
            names.add(name)
    return frozenset(names)


def _listing(folder: str) -> str:
    try:
        return _digest("\n".join(sorted(os.listdir(folder))))
    except OSError:
        return ""


def _matches(root: Path, pattern: str) -> list[str]:
    paths = glob.glob(os.path.join(glob.escape(str(root)), pattern), recursive=True)
    return sorted(os.path.abspath(path) for path in paths if os.path.isfile(path))


def digest_of(path: str) -> str:
    """The SHA-256 of a file's content; empty where it cannot be read."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _hash_of_value(value: str | None) -> str | None:
    return None if value is None else _digest(value)


def _hash_of_environment(environment: Mapping[str, str]) -> str:
    # what a shell changes from command to command says nothing of the project
    left = sorted(item for item in environment.items() if item[0] not in ("_", "SHLVL", "OLDPWD"))
    return _digest(json.dumps(left))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()


class Checker:
    """Compares records with what is there now; what several records name is looked at once."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._at = time.time_ns()
        self._stamps: dict[str, tuple[int, int, int, int] | None] = {}
        self._digests: dict[str, str] = {}
        self._importable: dict[str, frozenset[str]] = {}
        self._listings: dict[str, str] = {}
        self._variables: dict[str, str | None] = {}
        self.renewed = False
        """Whether the stamps of the record that was looked at last differ, and its contents do not."""

    def change(self, record: Json, decides: Json, around: Mapping[str, str], root: Path) -> str | None:
        """What changed since the record was written, in words; None where nothing did."""
        self.renewed = False
        if record["decides"] != json.loads(json.dumps(decides)):
            names = [name for name in decides if record["decides"].get(name) != _plain(decides[name])]
            return f"{', '.join(names) or 'the project'} changed in the project"
        if record["reasons"]:
            return str(record["reasons"][0])
        return (
            _different(record["around"], around)
            or self._environment_change(record)
            or next(
                (
                    why
                    for path, entry in record["files"].items()
                    if (why := self._file(path, entry, record["at"]))
                ),
                None,
            )
            or self._folder_change(record, root)
            or next(
                (why for path, entry in record["outputs"].items() if (why := self._output(path, entry))), None
            )
        )

    def _environment_change(self, record: Json) -> str | None:
        for name, value in record["environment"].items():
            if name not in self._variables:
                self._variables[name] = _hash_of_value(self._environment.get(name))
            if self._variables[name] != value:
                return f"the environment variable {name} changed"
        if record["whole_environment"] not in (None, _hash_of_environment(self._environment)):
            return "the environment changed, all of which it reads"
        return None

    def _folder_change(self, record: Json, root: Path) -> str | None:
        for path, kind in record["probes"].items():
            if kind_of(path) != kind:
                return f"{_short(path)} was {'a ' if kind != 'nothing' else ''}{kind}"
        for path, listing in record["listings"].items():
            if path not in self._listings:
                self._listings[path] = _listing(path)
            if self._listings[path] != listing:
                return f"files came to {_short(path)} or left it"
        for pattern, paths in record["patterns"].items():
            if _matches(root, pattern) != paths:
                return f"other files match {pattern!r}"
        for search in record["searches"]:
            wanted = frozenset(search["names"])
            for folder, found in zip(search["folders"], search["found"], strict=True):
                if folder not in self._importable:
                    self._importable[folder] = _importable(folder)
                differing = sorted(wanted & self._importable[folder] ^ set(found))
                if differing:
                    return f"the module {differing[0]} came to {_short(folder)} or left it"
        return None

    def _file(self, path: str, entry: Json | None, at: int) -> str | None:
        if path not in self._stamps:
            self._stamps[path] = stamp(path)
        now = self._stamps[path]
        if now is None or entry is None:
            if now is None and entry is None:
                return None
            return f"{_short(path)} {'is missing' if now is None else 'came'}"
        same_stamp = list(now) == entry["stamp"]
        trusted = now[2] < at - _TRUSTED_AFTER and (now[0] > _SMALL or is_installed(path))
        if same_stamp and trusted:
            return None
        if now[0] != entry["stamp"][0] or self._digest(path) != entry["sha256"]:
            return f"{_short(path)} changed"
        self.renewed = self.renewed or not same_stamp or now[2] >= at - _TRUSTED_AFTER
        return None

    def _output(self, path: str, entry: Json) -> str | None:
        now = stamp(path)
        if now is None:
            return f"{_short(path)} is missing"
        if list(now[:2]) != entry["stamp"][:2] or not os.path.isfile(path):
            return f"{_short(path)} was touched"
        small = now[0] <= 4 * _SMALL
        if (small or list(now) != entry["stamp"]) and digest_of(path) != entry["sha256"]:
            return f"{_short(path)} was changed"
        return None

    def _digest(self, path: str) -> str:
        if path not in self._digests:
            self._digests[path] = digest_of(path)
        return self._digests[path]

    def renew(self, record: Json) -> Json:
        """The record with the stamps of now, after `change` saw that contents are the same."""
        files = {
            path: entry and {**entry, "stamp": list(self._stamps.get(path) or entry["stamp"])}
            for path, entry in record["files"].items()
        }
        return {**record, "files": files, "at": self._at}


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _short(path: str) -> str:
    """A path as the user would write it."""
    relative = os.path.relpath(path)
    return relative if not relative.startswith("..") else path


def _different(then: Mapping[str, str], now: Mapping[str, str]) -> str | None:
    for name in (*now, *then):
        if then.get(name) != now.get(name):
            versions = [(side.get(name) or "none").split(" ")[0] for side in (then, now)]
            is_version = name not in ("adze", "the search path of modules") and versions[0] != versions[1]
            return f"another {name}: {versions[0]}, now {versions[1]}" if is_version else f"{name} changed"
    return None


# --- files of records ---------------------------------------------------------------------------------------


def record_path(folder: Path, root: Path, name: str) -> Path:
    """Where the record of an artifact stands: each project has a folder, named by a hash of its path."""
    project = _digest(str(root))[:16]
    return folder / "projects" / project / f"{_digest(name)[:24]}.json"


def read_record(path: Path) -> Json | None:
    """The record in a file; None where there is none, or a damaged or foreign one."""
    try:
        text = path.read_bytes()
        record = json.loads(text[65:])
        if hashlib.sha256(text[65:]).hexdigest().encode() != text[:64] or record["format"] != FORMAT:
            return None
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return dict(record)


def write_record(path: Path, record: Json) -> str | None:
    """Write it; None, or why that failed: the next build then builds again."""
    text = json.dumps(record, sort_keys=True, separators=(",", ":")).encode(errors="surrogateescape")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, hashlib.sha256(text).hexdigest().encode() + b"\n" + text)
    except OSError as error:
        return f"no record of the build was kept in {path.parent}: {error.strerror or error}"
    return None
