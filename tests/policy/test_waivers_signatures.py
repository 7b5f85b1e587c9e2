"""Signatures: every way in which one is missing, forged or somebody else's."""

from __future__ import annotations

import base64
import datetime as dt
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from securesystemslib.dsse import Envelope
from securesystemslib.signer import CryptoSigner  # type: ignore[attr-defined]

from planner.policy.signatures import PAYLOAD_TYPE, SignedApproval, sign, strict_json
from tests.policy.waiving import (
    APPROVERS,
    BUDGET,
    NOW,
    RISK,
    SIGNED,
    STRANGER,
    beside,
    change,
    load,
    owners,
    review,
    reviews_of,
    sha256,
    signed,
    told,
    write,
)


def test_a_signature_by_the_approver_counts(tmp_path: Path) -> None:
    path = signed(tmp_path)
    found = load(tmp_path)
    assert found.rejected == ()
    assert found.approvers == 3
    (waiver,) = found.waivers
    assert waiver.approval.model_dump() == {
        "role": "ai_risk", "verified_by": "signature", "at": SIGNED,
    }  # fmt: skip
    assert (waiver.file, waiver.digest) == ("w.yaml", f"sha256:{sha256(path)}")


def test_a_forged_signature(tmp_path: Path) -> None:
    path = signed(tmp_path)

    def forge(envelope: dict[str, Any]) -> None:
        sig = bytearray(base64.b64decode(envelope["signatures"][0]["sig"]))
        sig[0] ^= 1
        envelope["signatures"][0]["sig"] = base64.b64encode(sig).decode()

    change(path, forge)
    assert "no signature in it is by the approver's key" in told(load(tmp_path))


def test_a_signature_under_the_approvers_key_id_by_another_key(tmp_path: Path) -> None:
    ours = json.loads(beside(signed(tmp_path)).read_text())["signatures"][0]["keyid"]
    path = signed(tmp_path, key=STRANGER)
    change(path, lambda envelope: envelope["signatures"][0].update(keyid=ours))
    assert "by the approver's key" in told(load(tmp_path))


def test_a_signature_by_another_approver(tmp_path: Path) -> None:
    signed(tmp_path, key=BUDGET)
    assert "by the approver's key" in told(load(tmp_path))


def test_the_approvers_signature_counts_beside_others(tmp_path: Path) -> None:
    theirs = json.loads(beside(signed(tmp_path, key=STRANGER)).read_text())["signatures"]
    path = signed(tmp_path)
    change(path, lambda envelope: envelope["signatures"].extend(theirs))
    assert load(tmp_path).rejected == ()


def test_a_signature_of_another_file(tmp_path: Path) -> None:
    one, two = (
        signed(tmp_path, id="WVR-1", name="one.yaml"),
        write(tmp_path, "two.yaml", id="WVR-2"),
    )
    beside(two).write_bytes(beside(one).read_bytes())
    found = load(tmp_path)
    assert [waiver.id for waiver in found.waivers] == ["WVR-1"]
    assert [row.file for row in found.rejected] == ["two.yaml"]
    assert "of another content" in found.rejected[0].reason


def test_a_file_changed_after_it_was_signed(tmp_path: Path) -> None:
    path = signed(tmp_path)
    path.write_text(path.read_text().replace("2026-12-31", "2027-01-31"))
    assert "the file was changed since" in told(load(tmp_path))


def test_a_signature_of_another_waiver(tmp_path: Path) -> None:
    path = write(tmp_path)
    approval = SignedApproval(sha256=sha256(path), waiver="WVR-9", signed_at=SIGNED)
    beside(path).write_text(sign(approval, CryptoSigner(RISK.private)))
    assert "it is of WVR-9, not of WVR-2026-014" in told(load(tmp_path))


def test_a_signature_of_the_future(tmp_path: Path) -> None:
    later = NOW + dt.timedelta(seconds=1)
    signed(tmp_path, at=later, granted="2026-12-02")
    assert "signed at 2026-12-01T12:00:01Z, after the time" in told(load(tmp_path))
    assert load(tmp_path, at=later).rejected == ()


def _set(**values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda envelope: envelope.update(values)


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (_set(signatures=[]), "malformed (signatures"),
        (_set(signatures=None), "malformed (signatures"),
        (_set(signatures=[{"sig": "AAAA"}]), "malformed (signatures.0.keyid"),
        (_set(signatures=[{"keyid": "a", "sig": "?"}]), "malformed"),
        (_set(signatures=[{"keyid": "a", "sig": ""}]), "by the approver's key"),
        (lambda e: e.update(signatures=e["signatures"] * 2), "malformed (Multiple signatures"),
        (lambda e: e.update(signatures=e["signatures"] * 17), "malformed (signatures"),
        (_set(payloadType="application/vnd.in-toto+json"), "malformed (payloadType"),
        (_set(payload="e30="), "by the approver's key"),
        (_set(payload="not base64"), "malformed"),
        (_set(payload="\u00e9"), "malformed"),
        (_set(more=1), "malformed (more"),
        (lambda e: e.pop("payload"), "malformed (payload"),
    ],
    ids=map(str, itertools.count()),
)
def test_envelopes_that_prove_nothing(
    tmp_path: Path, edit: Callable[[dict[str, Any]], None], reason: str
) -> None:
    change(signed(tmp_path), edit)
    assert reason in told(load(tmp_path))


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{", b"\xff", b'{"a":1,"a":2}', b"[" * 5_000, b" " * 70_000], ids=len
)
def test_files_that_are_no_envelope(tmp_path: Path, content: bytes) -> None:
    beside(write(tmp_path)).write_bytes(content)
    assert told(load(tmp_path)).startswith("signature: ")


def test_a_folder_in_place_of_the_signature(tmp_path: Path) -> None:
    beside(write(tmp_path)).mkdir()
    assert "not a regular file" in told(load(tmp_path))


@pytest.mark.parametrize(
    "payload",
    [
        "{}",
        '{"sha256":"x","signed_at":"2026-11-20T10:00:00Z","waiver":"WVR-2026-014"}',
        '{"sha256":"SHA","signed_at":"2026-11-20","waiver":"WVR-2026-014"}',
        '{"sha256":"SHA","signed_at":"2026-11-20T10:00:00","waiver":"WVR-2026-014"}',
        '{"sha256":"SHA","signed_at":1763632800,"waiver":"WVR-2026-014"}',
        '{"sha256":"SHA","signed_at":"2026-11-20T10:00:00Z","waiver":"A","waiver":"WVR-2026-014"}',
        '{"sha256":"SHA","signed_at":"2026-11-20T10:00:00Z","waiver":"WVR-2026-014","x":1}',
    ],
)
def test_the_approver_signed_something_else(tmp_path: Path, payload: str) -> None:
    path = write(tmp_path)
    content = payload.replace("SHA", sha256(path)).encode()
    envelope = Envelope(content, PAYLOAD_TYPE, {})
    envelope.sign(CryptoSigner(RISK.private))
    beside(path).write_text(json.dumps(envelope.to_dict()))
    assert "no approval of a waiver" in told(load(tmp_path))


def _pem(private: Any) -> str:
    key: bytes = private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return key.decode()


@pytest.mark.parametrize("algorithm", ["rsa", "ecdsa"])
def test_an_unknown_algorithm(tmp_path: Path, algorithm: str) -> None:
    private: Any = (
        rsa.generate_private_key(65537, 2048)
        if algorithm == "rsa"
        else ec.generate_private_key(ec.SECP256R1())
    )
    path = write(tmp_path)
    approval = SignedApproval(sha256=sha256(path), waiver="WVR-2026-014", signed_at=SIGNED)
    beside(path).write_text(sign(approval, CryptoSigner(private)))
    row = {**APPROVERS["head-of-ai-risk"], "public_key": _pem(private)}
    found = load(tmp_path, owners=owners({"head-of-ai-risk": row}))
    assert told(found) == "public key of head-of-ai-risk: it is not an ed25519 key"


@pytest.mark.parametrize(
    ("key", "reason"), [(None, "has no public key"), ("ssh-ed25519 AAAA", "not a public key")]
)
def test_an_approver_whose_key_is_missing_or_unreadable(
    tmp_path: Path, key: str | None, reason: str
) -> None:
    path = signed(tmp_path)
    row = {**APPROVERS["head-of-ai-risk"], "public_key": key}
    listed = owners({"head-of-ai-risk": row})
    # A review does not make up for a signature that proves nothing.
    assert reason in told(load(tmp_path, reviews_of(tmp_path, review(path)), owners=listed))


def test_json_is_read_strictly() -> None:
    assert strict_json(b'{"a": [1, {"b": 2}]}') == {"a": [1, {"b": 2}]}
    with pytest.raises(ValueError, match="given twice"):
        strict_json(b'{"a": {"b": 1, "b": 2}}')
