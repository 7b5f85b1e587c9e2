"""Reviews that a Git host recorded: whose, of what, and when."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from planner.errors import InputError
from planner.policy.approvals import read_reviews
from tests.policy.waiving import (
    SIGNED,
    load,
    review,
    reviews_of,
    signed,
    told,
    write,
)


def test_a_recorded_review_by_the_approver_counts(tmp_path: Path) -> None:
    path = write(tmp_path)
    late = {"login": "Risk-Owner", "at": "2026-11-25T10:00:00Z"}
    first = {"login": "@risk-owner", "at": "2026-11-20T21:00:00+11:00"}
    other = {"login": "someone", "at": "2026-11-19T10:00:00Z"}
    found = load(tmp_path, reviews_of(tmp_path, review(path, approvals=[late, first, other])))
    assert found.rejected == ()
    (waiver,) = found.waivers
    assert (waiver.approval.verified_by, waiver.approval.at) == ("review", SIGNED)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"sha256": "0" * 64}, "review: it is of another content"),
        ({"author": "RISK-owner"}, "wrote it, so somebody else must approve it"),
        ({"approvals": []}, "head-of-ai-risk has not approved it"),
        (
            {"approvals": [{"login": "second-risk", "at": "2026-11-20T10:00:00Z"}]},
            "head-of-ai-risk has not approved it",
        ),
        (
            {"approvals": [{"login": "risk-owner", "at": "2026-11-21T00:00:00Z"}]},
            "backdated: granted 2026-11-20T00:00:00Z, reviewed 2026-11-21T00:00:00Z",
        ),
        (
            {"approvals": [{"login": "risk-owner", "at": "2026-12-01T12:00:01Z"}]},
            "reviewed at 2026-12-01T12:00:01Z, after the time",
        ),
    ],
    ids=str,
)
def test_reviews_that_prove_nothing(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    path = write(tmp_path)
    assert reason in told(load(tmp_path, reviews_of(tmp_path, review(path, **changes))))


def test_one_of_several_authors_is_the_approver(tmp_path: Path) -> None:
    path = write(tmp_path)
    rows = reviews_of(tmp_path, review(path), review(path, author="risk-owner", approvals=[]))
    assert "wrote it" in told(load(tmp_path, rows))


def test_who_wrote_it_cannot_sign_it_either(tmp_path: Path) -> None:
    path = signed(tmp_path)
    assert "wrote it" in told(
        load(tmp_path, reviews_of(tmp_path, review(path, author="risk-owner")))
    )
    assert load(tmp_path, reviews_of(tmp_path, review(path))).rejected == ()


def test_a_review_needs_the_approvers_login(tmp_path: Path) -> None:
    path = write(tmp_path, rule="BUD-001", approver="budget-owner")
    rows = reviews_of(tmp_path, review(path))
    assert "budget-owner has no git_login" in told(load(tmp_path, rows))


def test_a_review_of_another_content_beside_one_of_this(tmp_path: Path) -> None:
    path = write(tmp_path)
    other = review(path, sha256="0" * 64, author="risk-owner")
    (waiver,) = load(tmp_path, reviews_of(tmp_path, other, review(path))).waivers
    assert waiver.approval.verified_by == "review"


@pytest.mark.parametrize(
    ("content", "where"),
    [
        ("{", "reviews.json: cannot be used"),
        ('{"a": 1, "a": 2}', "given twice"),
        ("{}", "reviews.json"),
        ('[{"file": "a"}]', "(0.sha256): Field required"),
        ('[{"file": "a", "sha256": "AB", "author": "x", "approvals": []}]', "(0.sha256)"),
        ('[{"file": "a", "sha256": "' + "0" * 64 + '", "author": "", "approvals": []}]', "author"),
        (
            '[{"file": "a", "sha256": "' + "0" * 64 + '", "author": "x", '
            '"approvals": [{"login": "y", "at": "2026-11-20"}]}]',
            "(0.approvals.0.at)",
        ),
    ],
    ids=str,
)
def test_a_malformed_export_of_reviews_is_bad_input(
    tmp_path: Path, content: str, where: str
) -> None:
    path = tmp_path / "reviews.json"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        read_reviews(path)
    assert where in str(caught.value)
    assert "Export it again" in str(caught.value)


def test_a_missing_export_of_reviews_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_reviews(tmp_path / "none.json")
