"""A project: what `adze.toml`, or `[tool.adze]` of a `pyproject.toml`, says is to be built.

Input: the file. Output: a frozen `Project` of artifacts, checked: an unknown key, a wrong value, two
artifacts of one path are bad usage that names the file, its line and the key, and says what to write.
Nothing of the user's code is looked at, and no compiler is loaded.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ...dialects.dataclass import dataclass
from ..derivations import DERIVATIVES
from ..reporting import BadUsage
from .positions import line_of
from .values import KINDS, Wrong, suggestion

FILE_NAME: Final = "adze.toml"
PYPROJECT: Final = "pyproject.toml"

_TOP: Final = {"output_dir": "text", "defaults": "table", "artifact": "table"}
_ARTIFACT: Final = {
    "entry": "entry",
    "inputs": "inputs",
    "targets": "targets",
    "output": "output",
    **dict.fromkeys(DERIVATIVES, "switch"),
    "argnums": "argnums",
    "vmap": "size",
    "in_axes": "in_axes",
    "bundle": "texts",
    "dims": "dims",
    "specialize": "specialize",
    "keep_ir": "switch",
    "default_dtypes": "default_dtypes",
    "depends": "texts",
    "gradients": "switch",
    "budgets": "table",
}
_BUDGETS: Final = {
    "max_bytes": "bytes",
    "max_compile_s": "positive",
    "max_kernels": "count",
    "max_error": "positive",
    "max_peak_bytes": "bytes",
}
_NOT_SHARED: Final = ("entry", "output")
"""What stands in an artifact only, and not in `defaults`."""


@dataclass(frozen=True, slots=True)
class Budgets:
    """The most that an artifact may be, take or be off; None: as it comes."""

    max_bytes: int | None = None
    max_compile_s: float | None = None
    max_kernels: int | None = None
    max_error: float | None = None
    max_peak_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Artifact:
    """One file to build. `where` is its line in the file of the project; paths are absolute."""

    name: str
    entries: tuple[str, ...]
    targets: tuple[str, ...]
    output: Path
    where: str
    inputs: tuple[str, ...] = ()
    derivative: str | None = None
    argnums: str = "0"
    vmap: str | None = None
    in_axes: str | None = None
    bundle: tuple[str, ...] = ()
    dims: tuple[str, ...] = ()
    specialize: tuple[str, ...] = ()
    keep_ir: bool = False
    default_dtypes: str | None = None
    depends: tuple[str, ...] = ()
    gradients: bool = True
    budgets: Budgets = Budgets()

    def decides(self) -> dict[str, Any]:
        """What of it decides the bytes of the file: another value means another build."""
        names = [
            "entries",
            "inputs",
            "targets",
            "derivative",
            "argnums",
            "vmap",
            "in_axes",
            "bundle",
            "dims",
            "specialize",
            "keep_ir",
            "default_dtypes",
            "depends",
        ]
        return {"output": self.output.name} | {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class Project:
    """The artifacts of one file. `root` is its folder, in which everything is built."""

    file: Path
    root: Path
    artifacts: tuple[Artifact, ...]

    @property
    def lock_file(self) -> Path:
        return self.root / "adze.lock"

    def chosen(self, names: list[str]) -> tuple[Artifact, ...]:
        """The artifacts of these names, all of them for none."""
        known = [artifact.name for artifact in self.artifacts]
        for name in names:
            # `predict` stands for `predict@cpu` and `predict@vulkan` too
            if name not in known and not any(other.startswith(f"{name}@") for other in known):
                raise BadUsage(
                    f"{self.file} has no artifact {name!r}: it has {', '.join(known)}",
                    hint="to build a function without a project, name it too: adze build model.py:predict",
                )
        return tuple(a for a in self.artifacts if not names or {a.name, a.name.partition("@")[0]} & {*names})


def find_project(start: Path) -> Project:
    """The project that `start` names (a file, or its folder), or that the nearest folder above it has."""
    if start.is_file():
        return read_project(start)
    if not start.is_dir():
        raise BadUsage(f"there is no folder or file {str(start)!r}")
    folder = start.resolve()
    for candidate in (folder, *folder.parents):
        found = [path for path in (candidate / FILE_NAME, candidate / PYPROJECT) if _has_project(path)]
        if len(found) > 1:
            raise BadUsage(
                f"{found[0]} and [tool.adze] of {found[1]} both say what to build: expected one of them",
                hint="keep one, or name it: --project adze.toml",
            )
        if found:
            return read_project(found[0])
    raise BadUsage(
        f"there is no {FILE_NAME} in {folder} or above it, and no {PYPROJECT} with [tool.adze]",
        hint="name a function: adze build model.py:predict --in 'f32[8,3]' -o predict.vmfb",
    )


def _has_project(path: Path) -> bool:
    if not path.is_file():
        return False
    if path.name != PYPROJECT:
        return True
    try:
        text = path.read_text(encoding="utf-8")
        return "adze" in text and "adze" in tomllib.loads(text).get("tool", {})
    except (OSError, ValueError):
        return False  # a pyproject.toml that is none, of somebody else


def read_project(file: Path) -> Project:
    """The project in `file`."""
    file = Path(os.path.abspath(file))
    try:
        text = file.read_bytes().decode("utf-8")
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadUsage(f"{file}: no TOML: {error}") from None
    except UnicodeDecodeError:
        raise BadUsage(f"{file}: not a text in UTF-8") from None
    except OSError as error:
        raise BadUsage(f"cannot read {file}: {error.strerror or error}") from None
    prefix: tuple[str, ...] = ()
    if file.name == PYPROJECT:
        prefix = ("tool", "adze")
        tables = tables.get("tool", {}).get("adze")
        if tables is None:
            raise BadUsage(f"{file} has no [tool.adze]", hint="write [tool.adze.artifact.NAME] there")
    return _Reader(file, text, prefix).project(tables)


class _Reader:
    """Checks the tables of one file; what it refuses has a line."""

    def __init__(self, file: Path, text: str, prefix: tuple[str, ...]) -> None:
        self.file = file
        self.text = text
        self.prefix = prefix

    def project(self, tables: Any) -> Project:
        if not isinstance(tables, dict):
            raise self.wrong((), "expected a table")
        top = self.values(tables, (), _TOP)
        artifacts = top.get("artifact", {})
        if not artifacts:
            header = ".".join((*self.prefix, "artifact", "predict"))
            raise self.wrong(
                (), "there is no artifact in it", f'write [{header}] and entry = "model.py:predict"'
            )
        shared = self.values(top.get("defaults", {}), ("defaults",), _ARTIFACT, _NOT_SHARED)
        folder = self.file.parent / top.get("output_dir", ".")
        result: list[Artifact] = []
        for name, table in artifacts.items():
            path = ("artifact", name)
            if not isinstance(table, dict):
                raise self.wrong(path, f"is {_shown(table)}, expected a table", f"write [artifact.{name}]")
            if not name or not all(c.isalnum() or c in "_.-" for c in name):
                raise self.wrong(
                    path, f"{name!r} is no name of an artifact", "use letters, digits, _ . and -"
                )
            result += self.artifacts(name, table, shared, folder)
        self.check_paths(result)
        return Project(self.file, self.file.parent, tuple(result))

    def values(
        self, table: Any, path: tuple[str, ...], kinds: Mapping[str, str], refused: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        """The entries of a table, parsed."""
        values = {}
        for key, value in table.items():
            here = (*path, key)
            if key in refused:
                raise self.wrong(here, "stands in each artifact of its own, not in defaults")
            if key not in kinds:
                raise self.wrong(
                    here, f"there is no such key{suggestion(key, kinds)}", f"the keys are {', '.join(kinds)}"
                )
            try:
                values[key] = KINDS[kinds[key]](value)
            except Wrong as wrong:
                raise self.wrong(here, f"is {_shown(value)}, expected {wrong.expected}", wrong.hint) from None
        return values

    def artifacts(
        self, name: str, table: dict[str, Any], shared: Mapping[str, Any], folder: Path
    ) -> list[Artifact]:
        """The files that one table asks for: one, or one a target where `output` says {target}."""
        path = ("artifact", name)
        own = self.values(table, path, _ARTIFACT)
        if "entry" not in own:
            raise self.wrong(path, "says no entry", 'write entry = "model.py:predict"')
        budgets = {**shared.get("budgets", {}), **own.get("budgets", {})}
        owner = (*path, "budgets") if "budgets" in own else ("defaults", "budgets")
        values = {**self.inherited(shared, own), "budgets": Budgets(**self.values(budgets, owner, _BUDGETS))}
        derivatives = [key for key in DERIVATIVES if values.pop(key, False)]
        if len(derivatives) > 1:
            raise self.wrong(
                (*path, derivatives[1]), f"{' and '.join(derivatives)}: one derivative at a time"
            )
        if "in_axes" in values and "vmap" not in values:
            raise self.wrong((*path, "in_axes"), "there is no batch", "write vmap too")
        targets = values.pop("targets", ("cpu",))
        output = values.pop("output", f"{name}.vmfb")
        values["entries"] = values.pop("entry")
        common = {**values, "where": self.where(path), "derivative": next(iter(derivatives), None)}
        if "{target}" not in output:
            return [Artifact(name=name, targets=targets, output=self.place(folder, output), **common)]
        return [
            Artifact(
                name=f"{name}@{target}",
                targets=(target,),
                output=self.place(folder, output.replace("{target}", target.replace(":", "-"))),
                **common,
            )
            for target in targets
        ]

    def inherited(self, shared: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
        """The values of an artifact and the defaults; an own derivative replaces a shared one."""
        has_derivative = any(key in DERIVATIVES for key in own)
        left = {k: v for k, v in shared.items() if not (has_derivative and k in DERIVATIVES)}
        return {**left, **own}

    def place(self, folder: Path, output: str) -> Path:
        return Path(os.path.abspath(folder / output))

    def check_paths(self, artifacts: list[Artifact]) -> None:
        """No two artifacts are one file, and none is a file that the build reads."""
        seen: dict[str, Artifact] = {}
        root = self.file.parent
        sources = {os.path.realpath(root / e.rpartition(":")[0]) for a in artifacts for e in a.entries}
        sources |= {os.path.realpath(self.file), os.path.realpath(root / "adze.lock")}
        for artifact in artifacts:
            place = os.path.realpath(artifact.output)
            key = ("artifact", artifact.name.partition("@")[0], "output")
            if place in sources:
                raise self.wrong(key, f"{artifact.output} is read by the build, and would be overwritten")
            other = seen.setdefault(place, artifact)
            if other is not artifact:
                raise self.wrong(
                    key,
                    f"{artifact.name} and {other.name} ({other.where}) would both be {artifact.output}",
                    'write output = "...", another one in each',
                )

    def where(self, path: tuple[str, ...]) -> str:
        return f"{self.file}:{line_of(self.text, (*self.prefix, *path))}"

    def wrong(self, path: tuple[str, ...], what: str, hint: str | None = None) -> BadUsage:
        key = ".".join((*self.prefix, *path))
        return BadUsage(f"{key}: {what}" if key else what, where=self.where(path), hint=hint)


def _shown(value: Any) -> str:
    text = repr(value)
    if isinstance(value, bool):
        text = text.lower()
    return text if len(text) <= 60 else f"{text[:57]}..."
