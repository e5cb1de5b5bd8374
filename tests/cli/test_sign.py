"""`adze keygen`, `sign` and `verify --key`, and running with a key: what was changed is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from adze.runtime.artifact import artifact

from .conftest import Adze

INPUTS = ("--in", "[[1, 2, 3]]", "--in", "[1, 2, 3]")


@pytest.fixture
def folder(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the program, as `f.vmfb`."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(program, "f.vmfb")
    yield tmp_path


def test_a_program_is_signed_and_verified(adze: Adze, folder: Path) -> None:
    made = adze("keygen", "release")
    assert made.exit_code == 0, made.stderr
    private = folder / "release.private.pem"
    assert private.stat().st_mode & 0o777 == 0o600
    assert adze("keygen", "release").exit_code == 2
    Path("f.vmfb").chmod(0o640)
    signed = adze("sign", "f.vmfb", "--key", private)
    assert signed.exit_code == 0, signed.stderr
    assert Path("f.vmfb").stat().st_mode & 0o777 == 0o640
    fingerprint = signed.stderr.split()[-1]
    assert fingerprint in made.stderr
    assert fingerprint in adze("inspect", "f.vmfb").stdout
    verified = adze("verify", "f.vmfb", "--key", "release.public.pem")
    assert verified.stdout == f"f.vmfb: whole, signed with key {fingerprint}, which is right\n"
    unchecked = adze("verify", "f.vmfb", "--no-numbers").stdout
    assert unchecked == f"f.vmfb: whole, signed with key {fingerprint}, which was not checked\n"
    report = json.loads(adze("verify", "f.vmfb", "--key", "release.public.pem", "--json").stdout)
    assert (report["signature"], report["signed_by"], report["holds"]) == ("right", fingerprint, True)
    ran = adze("run", "f.vmfb", *INPUTS, "--key", "release.public.pem")
    assert ran.exit_code == 0 and "[2. 4. 6.]" in ran.stdout
    again = adze("sign", "f.vmfb", "--key", private, "-o", "again.vmfb", "--json")
    assert json.loads(again.stdout) == {"file": "again.vmfb", "fingerprint": fingerprint}
    assert Path("again.vmfb").read_bytes() == Path("f.vmfb").read_bytes()


def test_what_was_changed_is_refused(adze: Adze, folder: Path) -> None:
    adze("keygen", "ours")
    adze("keygen", "theirs")
    adze("sign", "f.vmfb", "--key", "ours.private.pem")
    contents = artifact.read("f.vmfb")
    manifest = replace(contents.manifest, flags=("--changed",))
    artifact.save("changed.vmfb", replace(contents, manifest=manifest))
    for command in (("run", "changed.vmfb", *INPUTS), ("verify", "changed.vmfb")):
        refused = adze(*command, "--key", "ours.public.pem")
        assert refused.exit_code == 1
        assert "is wrong: the file was changed after it was signed" in refused.stderr
    assert adze("run", "changed.vmfb", *INPUTS).exit_code == 0  # without a key nobody can tell
    other = adze("run", "f.vmfb", *INPUTS, "--key", "theirs.public.pem")
    assert other.exit_code == 1 and "it is signed with key" in other.stderr
    artifact.save("unsigned.vmfb", replace(contents, signature=None))
    refused = adze("verify", "unsigned.vmfb", "--key", "ours.public.pem")
    assert refused.exit_code == 1 and "it is not signed" in refused.stderr


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        (
            ("sign", "f.vmfb", "--key", "k.public.pem"),
            1,
            "holds a public key: files are signed",
        ),
        (
            ("verify", "f.vmfb", "--key", "k.private.pem"),
            1,
            "holds a private key: signatures are",
        ),
        (("sign", "f.vmfb", "--key", "none.pem"), 2, "--key: there is no file 'none.pem'"),
        (("sign", "f.vmfb", "--key", "f.vmfb"), 1, "f.vmfb holds no private key in PEM format"),
        (("sign", "none.vmfb", "--key", "k.private.pem"), 2, "there is no file 'none.vmfb'"),
        (("sign", "k.public.pem", "--key", "k.private.pem"), 1, "not a program built by adze"),
        (
            ("sign", "f.vmfb", "--key", "k.private.pem", "-o", "k.private.pem"),
            2,
            "'k.private.pem' is read by this command, and would be overwritten",
        ),
        (("sign", "f.vmfb", "--key", "k.private.pem", "-o", "no/f.vmfb"), 2, "there is no folder 'no'"),
        (
            ("sign", "f.vmfb", "--key", "k.private.pem", "--passphrase-file", "k.public.pem"),
            1,
            "that is not encrypted, and a passphrase was given",
        ),
        (("keygen", "k"), 2, "'k.private.pem' exists, and keys are never overwritten"),
        (("keygen", "no/k"), 2, "there is no folder 'no'"),
        (("keygen", ""), 2, "'' is no name of a file"),
        (
            ("verify", "f.vmfb", "--no-numbers", "--in", "3"),
            2,
            "--in, --size, --max-error and --device",
        ),
    ],
)
def test_mistakes_are_told(
    adze: Adze, folder: Path, command: tuple[str, ...], code: int, message: str
) -> None:
    adze("keygen", "k")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    result = adze(*command)
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_that_a_file_is_whole_needs_no_key_and_no_ir(adze: Adze, folder: Path) -> None:
    done = adze("verify", "f.vmfb", "--no-numbers")
    assert (done.exit_code, done.stdout) == (0, "f.vmfb: whole, signature none\n")
    content = bytearray(Path("f.vmfb").read_bytes())
    content[99] ^= 4
    Path("f.vmfb").write_bytes(content)
    assert "do not match its checksum" in adze("verify", "f.vmfb", "--no-numbers").stderr
