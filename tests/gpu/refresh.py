"""`python -m tests.gpu.refresh [PROGRAM ...]` writes the table of GPU code again, and prints what changed."""

from __future__ import annotations

import json
import sys

from adze.dialects.errors import AdzeError
from adze.runtime.measure.ptxas import ABSENT, ptxas, ptxas_version

from .programs import PROGRAMS
from .table import TABLE, assembled_row, counts_of, module_of, read_table


def main(names: list[str]) -> None:
    """Compile and assemble the programs of these names, all where none is named."""
    if ptxas() is None:
        sys.exit(ABSENT)
    rows = read_table() if TABLE.exists() else {}
    rows = {name: rows[name] for name in PROGRAMS if name in rows}
    for name in names or PROGRAMS:
        try:
            module = module_of(PROGRAMS[name])
            row = {**counts_of(module), **assembled_row(module)}
        except AdzeError as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        if row != rows.get(name):
            print(name, json.dumps(rows.get(name)), "->", json.dumps(row), flush=True)
        rows[name] = row
    ordered = {name: rows[name] for name in PROGRAMS if name in rows}
    lines = ",\n".join(f"    {json.dumps(name)}: {json.dumps(row)}" for name, row in ordered.items())
    TABLE.write_text(f'{{\n  "ptxas": {json.dumps(ptxas_version())},\n  "programs": {{\n{lines}\n  }}\n}}\n')


if __name__ == "__main__":
    main(sys.argv[1:])
