"""Signed records: an in-toto statement about plan and record, or no run at all."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner.errors import InputError, PlanDiffers
from planner.evidence.archive import ATTESTATION
from planner.evidence.attestation import (
    KEY_VARIABLE,
    attest,
    attested,
    record_signer,
    verify_attestation,
)
from planner.evidence.packing import unpacked
from planner.policy.chain import Appended, append_record, line_of
from tests.policy.bundling import key_pair
from tests.policy.runs import archive_of, planned, project, records
from tests.policy.waiving import Key

OWN, STRANGER = Key(7), Key(8)


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return OWN.write(tmp_path / "record.pem")


@pytest.fixture
def public(tmp_path: Path) -> Path:
    return public_half(tmp_path, OWN)


def public_half(folder: Path, own: Key) -> Path:
    path = folder / "public.pem"
    path.write_text(own.public_pem)
    return path


@pytest.fixture
def appended(tmp_path: Path) -> Appended:
    body = {"plan_digest": "e" * 64, "counts": {"deny": 3}, "share": 0.25, "none": None}
    return append_record(tmp_path / "records.jsonl", body)


def signed(appended: Appended, key: Path) -> str:
    signer = record_signer({KEY_VARIABLE: str(key)})
    assert signer is not None
    return attest(appended, signer)


def test_a_run_with_a_key_is_attested(
    tmp_path: Path, key: Path, public: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, str(key))
    out = planned(project(tmp_path / "p"))
    (record,) = records(out)
    (path,) = (out / "attestations").iterdir()
    assert path.name == record["decision_id"].removeprefix("sha256:") + ".intoto.json"
    statement = verify_attestation(path.read_bytes(), public)
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicate"] == record
    line = (out / "policy-record.jsonl").read_bytes().removesuffix(b"\n")
    assert {row["name"]: row["digest"]["sha256"] for row in statement["subject"]} == {
        "plan": json.loads((out / "plan.json").read_text())["evidence_digest"],
        "record": hashlib.sha256(line).hexdigest(),
    }
    # It goes with the archive as well, which may travel alone.
    assert unpacked(archive_of(out).read_bytes())[ATTESTATION] == path.read_bytes()
    written = b"".join(p.read_bytes() for p in out.rglob("*") if p.is_file())
    assert b"PRIVATE KEY" not in written


def test_a_run_without_a_key_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    assert not (planned(project(tmp_path)) / "attestations").exists()


def missing(folder: Path) -> Path:
    return folder / "nowhere.pem"


def rubbish(folder: Path) -> Path:
    (folder / "bad.pem").write_text("no key")
    return folder / "bad.pem"


def of_another_kind(folder: Path) -> Path:
    return key_pair(folder / "k", "P-256").private


def with_a_passphrase(folder: Path) -> Path:
    return key_pair(folder / "k", "Ed25519", b"open").private


def public_in_its_place(folder: Path) -> Path:
    return key_pair(folder / "k", "Ed25519").public


@pytest.mark.parametrize(
    "make",
    [missing, rubbish, of_another_kind, with_a_passphrase, public_in_its_place, lambda _: ""],
)
def test_a_key_that_cannot_be_used_stops_the_run_before_it_writes(
    make: Callable[[Path], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, str(make(tmp_path)))
    root = project(tmp_path / "p")
    with pytest.raises(InputError, match="the key cannot be used") as told:
        planned(root)
    assert told.value.exit_code == 2
    assert KEY_VARIABLE in str(told.value)
    assert not (root / "out").exists()


def test_the_same_record_is_signed_the_same(appended: Appended, key: Path) -> None:
    assert signed(appended, key) == signed(appended, key)


def test_a_statement_is_about_one_record_and_one_plan(
    appended: Appended, key: Path, public: Path
) -> None:
    statement = verify_attestation(signed(appended, key), public)
    assert attested(statement, appended.record, appended.line) is None
    other = {**appended.record, "plan_digest": "f" * 64}
    assert "another plan" in str(attested(statement, other, line_of(other)))
    assert "another record" in str(attested(statement, appended.record, appended.line + " "))
    assert "its predicate" in str(
        attested({**statement, "predicate": {}}, appended.record, appended.line)
    )
    assert attested({}, appended.record, appended.line) is not None


def test_the_key_of_another_does_not_verify_it(
    appended: Appended, key: Path, tmp_path: Path
) -> None:
    with pytest.raises(PlanDiffers, match="by that key") as told:
        verify_attestation(signed(appended, key), public_half(tmp_path, STRANGER))
    assert told.value.exit_code == 7


def retyped(envelope: dict[str, Any]) -> None:
    envelope["payloadType"] = "text/plain"


def rewritten(envelope: dict[str, Any]) -> None:
    statement = json.loads(base64.b64decode(envelope["payload"]))
    statement["predicate"]["counts"]["deny"] = 0
    envelope["payload"] = base64.b64encode(json.dumps(statement).encode()).decode()


def resigned(envelope: dict[str, Any]) -> None:
    raw = bytearray(base64.b64decode(envelope["signatures"][0]["sig"]))
    raw[0] ^= 1
    envelope["signatures"][0]["sig"] = base64.b64encode(raw).decode()


def unsigned(envelope: dict[str, Any]) -> None:
    envelope["signatures"] = []


@pytest.mark.parametrize("harm", [retyped, rewritten, resigned, unsigned])
def test_a_changed_envelope_proves_nothing(
    harm: Callable[[dict[str, Any]], None], appended: Appended, key: Path, public: Path
) -> None:
    envelope = json.loads(signed(appended, key))
    harm(envelope)
    with pytest.raises(PlanDiffers, match="by that key"):
        verify_attestation(json.dumps(envelope), public)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "null", '{"payload": 1, "payloadType": "x", "signatures": []}',
     '{"payload": "", "payloadType": "x", "signatures": [{}]}',
     '{"payload": "", "payloadType": 1, "signatures": []}',
     '{"payload": "", "payload": "", "payloadType": "x", "signatures": []}'],
)  # fmt: skip
def test_what_is_no_envelope(text: str, public: Path) -> None:
    with pytest.raises(PlanDiffers, match="malformed"):
        verify_attestation(text, public)


@pytest.mark.parametrize(
    ("payload", "kind", "words"),
    [
        (b"{}", "application/vnd.in-toto+json", "no statement about a record"),
        (b"no json", "application/vnd.in-toto+json", "not JSON"),
        (b"[]", "application/vnd.in-toto+json", "no statement"),
        (b"{}", "text/plain", "of type 'text/plain'"),
    ],
)
def test_a_signature_on_something_else(
    payload: bytes, kind: str, words: str, key: Path, public: Path
) -> None:
    from securesystemslib.dsse import Envelope

    signer = record_signer({KEY_VARIABLE: str(key)})
    assert signer is not None
    envelope = Envelope(payload, kind, {})
    envelope.sign(signer)
    with pytest.raises(PlanDiffers, match=words):
        verify_attestation(json.dumps(envelope.to_dict()), public)


@pytest.mark.parametrize("make", [missing, rubbish, of_another_kind])
def test_a_public_key_that_cannot_be_used(
    make: Callable[[Path], Path], appended: Appended, key: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="the key cannot be used"):
        verify_attestation(signed(appended, key), make(tmp_path))
