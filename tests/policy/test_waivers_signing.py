"""Signing a waiver file: what comes out counts, and what would not is refused."""

from __future__ import annotations

import base64
import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from planner.errors import InputError
from planner.policy.signatures import PAYLOAD_TYPE
from planner.policy.waiver_files import sign_waiver
from tests.policy.waiving import RISK, SIGNED, STRANGER, load, sha256, write


@pytest.fixture
def key(tmp_path: Path) -> Path:
    folder = tmp_path / "keys"
    folder.mkdir()
    return RISK.write(folder / "key.pem")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "waivers"
    made.mkdir()
    return made


def test_what_is_signed_counts(folder: Path, key: Path) -> None:
    path = write(folder)
    target = sign_waiver(path, key, SIGNED)
    assert target == folder / "w.yaml.dsse.json"
    assert sorted(item.name for item in folder.iterdir()) == ["w.yaml", "w.yaml.dsse.json"]
    (waiver,) = load(folder).waivers
    assert waiver.approval.at == SIGNED


def test_what_the_signature_says(folder: Path, key: Path) -> None:
    path = write(folder)
    at = dt.datetime(2026, 11, 20, 21, 0, 0, 999, tzinfo=dt.timezone(dt.timedelta(hours=11)))
    envelope = json.loads(sign_waiver(path, key, at).read_text())
    assert sorted(envelope) == ["payload", "payloadType", "signatures"]
    assert envelope["payloadType"] == PAYLOAD_TYPE
    assert json.loads(base64.b64decode(envelope["payload"])) == {
        "sha256": sha256(path),
        "waiver": "WVR-2026-014",
        "signed_at": "2026-11-20T10:00:00Z",
    }


def test_the_same_signature_for_the_same_input(folder: Path, key: Path) -> None:
    path = write(folder)
    first = sign_waiver(path, key, SIGNED).read_bytes()
    assert sign_waiver(path, key, SIGNED).read_bytes() == first


def test_signing_again_replaces_a_signature_that_no_longer_fits(folder: Path, key: Path) -> None:
    path = write(folder)
    sign_waiver(path, STRANGER.write(key.with_name("other.pem")), SIGNED)
    assert load(folder).waivers == ()
    sign_waiver(path, key, SIGNED)
    assert load(folder).rejected == ()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"granted": "2026-11-19"}, "before this signature (2026-11-20T10:00:00Z)"),
        ({"granted": "2026-11-01", "expires": "2026-11-20T10:00:00Z"}, "before this signature"),
        ({"expires": "2026-11-20T10:00:00Z"}, "it has expired"),
        ({"expires": "soon"}, "expires"),
        ({"scope": {"stack": "prod"}}, "too broad"),
    ],
    ids=str,
)
def test_a_waiver_that_would_not_count_is_not_signed(
    folder: Path, key: Path, changes: dict[str, Any], told: str
) -> None:
    path = write(folder, **changes)
    with pytest.raises(InputError) as caught:
        sign_waiver(path, key, SIGNED)
    assert told in str(caught.value)
    assert [item.name for item in folder.iterdir()] == ["w.yaml"]


def test_a_missing_file_and_a_list_are_not_signed(folder: Path, key: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        sign_waiver(folder / "none.yaml", key, SIGNED)
    (folder / "list.yaml").write_text("- a\n")
    with pytest.raises(InputError, match="holds one mapping"):
        sign_waiver(folder / "list.yaml", key, SIGNED)


def _pem(private: Any, passphrase: bytes | None = None) -> bytes:
    encryption: Any = serialization.NoEncryption()
    if passphrase is not None:
        encryption = serialization.BestAvailableEncryption(passphrase)
    pem: bytes = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption
    )
    return pem


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"no key", "not a private key in PEM"),
        (RISK.public_pem.encode(), "not a private key in PEM"),
        (_pem(RISK.private, b"secret"), "the key is encrypted"),
        (_pem(rsa.generate_private_key(65537, 2048)), "not an ed25519 key"),
        (None, "No such file"),
    ],
    ids=["text", "public", "encrypted", "rsa", "missing"],
)
def test_keys_that_cannot_sign(folder: Path, content: bytes | None, told: str) -> None:
    path, key = write(folder), folder.parent / "bad.pem"
    if content is not None:
        key.write_bytes(content)
    with pytest.raises(InputError) as caught:
        sign_waiver(path, key, SIGNED)
    assert told in str(caught.value)
    assert "docs/waivers.md" in str(caught.value)
    assert [item.name for item in folder.iterdir()] == ["w.yaml"]
