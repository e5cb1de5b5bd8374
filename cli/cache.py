"""`adze cache`: what the persistent compile cache holds, why it has a program or not, and how to empty it.

The folder and its bound are those of the settings (`ADZE_CACHE_DIR`, `ADZE_CACHE_MAX_BYTES`). Clearing
removes entries and nothing else.
"""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from .arguments import SpecOption, TargetOption, bind_specs
from .reporting import (
    BadUsage,
    JsonOption,
    command,
    counted,
    print_json,
    print_rows,
    print_text,
    readable_bytes,
    usage,
)

if TYPE_CHECKING:
    from ..runtime.compile.cache import CompileCache, StoredEntry

_DAY = 86400.0
app = typer.Typer(
    no_args_is_help=True, help="Look at the compile cache, ask why it has a program or not, or empty it."
)


@app.command()
@command
def stats(json: JsonOption = False) -> None:
    """Show where the cache is and how full.

    Example: adze cache stats
    """
    state = _cache().stats()
    if json:
        print_json(asdict(state))
        return
    print_rows(
        [
            ("folder", state.folder),
            ("state", "on" if state.enabled else "off"),
            ("entries", state.entries),
            ("size", f"{readable_bytes(state.bytes)} of at most {readable_bytes(state.max_bytes)}"),
        ]
    )


@app.command()
@command
def clear(json: JsonOption = False) -> None:
    """Delete every entry of the cache, and nothing else in its folder.

    Example: adze cache clear
    """
    cache = _cache()
    removed = cache.clear()
    if json:
        print_json({"folder": cache.folder, "removed": removed})
    else:
        print_text(f"removed {removed} entries from {cache.folder}")


@app.command("list")
@command
def list_entries(json: JsonOption = False) -> None:
    """List the entries of the cache, the one that was used last first.

    Example: adze cache list
    """
    entries = _cache().entries()
    if json:
        print_json([_described(entry) for entry in entries])
        return
    for entry in entries:
        days = (time.time() - entry.used) / _DAY
        versions = dict(entry.key["versions"])
        made_by = f"adze {versions.get('adze', '?')}, IREE {versions.get('iree_compiler', '?')}"
        size = f"{readable_bytes(entry.bytes):>10}"
        print_text(f"{entry.digest[:12]}  {size}  {days:6.1f} days  {made_by}  {entry.key['target']}")
    print_text(f"{counted(len(entries), 'program')}")


@app.command()
@command
def prune(
    max_bytes: Annotated[
        str | None,
        typer.Option(
            "--max-bytes", metavar="SIZE", help="What the rest may take: 500MB, 2GiB.", show_default=False
        ),
    ] = None,
    days: Annotated[
        float | None,
        typer.Option("--days", min=0, help="Delete what was not used for so long.", show_default=False),
    ] = None,
    other_versions: Annotated[
        bool, typer.Option("--other-versions", help="Delete what other versions of adze or IREE compiled.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Delete entries that were used longest ago, or that other versions made.

    Example: adze cache prune --days 30 --other-versions
    """
    from ..runtime.artifact.manifest import versions

    if max_bytes is None and days is None and not other_versions:
        raise BadUsage(
            "which entries shall be deleted?",
            hint="write --days 30, --max-bytes 1GiB or --other-versions; adze cache clear deletes all",
        )
    limit = None if max_bytes is None else _size(max_bytes)
    here, now = versions(), time.time()

    def wanted(entry: StoredEntry) -> bool:
        made_by = {name: version for name, version in entry.key["versions"] if name in here}
        is_old = days is not None and now - entry.used > days * _DAY
        return not is_old and not (other_versions and made_by != here)

    cache = _cache()
    removed, freed = cache.prune(wanted, limit)
    if json:
        print_json({"folder": cache.folder, "removed": removed, "bytes": freed})
    else:
        print_text(f"removed {counted(removed, 'program')}, {readable_bytes(freed)}, from {cache.folder}")


@app.command()
@command
def explain(
    what: Annotated[
        str,
        typer.Argument(metavar="FILE.py:FUNC | ENTRY", help="A function, or the first digits of an entry."),
    ],
    specs: SpecOption = [],  # noqa: B006 - typer copies it
    target: TargetOption = "cpu",
    json: JsonOption = False,
) -> None:
    """Say whether the cache has the program of a function, and which part of its key differs if not.

    Example: adze cache explain model.py:predict --in 'f32[8,784]'
    """
    from ..runtime.targets import parse_target

    cache = _cache()
    if ":" not in what:
        _show_entry([entry for entry in cache.entries() if entry.digest.startswith(what)], what, json)
        return
    from ..frontend.staging.jit import trace
    from .source import load_function, user_code

    chosen = usage("--target", parse_target, target)
    with user_code(f"{what} was traced"):
        function = load_function(what)
        args, kwargs = bind_specs(function, specs)
        key = trace(function, *args, **kwargs).lower(chosen).cache_key()
    is_there = cache.get(key) is not None
    why = "the cache has it" if is_there else cache.explain_miss(key)
    why = why if cache.enabled else "the cache is off (ADZE_CACHE)"
    if json:
        print_json({"entry": key.digest, "hit": is_there, "why": why})
    else:
        print_rows([("entry", key.digest), ("state", "hit" if is_there else "miss"), ("why", why)])


def _size(text: str) -> int:
    from ..runtime.errors import SettingError
    from ..runtime.settings import parse_bytes

    try:
        return parse_bytes("--max-bytes", text)
    except SettingError as error:
        raise BadUsage(error.message) from None


def _show_entry(found: list[StoredEntry], prefix: str, as_json: bool) -> None:
    """Print the one entry of `found`."""
    if len(found) != 1:
        number = "no entry begins" if not found else f"{len(found)} entries begin"
        raise BadUsage(f"{number} with {prefix!r}", hint="adze cache list shows the first digits of each")
    (entry,) = found
    if as_json:
        print_json(_described(entry))
        return
    rows: list[tuple[str, object]] = [
        ("entry", entry.digest),
        ("size", readable_bytes(entry.bytes)),
        ("target", entry.key["target"]),
        ("machine", entry.key["machine"] or "any of the target"),
        ("program", entry.key["ir_sha256"]),
        ("versions", ", ".join(f"{name} {version}" for name, version in entry.key["versions"])),
        ("flags", " ".join(entry.key["flags"])),
    ]
    seconds = entry.metadata.get("seconds")
    print_rows([*rows, ("compiled in", f"{seconds} s" if seconds is not None else "unknown")])


def _described(entry: StoredEntry) -> dict[str, object]:
    return {
        "entry": entry.digest,
        "bytes": entry.bytes,
        "used": entry.used,
        "key": entry.key,
        "metadata": entry.metadata,
    }


def _cache() -> CompileCache:
    from ..runtime.compile.cache import CompileCache
    from ..runtime.settings import read_settings

    return CompileCache.from_settings(read_settings())
