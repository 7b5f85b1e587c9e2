"""Signatures on waiver files: DSSE envelopes, ed25519 only.

The payload names the file by its sha256, the waiver and the time of signing, so that a
signature fits one content and says when it was given.
"""

from __future__ import annotations

import binascii
import json
from typing import Annotated, Any, Literal

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key
from pydantic import Field, ValidationError
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import CryptoSigner, SSlibKey  # type: ignore[attr-defined]

from planner.base import Frozen
from planner.canonical import canonical
from planner.policy.moments import ExactMoment

PAYLOAD_TYPE = "application/vnd.llm-capacity.waiver-approval+json"

MAX_SIGNATURES = 16


Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class SignedApproval(Frozen):
    """The payload: which content of which waiver was approved, and when."""

    sha256: Sha256
    waiver: str
    signed_at: ExactMoment


class _Signature(Frozen):
    keyid: str
    sig: str


class _EnvelopeFile(Frozen):
    payload: str
    payloadType: Literal["application/vnd.llm-capacity.waiver-approval+json"]  # noqa: N815
    signatures: Annotated[list[_Signature], Field(min_length=1, max_length=MAX_SIGNATURES)]


def public_key(pem: str) -> SSlibKey:
    """Return the ed25519 key in ``pem``; ValueError when it holds another or none."""
    try:
        key = load_pem_public_key(pem.encode())
    except (ValueError, UnsupportedAlgorithm):
        raise ValueError("it is not a public key in PEM") from None
    if not isinstance(key, Ed25519PublicKey):
        raise ValueError("it is not an ed25519 key")
    return SSlibKey.from_crypto(key)


def private_key(pem: bytes) -> CryptoSigner:
    """Return a signer for the ed25519 key in ``pem``; ValueError says what is wrong."""
    try:
        key = load_pem_private_key(pem, password=None)
    except TypeError:
        raise ValueError("the key is encrypted") from None
    except (ValueError, UnsupportedAlgorithm):
        raise ValueError("it is not a private key in PEM") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError("it is not an ed25519 key")
    return CryptoSigner(key)


def sign(approval: SignedApproval, signer: CryptoSigner) -> str:
    """Return the envelope of an approval as the text of its file."""
    envelope = Envelope(canonical(approval.model_dump(mode="json")).encode(), PAYLOAD_TYPE, {})
    envelope.sign(signer)
    return json.dumps(envelope.to_dict(), indent=2, sort_keys=True) + "\n"


def verify(envelope: bytes, key: SSlibKey) -> SignedApproval:
    """Return what ``key`` signed; ValueError says why the envelope proves nothing."""
    try:
        shape = _EnvelopeFile.model_validate(strict_json(envelope))
        signed = Envelope.from_dict(shape.model_dump())
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ValueError(f"the envelope is malformed ({where}: {first['msg']})") from None
    except (ValueError, binascii.Error) as error:
        raise ValueError(f"the envelope is malformed ({error})") from None
    try:
        signed.verify([key], 1)
    except (VerificationError, ValueError):
        raise ValueError("no signature in it is by the approver's key") from None
    try:
        return SignedApproval.model_validate(strict_json(signed.payload))
    except ValueError:
        raise ValueError("what was signed is no approval of a waiver") from None


def strict_json(content: bytes) -> Any:
    """Return JSON without repeated keys; ValueError for anything else."""
    try:
        return json.loads(content.decode(), object_pairs_hook=_once)
    except RecursionError:
        raise ValueError("nested too deep") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is given twice")
    return found
