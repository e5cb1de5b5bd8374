"""Signed programs: loaded with the key of who signed them, and refused before native code with any other."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze
from adze.runtime.artifact import artifact
from adze.runtime.artifact.manifest import Manifest
from adze.runtime.artifact.signing import (
    PrivateKey,
    Signature,
    new_key_pair,
    private_key,
    public_key,
    signature_from_bytes,
)
from adze.runtime.compile.compiler import CompiledModule
from adze.runtime.errors import KeyFileError, SignatureError

ONES = np.ones(4, np.float32)


@pytest.fixture(scope="module")
def keys() -> tuple[bytes, bytes]:
    return new_key_pair()


@pytest.fixture(scope="module")
def other() -> PrivateKey:
    return private_key(new_key_pair()[0])


@pytest.fixture(scope="module")
def contents(portable: CompiledModule, manifest: Manifest, keys: tuple[bytes, bytes]) -> artifact.Contents:
    return artifact.Contents(portable.vmfb, manifest, b"IR").signed(private_key(keys[0]))


@pytest.fixture
def signed(tmp_path: Path, contents: artifact.Contents) -> Path:
    return artifact.save(tmp_path / "program.vmfb", contents)


def test_a_signed_program_runs_with_its_key_and_without(signed: Path, keys: tuple[bytes, bytes]) -> None:
    pem = signed.with_name("public.pem")
    pem.write_bytes(keys[1])
    for key in (pem, str(pem), keys[1]):
        assert np.array_equal(adze.load(signed, key=key)(ONES, ONES), ONES * 2)
    assert np.array_equal(adze.load(signed)(ONES, ONES), ONES * 2)
    signature = artifact.inspect(signed, public_key(pem)).signature
    assert signature is not None and signature.public_key == public_key(keys[1])


def refused(path: Path, key: bytes, monkeypatch: pytest.MonkeyPatch) -> str:
    """What `adze.load` says, which gives IREE nothing."""

    def executable(*arguments: Any) -> None:
        raise AssertionError("native code was reached")

    monkeypatch.setattr(artifact, "Executable", executable)
    with pytest.raises(SignatureError) as caught:
        adze.load(path, key=key)
    assert caught.value.message.startswith(f"{path}: ")
    return caught.value.message.removeprefix(f"{path}: ")


@pytest.mark.parametrize(
    "change",
    [
        lambda c, o: replace(c, module=c.module[:-1] + bytes([c.module[-1] ^ 1])),
        lambda c, o: replace(c, manifest=replace(c.manifest, architecture="other")),
        lambda c, o: replace(c, ir=b"other IR"),
        lambda c, o: replace(c, parts={"new": b""}),
        lambda c, o: replace(c, signature=Signature(c.signature.public_key, o.signed_by)),
        lambda c, o: replace(c, signature=Signature(c.signature.public_key, bytes(64))),
    ],
)
def test_a_changed_program_under_a_right_checksum_is_refused(
    change: Callable[..., artifact.Contents],
    contents: artifact.Contents,
    keys: tuple[bytes, bytes],
    other: PrivateKey,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Other:
        signed_by = contents.signed(other).signature.signature  # type: ignore[union-attr]

    path = artifact.save(tmp_path / "changed.vmfb", change(contents, Other))
    name = public_key(keys[1]).fingerprint
    assert refused(path, keys[1], monkeypatch) == (
        f"its signature by key {name} is wrong: the file was changed after it was signed"
    )


def test_signatures_of_others_and_none_are_refused(
    contents: artifact.Contents,
    keys: tuple[bytes, bytes],
    other: PrivateKey,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = public_key(keys[1]).fingerprint
    by_other = artifact.save(tmp_path / "other.vmfb", contents.signed(other))
    assert refused(by_other, keys[1], monkeypatch) == (
        f"it is signed with key {other.public.fingerprint}, expected key {name}"
    )
    unsigned = artifact.save(tmp_path / "unsigned.vmfb", replace(contents, signature=None))
    assert refused(unsigned, keys[1], monkeypatch).startswith("it is not signed, and key")
    kept = Path(__file__).parents[2] / "frontend" / "staging" / "kept_by_0_1_0.bin"
    assert refused(kept, keys[1], monkeypatch).startswith("it is not signed, and key")


@pytest.mark.parametrize("text", [b"", b"{}", b"[]", b'{"algorithm":"rsa"}', b"\xff", b"[" * 100_000])
def test_what_is_no_signature_is_an_error(text: bytes, contents: artifact.Contents) -> None:
    with pytest.raises(SignatureError, match="its signature cannot be read"):
        signature_from_bytes(text)
    assert contents.signature is not None
    whole = contents.signature.to_bytes()
    assert signature_from_bytes(whole) == contents.signature
    for wrong in (whole.replace(b'"public_key":"', b'"public_key":"AAAA'), whole.replace(b"=", b"*")):
        with pytest.raises(SignatureError):
            signature_from_bytes(wrong)


def test_the_secret_is_in_no_text(keys: tuple[bytes, bytes]) -> None:
    assert repr(private_key(keys[0])) == "PrivateKey(...)"


@pytest.mark.parametrize(
    ("read", "content", "message"),
    [
        (public_key, b"", "holds no public key in PEM format"),
        (public_key, b"no key\n" * 9, "holds no public key in PEM format"),
        (public_key, 0, "holds a private key: signatures are verified by the public one"),
        (private_key, 1, "holds a public key: files are signed with the private one"),
        (private_key, b"\x00\xff", "holds no private key in PEM format"),
    ],
)
def test_wrong_keys_are_errors(
    read: Callable[..., Any], content: bytes | int, message: str, keys: tuple[bytes, bytes], tmp_path: Path
) -> None:
    path = tmp_path / "key.pem"
    path.write_bytes(keys[content] if isinstance(content, int) else content)
    with pytest.raises(KeyFileError, match=message):
        read(path)
    with pytest.raises(KeyFileError, match="No such file"):
        read(tmp_path / "none.pem")
    with pytest.raises(KeyFileError, match="the key is int"):
        read(3)


def test_keys_of_other_kinds_and_encrypted_ones(tmp_path: Path) -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519

    def pem(key: Any, encryption: Any) -> bytes:
        form = serialization.PrivateFormat.PKCS8
        return bytes(key.private_bytes(serialization.Encoding.PEM, form, encryption))

    plain = serialization.NoEncryption()
    with pytest.raises(KeyFileError, match="a key of another kind, "):
        private_key(pem(ec.generate_private_key(ec.SECP256R1()), plain))
    key = ed25519.Ed25519PrivateKey.generate()
    locked = pem(key, serialization.BestAvailableEncryption(b"secret"))
    with pytest.raises(KeyFileError, match="an encrypted private key, and no passphrase"):
        private_key(locked)
    with pytest.raises(KeyFileError, match="holds no private key"):
        private_key(locked, b"wrong")
    assert private_key(locked, b"secret") == private_key(pem(key, plain))
    with pytest.raises(KeyFileError, match="that is not encrypted, and a passphrase was given"):
        private_key(pem(key, plain), b"secret")


def test_keys_of_openssl_are_taken(tmp_path: Path) -> None:
    tool = shutil.which("openssl")
    if tool is None:
        pytest.skip("no openssl on this machine")
    private, public = tmp_path / "private.pem", tmp_path / "public.pem"
    subprocess.run([tool, "genpkey", "-algorithm", "ed25519", "-out", private], check=True, timeout=60)
    subprocess.run([tool, "pkey", "-in", private, "-pubout", "-out", public], check=True, timeout=60)
    assert private_key(private).public == public_key(public)
