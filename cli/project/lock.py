"""`adze.lock`: what was built, so that another build can be compared with it.

Input: results of builds. Output: a TOML text that is the same for the same results: artifacts in the order
of their names, a line for each value, nothing of other artifacts in any of them, no dates and no paths of a
machine. Two branches that change different artifacts merge without a conflict.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Final

from ...dialects.dataclass import dataclass
from ...runtime.artifact.files import write_atomically
from ..reporting import BadUsage

VERSION: Final = 1
_HEADER: Final = (
    "# What `adze build` built. Commit this file: `adze build --locked` and `--check` compare with it.\n"
    f"version = {VERSION}\n"
)
_AGAIN: Final = "delete it, or resolve the merge in it, and run adze build, which writes it again"


@dataclass(frozen=True, slots=True)
class Locked:
    """What is known of one artifact. `key` is the hash of everything that decides what is compiled."""

    entry: str
    targets: tuple[str, ...]
    output: str
    ir_sha256: str
    key: str
    sha256: str
    bytes: int
    versions: Mapping[str, str]
    flags: tuple[str, ...]
    parameters: Mapping[str, str] = field(default_factory=dict)
    """The hashes of the files of parameters beside the program."""

    def to_toml(self, name: str) -> str:
        """Its lines."""
        parameters = f"parameters = {_table(self.parameters)}\n" if self.parameters else ""
        flags = "".join(f"  {_quoted(flag)},\n" for flag in self.flags)
        return (
            f"[artifact.{_quoted(name)}]\n"
            f"entry = {_quoted(self.entry)}\n"
            f"targets = [{', '.join(map(_quoted, self.targets))}]\n"
            f"output = {_quoted(self.output)}\n"
            f"ir_sha256 = {_quoted(self.ir_sha256)}\n"
            f"key = {_quoted(self.key)}\n"
            f"sha256 = {_quoted(self.sha256)}\n"
            f"bytes = {self.bytes}\n"
            f"{parameters}"
            f"versions = {_table(self.versions)}\n"
            f"flags = [\n{flags}]\n"
        )

    def differences(self, other: Locked) -> list[str]:
        """What differs in `other`, the nearest cause first."""
        found = []
        if self.versions != other.versions:
            changed = [
                f"{name} {self.versions.get(name, 'none')}, now {other.versions.get(name, 'none')}"
                for name in sorted({*self.versions, *other.versions})
                if self.versions.get(name) != other.versions.get(name)
            ]
            found.append(f"versions ({'; '.join(changed)})")
        pairs = (
            ("entry", self.entry, other.entry),
            ("targets", self.targets, other.targets),
            ("flags", self.flags, other.flags),
            ("output", self.output, other.output),
        )
        found += [name for name, mine, others in pairs if mine != others]
        if self.ir_sha256 != other.ir_sha256:
            found.append("the program (another IR)")
        if self.parameters != other.parameters:
            found.append("its parameters")
        if self.sha256 != other.sha256 and not found:
            found.append("the processor that it is compiled for" if self.key != other.key else "its bytes")
        return found


def lock_entry(entry: str, output: str, result: Mapping[str, Any]) -> Locked:
    """What is locked of a build with this result."""
    return Locked(
        entry=entry,
        targets=tuple(result["targets"]),
        output=output,
        ir_sha256=result["ir_sha256"],
        key=result["key"],
        sha256=result["sha256"],
        bytes=result["bytes"],
        versions=dict(result["versions"]),
        flags=tuple(result["flags"]),
        parameters=dict(result["parameters"]),
    )


def lock_text(entries: Mapping[str, Locked]) -> str:
    """The file of these artifacts."""
    return "\n".join([_HEADER, *(entries[name].to_toml(name) for name in sorted(entries))])


def read_lock(file: Path) -> dict[str, Locked] | None:
    """The artifacts of the file, None where there is none. A file that is none is bad usage."""
    try:
        text = file.read_bytes().decode()
        data = tomllib.loads(text)
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise BadUsage(f"{file}: not a text in UTF-8", hint=_AGAIN) from None
    except tomllib.TOMLDecodeError as error:
        raise BadUsage(f"{file}: no TOML: {error}", hint=_AGAIN) from None
    except OSError as error:
        raise BadUsage(f"cannot read {file}: {error.strerror or error}") from None
    if data.get("version") != VERSION:
        raise BadUsage(
            f"{file}: version is {data.get('version')!r}, and this adze reads {VERSION}",
            hint="delete it and run adze build, which writes it again",
        )
    unknown = sorted(data.keys() - {"version", "artifact"})
    if unknown:
        raise BadUsage(f"{file}: there is no such key: {unknown[0]}", hint=_AGAIN)
    artifacts = data.get("artifact", {})
    if not isinstance(artifacts, dict):
        raise BadUsage(f"{file}: artifact is no table", hint=_AGAIN)
    return {name: _entry(file, name, table) for name, table in artifacts.items()}


_KINDS: Final[dict[str, type]] = {
    "entry": str,
    "targets": list,
    "output": str,
    "ir_sha256": str,
    "key": str,
    "sha256": str,
    "bytes": int,
    "versions": dict,
    "flags": list,
    "parameters": dict,
}


def _entry(file: Path, name: str, table: Any) -> Locked:
    if not isinstance(table, dict):
        raise BadUsage(f"{file}: artifact.{name} is no table", hint=_AGAIN)
    table = {"parameters": {}, **table}
    for key in sorted(table.keys() ^ _KINDS.keys()):
        state = "is missing" if key in _KINDS else "is no key of a lock"
        raise BadUsage(f"{file}: artifact.{name}.{key} {state}", hint=_AGAIN)
    for key, kind in _KINDS.items():
        entries = table[key] if kind is list else list(table[key].values()) if kind is dict else []
        good = isinstance(table[key], kind) and not isinstance(table[key], bool)
        if not good or not all(isinstance(entry, str) for entry in entries):
            raise BadUsage(f"{file}: artifact.{name}.{key} is {table[key]!r}", hint=_AGAIN)
    return Locked(**{**table, "targets": tuple(table["targets"]), "flags": tuple(table["flags"])})


def holds(file: Path, entries: Mapping[str, Locked]) -> bool:
    """Whether the file is that of these artifacts."""
    try:
        return file.read_bytes() == lock_text(entries).encode()
    except OSError:
        return False


def write_lock(file: Path, entries: Mapping[str, Locked]) -> None:
    """Write the file where it differs."""
    if not holds(file, entries):
        write_atomically(file, lock_text(entries).encode())


def _table(values: Mapping[str, str]) -> str:
    return f"{{ {', '.join(f'{_quoted(k)} = {_quoted(v)}' for k, v in sorted(values.items()))} }}"


def _quoted(text: str) -> str:
    """A basic string of TOML, which is one of JSON but for the character DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")
