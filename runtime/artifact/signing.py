"""Signatures of program files: who wrote a file, by a key that only he has.

Input: an Ed25519 key in a PEM file, and the bytes that a file's writer vouches for. Output: a `Signature`,
the small JSON text that a file carries, or a `SignatureError` for one that is missing or of another writer.
The cryptography is that of the package `cryptography` (extra `sign`), imported by whoever has a key.

A checksum notices damage, and whoever changes a file can compute it again; a signature he cannot.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
from pathlib import Path
from typing import Any, Final

from ...dialects.dataclass import dataclass
from ..errors import KeyFileError, SignatureError

ALGORITHM: Final = "ed25519"
_KEY_BYTES: Final = 32
_SIGNATURE_BYTES: Final = 64
_CONTEXT: Final = b"adze artifact signature 1\0"  # so that no other text signed by the key is one of ours


@dataclass(frozen=True, slots=True)
class PublicKey:
    """What signatures are verified by."""

    raw: bytes

    @property
    def fingerprint(self) -> str:
        """A short name of the key: the first 16 hex digits of its SHA-256."""
        return hashlib.sha256(self.raw).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class PrivateKey:
    """What files are signed with: kept secret by who signs."""

    raw: bytes

    @property
    def public(self) -> PublicKey:
        """The key that verifies what this one signs."""
        ed25519 = _ed25519()
        return PublicKey(
            ed25519.Ed25519PrivateKey.from_private_bytes(self.raw).public_key().public_bytes_raw()
        )

    def __repr__(self) -> str:
        return "PrivateKey(...)"  # never in a log


@dataclass(frozen=True, slots=True)
class Signature:
    """What a file carries: the signature and the public key of who made it."""

    public_key: PublicKey
    signature: bytes

    def to_bytes(self) -> bytes:
        """Canonical JSON text."""
        fields = {
            "algorithm": ALGORITHM,
            "public_key": _text(self.public_key.raw),
            "signature": _text(self.signature),
        }
        return json.dumps(fields, separators=(",", ":")).encode()


def signature_from_bytes(content: bytes) -> Signature:
    """The signature that `to_bytes` wrote; a SignatureError for anything else."""
    try:
        fields = json.loads(content)
        is_known = isinstance(fields, dict) and fields.keys() == {"algorithm", "public_key", "signature"}
        if not is_known or fields["algorithm"] != ALGORITHM:
            raise ValueError
        key, signature = _bytes(fields["public_key"]), _bytes(fields["signature"])
        if (len(key), len(signature)) != (_KEY_BYTES, _SIGNATURE_BYTES):
            raise ValueError
    except (ValueError, TypeError, RecursionError, binascii.Error):
        raise SignatureError(
            f"its signature cannot be read: it is none of {ALGORITHM} as adze writes them"
        ) from None
    return Signature(PublicKey(key), signature)


def sign(message: bytes, key: PrivateKey) -> Signature:
    """The signature of `message` by `key`."""
    private = _ed25519().Ed25519PrivateKey.from_private_bytes(key.raw)
    return Signature(key.public, private.sign(_CONTEXT + message))


def verify(message: bytes, signature: Signature | None, key: PublicKey) -> None:
    """Raise the SignatureError unless `signature` is that of `message` by the private key of `key`."""
    if signature is None:
        raise SignatureError(
            f"it is not signed, and key {key.fingerprint} was given to verify its signature",
            hint="sign it: adze sign FILE.vmfb --key PRIVATE.pem",
        )
    if signature.public_key != key:
        raise SignatureError(
            f"it is signed with key {signature.public_key.fingerprint}, expected key {key.fingerprint}",
            hint="give the public key of who signed it, if you trust that one",
        )
    from cryptography.exceptions import InvalidSignature

    try:
        _ed25519().Ed25519PublicKey.from_public_bytes(key.raw).verify(signature.signature, _CONTEXT + message)
    except InvalidSignature:
        raise SignatureError(
            f"its signature by key {key.fingerprint} is wrong: the file was changed after it was signed",
            hint="get it again from who signed it",
        ) from None


def public_key(source: str | os.PathLike[str] | bytes | PublicKey) -> PublicKey:
    """The public key in a PEM file, or in PEM text as bytes; a KeyFileError for what is none of Ed25519."""
    if isinstance(source, PublicKey):
        return source
    content, name = _pem(source)
    serialization = _serialization()
    if b"PRIVATE KEY" in content:
        raise KeyFileError(
            f"{name} holds a private key: signatures are verified by the public one",
            hint="openssl pkey -in PRIVATE.pem -pubout -out PUBLIC.pem",
        )
    key = _loaded(lambda: serialization.load_pem_public_key(content), name, "public key")
    if not isinstance(key, _ed25519().Ed25519PublicKey):
        raise _other_kind(name, key)
    return PublicKey(key.public_bytes_raw())


def private_key(source: str | os.PathLike[str] | bytes, passphrase: bytes | None = None) -> PrivateKey:
    """The private key in a PEM file, or in PEM text as bytes; `passphrase` is that of an encrypted one."""
    content, name = _pem(source)
    serialization = _serialization()
    if b"PUBLIC KEY" in content:
        raise KeyFileError(f"{name} holds a public key: files are signed with the private one")
    is_encrypted = b"ENCRYPTED" in content
    if is_encrypted and passphrase is None:
        raise KeyFileError(
            f"{name} holds an encrypted private key, and no passphrase was given",
            hint="adze sign --passphrase-file FILE",
        )
    if not is_encrypted and passphrase is not None:
        raise KeyFileError(f"{name} holds a private key that is not encrypted, and a passphrase was given")
    key = _loaded(lambda: serialization.load_pem_private_key(content, passphrase), name, "private key")
    if not isinstance(key, _ed25519().Ed25519PrivateKey):
        raise _other_kind(name, key)
    return PrivateKey(key.private_bytes_raw())


def new_key_pair() -> tuple[bytes, bytes]:
    """A new private key and its public key, each as PEM text (PKCS 8 and SubjectPublicKeyInfo)."""
    serialization = _serialization()
    key = _ed25519().Ed25519PrivateKey.generate()
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    public = key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private, public


def _pem(source: str | os.PathLike[str] | bytes) -> tuple[bytes, str]:
    """The text of a key, and what to call it."""
    if isinstance(source, bytes):
        return source, "the key"
    try:
        path = Path(source)
    except TypeError:
        raise KeyFileError(
            f"the key is {type(source).__name__}, expected the path of a PEM file or its text as bytes"
        ) from None
    try:
        if path.exists() and not path.is_file():  # a FIFO would be waited on for ever
            raise KeyFileError(f"{path}: no ordinary file, expected a key in PEM format")
        return path.read_bytes(), str(path)
    except (OSError, ValueError) as error:
        if isinstance(error, KeyFileError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise KeyFileError(f"{path}: the key cannot be read: {reason}") from None


def _loaded(load: Any, name: str, kind: str) -> Any:
    try:
        return load()
    except Exception as error:  # of many classes, some of them of the native code
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise KeyFileError(
            f"{name} holds no {kind} in PEM format: {first[:100]}",
            hint="adze keygen NAME makes a pair, and so does openssl genpkey -algorithm ed25519",
        ) from None


def _other_kind(name: str, key: Any) -> KeyFileError:
    kind = type(key).__name__.lstrip("_").removesuffix("PublicKey").removesuffix("PrivateKey")
    return KeyFileError(
        f"{name} holds a key of another kind, {kind}: expected {ALGORITHM}",
        hint="adze keygen NAME makes a pair, and so does openssl genpkey -algorithm ed25519",
    )


def _ed25519() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ModuleNotFoundError:
        raise _missing() from None
    return ed25519


def _serialization() -> Any:
    try:
        from cryptography.hazmat.primitives import serialization
    except ModuleNotFoundError:
        raise _missing() from None
    return serialization


def _missing() -> KeyFileError:
    return KeyFileError(
        "signatures need the package cryptography, which is not installed",
        hint="pip install cryptography (it is the extra 'sign' of adze-compiler and of adze-runtime)",
    )


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
