"""`adze cache`: what the persistent compile cache holds, and how to empty it.

The folder and its bound are those of the settings (`ADZE_CACHE_DIR`, `ADZE_CACHE_MAX_BYTES`). Clearing
removes entries and nothing else.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from .reporting import JsonOption, command, print_json, print_rows, print_text, readable_bytes

if TYPE_CHECKING:
    from ..runtime.compile.cache import CompileCache

app = typer.Typer(no_args_is_help=True, help="Look at the compile cache or empty it.")


@app.command()
@command
def stats(json: JsonOption = False) -> None:
    """Show where the cache is and how full.

    Example: adze cache stats
    """
    usage = _cache().stats()
    if json:
        print_json(asdict(usage))
        return
    print_rows(
        [
            ("folder", usage.folder),
            ("state", "on" if usage.enabled else "off"),
            ("entries", usage.entries),
            ("size", f"{readable_bytes(usage.bytes)} of at most {readable_bytes(usage.max_bytes)}"),
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


def _cache() -> CompileCache:
    from ..runtime.compile.cache import CompileCache
    from ..runtime.settings import read_settings

    return CompileCache.from_settings(read_settings())
