"""IREE's runtime without what adze does not use, as a wheel: python packaging/slim_runtime.py -o FOLDER.

Input: the iree-base-runtime that is installed beside this Python. Output: a wheel of the same version with
the local label `+slim`, which pip prefers to the plain one: `pip install --find-links FOLDER adze-runtime`.
It leaves out the copy of the runtime for tracing with Tracy and the command line tools, and nothing that
adze imports: 4 MB in place of 46.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import importlib.metadata
import zipfile
from pathlib import Path

DISTRIBUTION = "iree-base-runtime"
LABEL = "slim"
LEFT_OUT = (
    "iree/_runtime_libs_tracy/",
    "iree/_runtime_libs/iree-",
    "iree/_runtime_libs/share/",
    "iree/_runtime/scripts/",
)
_DATE = (1980, 1, 1, 0, 0, 0)  # equal wheels, equal bytes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=Path(), help="the folder of the wheel")
    print(slim_wheel(parser.parse_args().output))


def slim_wheel(folder: Path) -> Path:
    """Write the wheel to a folder, and return its path."""
    distribution = importlib.metadata.distribution(DISTRIBUTION)
    plain = distribution.version.partition("+")[0]
    version = f"{plain}+{LABEL}"
    old, new = (f"{DISTRIBUTION.replace('-', '_')}-{v}.dist-info" for v in (distribution.version, version))
    files: dict[str, bytes] = {}
    modes: dict[str, int] = {}
    for entry in distribution.files or ():
        name = entry.as_posix()
        if name.startswith(("..", *LEFT_OUT)) or "__pycache__" in name or not name.startswith(("iree/", old)):
            continue
        path = Path(str(entry.locate()))
        place = name.replace(old, new, 1)
        files[place], modes[place] = path.read_bytes(), path.stat().st_mode & 0o777
    for name in ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "entry_points.txt"):
        files.pop(f"{new}/{name}", None)
    metadata = f"{new}/METADATA"
    line = f"\nVersion: {distribution.version}\n".encode()
    files[metadata] = files[metadata].replace(line, f"\nVersion: {version}\n".encode(), 1)
    tag = next(
        row.removeprefix("Tag: ") for row in files[f"{new}/WHEEL"].decode().splitlines() if "Tag: " in row
    )
    record = f"{new}/RECORD"
    rows = [f"{name},{_digest(content)},{len(content)}" for name, content in sorted(files.items())]
    files[record] = "\n".join([*rows, f"{record},,", ""]).encode()
    path = folder / f"{DISTRIBUTION.replace('-', '_')}-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name in sorted(files, key=lambda name: (name == record, name)):
            info = zipfile.ZipInfo(name, _DATE)
            info.external_attr = (0o100000 | modes.get(name, 0o644)) << 16
            wheel.writestr(info, files[name], zipfile.ZIP_DEFLATED)
    return path


def _digest(content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"sha256={digest}"


if __name__ == "__main__":
    main()
