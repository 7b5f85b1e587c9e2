"""Signed bundles: built by `opa build`, accepted only when OPA itself verifies them.

The algorithm follows from the key: RS256 for RSA, ES256, ES384 or ES512 for the curve.
OPA can sign with Ed25519 but its server is not configured with such a key, so it is refused.
"""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    load_pem_private_key,
    load_pem_public_key,
)

from planner import faults
from planner.errors import InputError, PolicyUnavailable
from planner.files import write_whole
from planner.policy.bundle import (
    MAXIMUM_BYTES,
    Bundle,
    VerificationKey,
    read_archive,
    read_bundle,
    signed_as,
)
from planner.policy.opa import find_opa, run_opa

DEFAULT_KEY_ID = "llm-capacity"
"""What a key is called where nobody says."""

MINIMUM_RSA_BITS = 2048
"""NIST SP 800-131A Rev. 2: shorter keys are no longer for signing."""

_CURVES = {"secp256r1": "ES256", "secp384r1": "ES384", "secp521r1": "ES512"}
_KINDS = "RSA of 2048 bits or more, or EC on P-256, P-384 or P-521"
_ARCHIVE = "bundle.tar.gz"


@dataclass(frozen=True)
class BuiltBundle:
    """What was built: where, what is in it, and who can verify it."""

    path: Path
    revision: str
    sha256: str
    rules: int
    key_id: str | None
    algorithm: str | None

    def __str__(self) -> str:
        """Return it for a reader, one fact to a line."""
        signed = f"{self.algorithm}, key id {self.key_id}" if self.key_id else "no"
        return (
            f"{self.path}\n  revision {self.revision}\n  file     sha256:{self.sha256}\n"
            f"  rules    {self.rules}\n  signed   {signed}"
        )


def build_bundle(
    policies: Path | None,
    out: Path,
    signing_key: Path | None = None,
    key_id: str = DEFAULT_KEY_ID,
    opa: str | None = None,
) -> BuiltBundle:
    """Build the rules and data of ``policies`` into the archive ``out``.

    The same rules and data give the same bytes, unsigned or signed with RSA; an EC
    signature varies and nothing else does. ``out`` is replaced as a whole, at the end.

    Raises InputError for a key or a path that cannot be used, and PolicyUnavailable for
    policies that do not pass their check or without OPA.
    """
    if not key_id:
        raise _bad("--key-id", "a key needs a name", "Write --key-id llm-capacity")
    algorithm = None if signing_key is None else _signing_algorithm(signing_key)
    opa = find_opa(opa)
    bundle = read_bundle(policies)
    with tempfile.TemporaryDirectory(prefix="llm-capacity-bundle-") as name:
        tree, built = Path(name, "tree"), Path(name, _ARCHIVE)
        tree.mkdir()
        bundle.write_to(tree)
        check = ["check", "--strict", "--bundle", ".", "--capabilities"]
        _must(opa, [*check, str(bundle.capabilities.resolve())], tree, "the policies do not pass")
        build = ["build", "--bundle", ".", "--revision", bundle.digest, "--output", str(built)]
        if signing_key is not None and algorithm is not None:
            build += ["--signing-key", str(signing_key.resolve()), "--signing-alg", algorithm]
            # OPA takes the id that goes into the signature from this flag.
            build += ["--verification-key-id", key_id]
        _must(opa, build, tree, "the bundle cannot be built")
        archive = built.read_bytes()
    _same(bundle, read_archive(archive, _ARCHIVE))
    try:
        write_whole(out, archive)
    except OSError as error:
        what = f"{out} cannot be written: {error.strerror}"
        raise _bad("--out", what, "Name a file in a folder that you may write") from None
    return BuiltBundle(
        path=out,
        revision=bundle.digest,
        sha256=hashlib.sha256(archive).hexdigest(),
        rules=len(bundle.stages),
        key_id=key_id if algorithm else None,
        algorithm=algorithm,
    )


def load_bundle(
    path: Path | None,
    verification_key: Path | None = None,
    key_id: str = DEFAULT_KEY_ID,
    opa: str | None = None,
) -> Bundle:
    """Return the bundle in the archive ``path``, under ``verification_key`` if there is one.

    The file is read once: the bytes that OPA verifies are those that are digested and
    served. Raises PolicyUnavailable for whatever is wrong with the file, key or signature.
    """
    if path is None:
        what = "it is set but policy.bundle is not: there is nothing to verify"
        fix = "Set policy.bundle to a signed bundle, or remove the key."
        raise PolicyUnavailable(faults.BAD_SIGNATURE.at("policy.verification_key", what, fix))
    key = None if verification_key is None else read_key(verification_key, key_id)
    archive = _read(path, "policy.bundle")
    if key is not None:
        _verify(archive, key, path, find_opa(opa))
    signer = signed_as(archive, str(path))
    if key is None and signer is not None:
        what = (
            f"it is signed (key id {signer}) but policy.verification_key is not set: a "
            "signature that nobody verifies proves nothing"
        )
        fix = "Set policy.verification_key to the public key."
        raise PolicyUnavailable(faults.BAD_SIGNATURE.at(str(path), what, fix))
    if key is not None and signer != key.id:
        what = f"it is signed as {signer!r} but policy.verification_key_id is {key.id!r}"
        fix = "Name the key that signed it, or sign again with `llm-capacity bundle --key-id`."
        raise PolicyUnavailable(faults.BAD_SIGNATURE.at(str(path), what, fix))
    return replace(read_archive(archive, str(path)), key=key)


def read_key(path: Path, key_id: str) -> VerificationKey:
    """Return the public key in the PEM file ``path``; PolicyUnavailable for any other."""
    pem = _read(path, "policy.verification_key")
    try:
        algorithm = _algorithm(load_pem_public_key(pem))
    except (ValueError, UnsupportedAlgorithm):
        algorithm = None
    if algorithm is None or not key_id:
        what = "a private key" if b"PRIVATE KEY-----" in pem else "no usable public key"
        told = f"{path} holds {what}, or policy.verification_key_id is empty"
        fix = f"Give the public half of the key as PEM: {_KINDS}."
        raise PolicyUnavailable(
            faults.BAD_VERIFICATION_KEY.at("policy.verification_key", told, fix)
        )
    return VerificationKey(key_id, pem.decode(), algorithm)


def _verify(archive: bytes, key: VerificationKey, path: Path, opa: str) -> None:
    """Have OPA verify the archive, before anything in it is read."""
    with tempfile.TemporaryDirectory(prefix="llm-capacity-verify-") as name:
        folder = Path(name)
        (folder / _ARCHIVE).write_bytes(archive)
        (folder / "key.pem").write_text(key.pem, encoding="utf-8")
        verify = ["build", "--bundle", _ARCHIVE, "--output", "discarded.tar.gz"]
        verify += ["--verification-key", "key.pem", "--verification-key-id", key.id]
        said = run_opa(opa, [*verify, "--signing-alg", key.algorithm], folder)
    if said is not None:
        what = (
            f"OPA does not accept it under policy.verification_key ({key.algorithm}, key id "
            f"{key.id}): {said}"
        )
        fix = (
            "Use the bundle as it was signed and the key that belongs to it, "
            "or sign again with `llm-capacity bundle --key`."
        )
        raise PolicyUnavailable(faults.BAD_SIGNATURE.at(str(path), what, fix))


def _signing_algorithm(path: Path) -> str:
    where = "--key"
    try:
        algorithm = _algorithm(load_pem_private_key(path.read_bytes(), None).public_key())
    except OSError as error:
        raise _bad(where, f"{path} cannot be read: {error.strerror}", "Check the path") from None
    except TypeError:
        fix = "Decrypt it for the time of signing"
        raise _bad(where, f"{path} has a passphrase, which OPA cannot ask for", fix) from None
    except (ValueError, UnsupportedAlgorithm):
        algorithm = None
    if algorithm is None:
        raise _bad(where, f"{path} holds no private key to sign with", f"Give PEM: {_KINDS}")
    return algorithm


def _algorithm(key: object) -> str | None:
    """Return the one algorithm for a public key, None for a kind that is not used here."""
    if isinstance(key, rsa.RSAPublicKey):
        return "RS256" if key.key_size >= MINIMUM_RSA_BITS else None
    if isinstance(key, ec.EllipticCurvePublicKey):
        return _CURVES.get(key.curve.name)
    return None


def _must(opa: str, arguments: list[str], folder: Path, what: str) -> None:
    said = run_opa(opa, arguments, folder)
    if said is not None:
        raise PolicyUnavailable(faults.POLICIES_FAIL_CHECK.at(f"{what} `opa {arguments[0]}`", said))


def _same(read: Bundle, built: Bundle) -> None:
    if built.digest != read.digest or built.stages != read.stages:
        what = f"it changed the policies: {read.digest} became {built.digest}"
        fix = "Build with the OPA that `make setup` builds."
        raise PolicyUnavailable(faults.DAMAGED_POLICIES.at("`opa build`", what, fix))


def _read(path: Path, setting: str) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(MAXIMUM_BYTES + 1)
    except OSError as error:
        what = f"{path} cannot be read ({error.strerror})"
        raise PolicyUnavailable(faults.POLICY_FILE.at(setting, what, "Check the path.")) from error
    if len(content) > MAXIMUM_BYTES:
        what = f"{path} is larger than {MAXIMUM_BYTES} bytes"
        raise PolicyUnavailable(faults.POLICY_FILE.at(setting, what))
    return content


def _bad(where: str, what: str, fix: str) -> InputError:
    return InputError([faults.BAD_BUNDLE_OPTION.at(where, what, f"{fix}.")])
