"""Rewrites the generated files of the source tree: `python -m adze.dialects.generate`.

Each generator is a function from the tuple of ops to text; a test fails when a file is stale.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ..dialect import OPS
from .builder import builder_text
from .irdl import irdl_text
from .reference import reference_text


def generated_files(root: Path) -> dict[Path, str]:
    """Every generated file of the source tree at `root`, with the text that it should have."""
    return {
        root / "dialects" / "generated" / "builder.py": builder_text(OPS),
        root / "dialects" / "generated" / "adze.irdl.mlir": irdl_text(OPS),
        root / "docs" / "ops.md": reference_text(OPS),
    }


def main() -> int:
    """Rewrite the generated files of the source tree this module is in."""
    for path, text in generated_files(Path(__file__).resolve().parents[2]).items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
