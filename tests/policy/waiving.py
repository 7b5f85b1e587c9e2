"""Waiver files, their approvers and what the Git host recorded, for tests to vary."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from securesystemslib.signer import CryptoSigner  # type: ignore[attr-defined]

from planner.policy.approvals import Reviews, read_reviews
from planner.policy.signatures import SignedApproval, sign
from planner.policy.waiver_files import SIGNATURE_SUFFIX, load_waivers
from planner.policy.waiver_owners import Owners, WaivableRule
from planner.policy.waivers import VerifiedWaiver, Waiver, WaiverBook

NOW = dt.datetime(2026, 12, 1, 12, 0, tzinfo=dt.UTC)
SIGNED = dt.datetime(2026, 11, 20, 10, 0, tzinfo=dt.UTC)

FIELDS: dict[str, Any] = {
    "id": "WVR-2026-014",
    "rule": "MOD-001",
    "subject": "chat",
    "scope": {"stack": "prod", "model": "gpt-5.9"},
    "requested_by": "chat team lead",
    "approver": "head-of-ai-risk",
    "ticket": "RISK-1203",
    "reason": "Approval is on the agenda of the committee.",
    "granted": "2026-11-20",
    "expires": "2026-12-31",
}
APPROVAL: dict[str, Any] = {"role": "ai_risk", "verified_by": "signature", "at": SIGNED}

RULES = {
    rule: WaivableRule.model_validate({"severity": severity, "waivable_by": roles})
    for rule, severity, roles in (
        ("MOD-001", "high", ("ai_risk",)),
        ("BUD-001", "high", ("budget_owner",)),
        ("CAP-001", "medium", ("platform_owner", "budget_owner")),
        ("TPP-001", "critical", ("ai_risk",)),
        ("LOW-001", "low", ("ai_risk",)),
        ("RES-001", "critical", ("ai_risk",)),
        ("RES-002", "critical", ()),
        ("RES-004", "high", ()),
    )
}
"""Rules as a manifest lists them; RES-001 names a role against which only the code stands."""


def waiver(**changes: Any) -> VerifiedWaiver:
    """Return a waiver as if its approval had been verified."""
    more = {"file": "w.yaml", "digest": f"sha256:{'0' * 64}", "approval": APPROVAL}
    return VerifiedWaiver.model_validate({**FIELDS, **more, **changes})


def book(**changes: Any) -> WaiverBook:
    return WaiverBook(waivers=(waiver(**changes),), approvers=1)


def text(**changes: Any) -> str:
    """Return the YAML of a waiver; a change to ... leaves the key out."""
    rows = {key: value for key, value in {**FIELDS, **changes}.items() if value is not ...}
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in rows.items())


def write(folder: Path, name: str = "w.yaml", **changes: Any) -> Path:
    path = folder / name
    path.write_text(text(**changes))
    return path


class Key:
    """An ed25519 key pair made from a seed, so that every run has the same."""

    def __init__(self, seed: int) -> None:
        self.private = Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)
        self.public_pem = (
            self.private.public_key()
            .public_bytes(
                serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
            )
            .decode()
        )

    def write(self, path: Path) -> Path:
        path.write_bytes(
            self.private.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return path


RISK, BUDGET, STRANGER = Key(1), Key(2), Key(3)

APPROVERS: dict[str, Any] = {
    "head-of-ai-risk": {
        "roles": ["ai_risk"],
        "public_key": RISK.public_pem,
        "git_login": "risk-owner",
    },
    "budget-owner": {
        "roles": ["budget_owner", "platform_owner"],
        "public_key": BUDGET.public_pem,
        "git_login": None,
    },
    "reviewer-only": {"roles": ["ai_risk"], "public_key": None, "git_login": "second-risk"},
}
DAYS = {"critical": 30, "high": 90, "medium": 180, "low": 366}


def owners(approvers: dict[str, Any] | None = None, **days: int) -> Owners:
    rows = APPROVERS if approvers is None else approvers
    return Owners.model_validate_json(json.dumps({"max_days": DAYS | days, "approvers": rows}))


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def reviews_of(folder: Path, *rows: dict[str, Any]) -> Reviews:
    path = folder / "reviews.json"
    path.write_text(json.dumps(rows))
    return read_reviews(path)


def review(path: Path, **changes: Any) -> dict[str, Any]:
    return {
        "file": f"policies/waivers/{path.name}",
        "sha256": sha256(path),
        "author": "chat-dev",
        "approvals": [{"login": "risk-owner", "at": "2026-11-20T10:00:00Z"}],
        **changes,
    }


def load(folder: Path, reviews: Reviews = (), **more: Any) -> WaiverBook:
    return load_waivers(
        folder,
        rules=more.get("rules", RULES),
        owners=more.get("owners", owners()),
        reviews=reviews,
        at=more.get("at", NOW),
    )


def plain(**changes: Any) -> Waiver:
    return Waiver.model_validate({**FIELDS, **changes})


def beside(path: Path) -> Path:
    return path.with_name(path.name + SIGNATURE_SUFFIX)


def signed(
    folder: Path, *, key: Key = RISK, at: dt.datetime = SIGNED, name: str = "w.yaml", **changes: Any
) -> Path:
    """Write a waiver and sign it, without the checks that a signer's own tool makes."""
    path = write(folder, name, **changes)
    approval = SignedApproval(
        sha256=sha256(path), waiver=changes.get("id", "WVR-2026-014"), signed_at=at
    )
    beside(path).write_text(sign(approval, CryptoSigner(key.private)))
    return path


def told(book: WaiverBook) -> str:
    """Return the one reason for which nothing counts."""
    assert book.waivers == ()
    (row,) = book.rejected
    return row.reason


def change(path: Path, edit: Callable[[dict[str, Any]], None]) -> None:
    envelope = json.loads(beside(path).read_text())
    edit(envelope)
    beside(path).write_text(json.dumps(envelope))
