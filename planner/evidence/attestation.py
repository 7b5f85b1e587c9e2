"""Signed statements about a run: in-toto Statement v1 in a DSSE envelope, ed25519.

The subjects are the plan (its evidence digest) and the record (sha256 of its line without
the end of line); the predicate is the record itself.
"""

from __future__ import annotations

import binascii
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner import faults
from planner.canonical import canonical
from planner.errors import InputError, PlanDiffers, reason_of
from planner.policy.chain import Appended

if TYPE_CHECKING:
    from securesystemslib.signer import CryptoSigner  # type: ignore[attr-defined]

KEY_VARIABLE = "LLM_CAPACITY_RECORD_KEY"
"""Environment variable with the path of the private key (PEM, ed25519) that signs records."""

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:llm-capacity:policy-record:2"
SUFFIX = ".intoto.json"

# securesystemslib takes long to import, and a run without a key needs none of it.


def record_signer(environment: Mapping[str, str]) -> CryptoSigner | None:
    """Return what signs the records of this run, None where no key is configured.

    Raises InputError for a key that cannot be used, an empty path included: a run that
    was to be signed must not end unsigned.
    """
    path = environment.get(KEY_VARIABLE)
    if path is None:
        return None
    from planner.policy.signatures import private_key

    try:
        return private_key(Path(path).read_bytes())
    except (OSError, ValueError) as error:
        what = f"the key cannot be used: {reason_of(error)}"
        fix = "Give the path of an ed25519 key in PEM without a passphrase, or unset the variable."
        raise InputError([faults.BAD_RECORD_KEY.at(KEY_VARIABLE, what, fix)]) from None


def attest(appended: Appended, signer: CryptoSigner) -> str:
    """Return the envelope of the statement about a record, as the text of its file."""
    from google.protobuf import json_format
    from in_toto_attestation.v1.resource_descriptor import ResourceDescriptor
    from in_toto_attestation.v1.statement import Statement
    from securesystemslib.dsse import Envelope

    subjects = [
        ResourceDescriptor(name=name, digest={"sha256": digest}).pb
        for name, digest in _subjects(appended.record, appended.line).items()
    ]
    statement = Statement(subjects, PREDICATE_TYPE, appended.record)
    statement.validate()
    payload = canonical(json_format.MessageToDict(statement.pb)).encode()
    envelope = Envelope(payload, PAYLOAD_TYPE, {})
    envelope.sign(signer)
    return json.dumps(envelope.to_dict(), indent=2, sort_keys=True) + "\n"


def verify_attestation(envelope: bytes | str, public_key: Path) -> dict[str, Any]:
    """Return the statement that the holder of ``public_key``'s other half signed.

    Raises InputError for a key that cannot be read and PlanDiffers for an envelope that
    is malformed, signed by another, or no statement about a record.
    """
    from securesystemslib.dsse import Envelope
    from securesystemslib.exceptions import FormatError, VerificationError

    from planner.policy.signatures import public_key as read_key
    from planner.policy.signatures import strict_json

    try:
        key = read_key(public_key.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        fix = "Give the public half of the record key, ed25519 in PEM."
        what = f"the key cannot be used: {reason_of(error)}"
        raise InputError([faults.BAD_RECORD_KEY.at(str(public_key), what, fix)]) from None
    try:
        content = strict_json(envelope.encode() if isinstance(envelope, str) else envelope)
        signed = Envelope.from_dict(content)
        if not isinstance(signed.payload_type, str):
            raise ValueError("its type is no text")
    except (KeyError, TypeError, AttributeError, ValueError, binascii.Error, FormatError) as error:
        raise _invalid(f"the attestation is malformed ({error!r})") from None
    try:
        signed.verify([key], 1)
    except (VerificationError, ValueError):
        raise _invalid("no signature of the attestation is by that key") from None
    if signed.payload_type != PAYLOAD_TYPE:
        raise _invalid(f"the attestation is of type {signed.payload_type!r}")
    try:
        statement = strict_json(signed.payload)
    except ValueError as error:
        raise _invalid(f"what was signed is not JSON ({error})") from None
    if not isinstance(statement, dict):
        raise _invalid("what was signed is no statement")
    kind = (statement.get("_type"), statement.get("predicateType"))
    if kind != (STATEMENT_TYPE, PREDICATE_TYPE):
        raise _invalid(f"what was signed is no statement about a record: {kind}")
    return statement


def _invalid(what: str) -> PlanDiffers:
    return PlanDiffers(faults.BAD_ATTESTATION.at("attestation", what))


def attested(statement: Mapping[str, Any], record: Mapping[str, Any], line: str) -> str | None:
    """Return why a verified statement is not about this record, None when it is."""
    rows = statement.get("subject") or []
    subjects = {row.get("name"): (row.get("digest") or {}).get("sha256") for row in rows}
    for name, digest in _subjects(record, line).items():
        if subjects.get(name) != digest:
            return f"it is about another {name}: sha256 {subjects.get(name)}, not {digest}"
    return None if statement.get("predicate") == record else "its predicate is another record"


def _subjects(record: Mapping[str, Any], line: str) -> dict[str, str]:
    """Return the sha256 of what a statement is about, by name."""
    plan = str(record["plan_digest"]).removeprefix("sha256:")
    return {"plan": plan, "record": hashlib.sha256(line.encode()).hexdigest()}
