"""What a trace reads is noticed, in whichever way it reads it."""

import os
import py_compile
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from adze.cli.project import recorder
from adze.cli.project.recorder import Recording, Seen
from adze.cli.source import import_file


@pytest.fixture
def seen_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Seen]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in (*recorder._READ_UNSEEN, *recorder._READ_UNSEEN_TOO):  # other tests may have imported them
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.chdir(tmp_path)

    def run(code: str) -> Seen:
        path = tmp_path / "recorded_by_a_test.py"
        path.write_text(code)
        with Recording() as seen:
            import_file(path)
        del sys.modules["recorded_by_a_test"]
        return seen

    return run


def test_files_are_noticed_however_they_are_opened(seen_by: Callable[[str], Seen], tmp_path: Path) -> None:
    for name in ("a", "b", "c", "d"):
        (tmp_path / name).write_bytes(b"1 2")
    np.save(tmp_path / "e.npy", np.zeros(2))
    seen = seen_by(
        "import os, numpy as np\nfrom pathlib import Path\n"
        "open('a').close(); Path('b').read_text(); np.fromfile('c', np.uint8); np.loadtxt('d')\n"
        "np.load('e.npy'); os.close(os.open('a', os.O_RDONLY)); np.load('e.npy', mmap_mode='r')\n"
        "try: open('missing')\nexcept OSError: pass\n"
        "open('written', 'w').close()\n"
    )
    read = {Path(path).name: stamp is not None for path, stamp in seen.files.items()}
    assert read == {"a": True, "b": True, "c": True, "d": True, "e.npy": True, "missing": False}
    assert {Path(path).name for path in seen.written} == {"written"}
    assert seen.reasons == []


def test_variables_are_noticed_in_each_way_of_asking(
    seen_by: Callable[[str], Seen], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = seen_by(
        "import os\nfrom os import environ, getenv\n"
        "environ.get('ADZE_T1'); getenv('ADZE_T2'); 'ADZE_T3' in os.environ; os.environb.get(b'ADZE_T4')\n"
        "environ.setdefault('ADZE_T5', '1'); del environ['ADZE_T5']\n"
    )
    assert seen.variables >= {f"ADZE_T{n}" for n in range(1, 6)}
    assert not seen.whole_environment
    assert seen_by("import os\ndict(os.environ)\n").whole_environment
    assert type(os.environ).__name__ == "_Environ"


def test_probes_listings_and_modules_are_noticed(seen_by: Callable[[str], Seen], tmp_path: Path) -> None:
    seen = seen_by(
        "import glob, os\nfrom pathlib import Path\n"
        "os.path.exists('p'); Path('q').is_file(); os.listdir('.'); glob.glob('*.npy')\n"
        "try: import adze_no_such_module\nexcept ImportError: pass\n"
    )
    assert {Path(path).name for path in seen.probes} >= {"p", "q"}
    assert str(tmp_path) in seen.listings
    assert "adze_no_such_module" in seen.modules


def test_what_cannot_be_followed_is_a_reason(seen_by: Callable[[str], Seen], tmp_path: Path) -> None:
    code = "import subprocess, sys\nsubprocess.run([sys.executable, '-S', '-c', ''])\n"
    (reason,) = seen_by(code).reasons
    assert reason == f"it started a process ({tmp_path / 'recorded_by_a_test.py'}:2)"
    (reason,) = seen_by("import sqlite3\nsqlite3.connect(':memory:').close()\n").reasons
    assert reason.startswith("it opened a data base")


def test_a_module_is_its_text_and_not_a_stale_bytecode_file(
    seen_by: Callable[[str], Seen], tmp_path: Path
) -> None:
    """Python takes cached bytecode for that of a file with the same size and whole second."""
    helper = tmp_path / "helper_with_bytecode.py"
    helper.write_text("VALUE = 1\n")
    os.utime(helper, (1_700_000_000, 1_700_000_000))
    py_compile.compile(str(helper))
    helper.write_text("VALUE = 2\n")
    os.utime(helper, (1_700_000_000, 1_700_000_000))
    try:
        seen = seen_by("import helper_with_bytecode\nassert helper_with_bytecode.VALUE == 2\n")
    finally:
        sys.modules.pop("helper_with_bytecode", None)
    assert str(helper) in seen.sources
