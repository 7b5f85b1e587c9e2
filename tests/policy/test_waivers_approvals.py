"""What a waiver must be, apart from signed, before it counts."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from planner.policy.approvals import is_backdated
from tests.policy.waiving import (
    BUDGET,
    load,
    owners,
    plain,
    review,
    reviews_of,
    signed,
    told,
    write,
)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"rule": "NEW-001"}, "the policies have no rule NEW-001"),
        ({"rule": "RES-002"}, "RES-002 cannot be waived by anybody"),
        ({"rule": "RES-004"}, "RES-004 cannot be waived by anybody"),
        ({"rule": "RES-001", "expires": "2026-12-01"}, "RES-001 cannot be waived by anybody"),
        ({"approver": "nobody"}, "nobody is not an approver"),
        ({"approver": "Head-of-AI-risk"}, "is not an approver"),
        ({"approver": "budget-owner"}, "budget-owner holds budget_owner, platform_owner; MOD-001"),
        ({"rule": "BUD-001"}, "head-of-ai-risk holds ai_risk; BUD-001 may be waived by budget"),
        ({"requested_by": "head-of-ai-risk"}, "asked for it"),
        ({"requested_by": " HEAD-of-\uff21\uff29-risk"}, "asked for it"),
        ({"requested_by": "@Risk-Owner"}, "asked for it"),
        ({"expires": "2027-02-19"}, "severity high is waived for 90 days at most"),
        ({"expires": "2027-02-18T00:00:01Z"}, "90 days at most"),
        ({"rule": "TPP-001", "expires": "2026-12-21"}, "30 days at most"),
        ({"rule": "CAP-001", "expires": "2027-05-20"}, "180 days at most"),
        ({"rule": "LOW-001", "expires": "2027-11-22"}, "366 days at most"),
        ({"granted": "2026-11-19"}, "backdated: granted 2026-11-19T00:00:00Z, signed 2026-11-20"),
        ({"granted": "2026-11-20T09:59:59Z"}, "backdated"),
    ],
    ids=str,
)
def test_signed_and_still_rejected(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    signed(tmp_path, **changes)
    assert reason in told(load(tmp_path))


@pytest.mark.parametrize(
    "changes",
    [
        {"expires": "2027-02-18"},
        {"rule": "TPP-001", "expires": "2026-12-20"},
        {"rule": "LOW-001", "expires": "2027-11-21"},
        {"granted": "2026-11-20T10:00:00Z"},
        {"granted": "2026-11-28"},
    ],
    ids=str,
)
def test_at_the_limit_and_still_counted(tmp_path: Path, changes: dict[str, Any]) -> None:
    signed(tmp_path, **changes)
    assert load(tmp_path).rejected == ()


def test_the_role_shown_is_one_that_owns_the_rule(tmp_path: Path) -> None:
    signed(tmp_path, key=BUDGET, rule="BUD-001", approver="budget-owner")
    (waiver,) = load(tmp_path).waivers
    assert waiver.approval.role == "budget_owner"


def test_a_waiver_that_nobody_verified(tmp_path: Path) -> None:
    path = write(tmp_path)
    assert "no signature lies beside it, and no review" in told(load(tmp_path))
    other = {**review(path), "file": "policies/waivers/other.yaml"}
    assert "no signature lies beside it" in told(load(tmp_path, reviews_of(tmp_path, other)))


def test_with_no_approvers_nothing_counts(tmp_path: Path) -> None:
    signed(tmp_path)
    found = load(tmp_path, owners=owners({}))
    assert "names no approver, so no waiver can be verified" in told(found)
    assert found.approvers == 0


def test_the_same_id_twice_counts_for_neither(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yml", "c.YAML"):
        signed(tmp_path, name=name)
    signed(tmp_path, name="d.yaml", id="WVR-1")
    found = load(tmp_path)
    assert [waiver.id for waiver in found.waivers] == ["WVR-1"]
    assert [row.file for row in found.rejected] == ["a.yaml", "b.yml", "c.YAML"]
    assert {row.reason for row in found.rejected} == {
        "WVR-2026-014 is given twice: in a.yaml, b.yml, c.YAML"
    }


def test_an_unverified_copy_takes_the_verified_one_with_it(tmp_path: Path) -> None:
    signed(tmp_path, name="a.yaml")
    write(tmp_path, "b.yaml", subject="other")
    found = load(tmp_path)
    assert found.waivers == ()
    assert [row.file for row in found.rejected] == ["a.yaml", "b.yaml"]


def test_a_signature_left_behind_is_reported(tmp_path: Path) -> None:
    signed(tmp_path).unlink()
    assert told(load(tmp_path)) == "it signs a file that is not there"


@pytest.mark.parametrize(
    ("granted", "approved", "backdated"),
    [
        ("2026-11-20", "2026-11-20T00:00:00Z", False),
        ("2026-11-20", "2026-11-20T23:59:59.999999Z", False),
        ("2026-11-20", "2026-11-21T00:00:00Z", True),
        ("2026-11-20", "2026-11-21T05:00:00+10:00", False),
        ("2026-11-20T00:00:00Z", "2026-11-20T23:00:00Z", False),
        ("2026-11-20T00:00:01Z", "2026-11-20T00:00:02Z", True),
        ("2026-11-20T10:00:00+10:00", "2026-11-20T23:00:00Z", False),
        ("2026-11-20T12:00:00Z", "2026-11-20T12:00:00Z", False),
    ],
)
def test_backdated(granted: str, approved: str, backdated: bool) -> None:
    moment = dt.datetime.fromisoformat(approved).astimezone(dt.UTC)
    assert is_backdated(plain(granted=granted), moment) is backdated
