"""The wheel of IREE's runtime without what adze does not use: small, and with every file that is used."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import runpy
import zipfile
from pathlib import Path


def test_the_wheel_has_what_is_used_and_no_more(checkout: Path, tmp_path: Path) -> None:
    slim_wheel = runpy.run_path(str(checkout / "packaging" / "slim_runtime.py"))["slim_wheel"]
    path = slim_wheel(tmp_path)
    version = importlib.metadata.version("iree-base-runtime").partition("+")[0]
    assert path.name.startswith(f"iree_base_runtime-{version}+slim-")
    with zipfile.ZipFile(path) as wheel:
        files = {name: wheel.read(name) for name in wheel.namelist()}
    folder = f"iree_base_runtime-{version}+slim.dist-info"
    assert sum(map(len, files.values())) < 6_000_000
    assert f"\nVersion: {version}+slim\n".encode() in files[f"{folder}/METADATA"]
    assert any(name.startswith("iree/_runtime_libs/_runtime.") for name in files)
    assert "iree/runtime/__init__.py" in files
    assert not [name for name in files if "tracy" in name or name.startswith("iree/_runtime_libs/iree-")]
    for row in files.pop(f"{folder}/RECORD").decode().split():
        name, digest, size = row.rsplit(",", 2)
        if digest:
            content = files.pop(name)
            expected = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            assert (digest, size) == (f"sha256={expected}", str(len(content)))
    assert files == {}
