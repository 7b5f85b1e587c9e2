"""Verifying who approved a waiver: by a signature on the file, or by a recorded review.

Nothing here trusts what the waiver says of itself: the approver must be in the owner list,
hold a role that owns the rule, be somebody else than who asked, and have approved these
bytes before the waiver was granted.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from planner import faults
from planner.base import Frozen
from planner.errors import InputError, reason_of
from planner.policy.document import instant
from planner.policy.moments import ExactMoment
from planner.policy.signatures import Sha256, public_key, strict_json, verify
from planner.policy.waiver_owners import Approver, Owners, WaivableRule, folded
from planner.policy.waivers import Approval, Waiver, never_waivable

MAX_REVIEWS_BYTES = 10_000_000

_Login = Annotated[str, Field(min_length=1, max_length=200)]


class ReviewApproval(Frozen):
    """Whose approval the Git host recorded, and when."""

    login: _Login
    at: ExactMoment


class Review(Frozen):
    """What the Git host recorded about one content of one file."""

    file: Annotated[str, Field(min_length=1)]
    sha256: Sha256
    author: _Login
    approvals: tuple[ReviewApproval, ...]


Reviews = tuple[Review, ...]

_REVIEWS: TypeAdapter[Reviews] = TypeAdapter(Reviews)


def read_reviews(path: Path) -> Reviews:
    """Read the export of the Git host's reviews; InputError says what is wrong with it."""
    fix = "Export it again as docs/waivers.md shows."
    try:
        with path.open("rb") as file:
            content = file.read(MAX_REVIEWS_BYTES + 1)
        if len(content) > MAX_REVIEWS_BYTES:
            raise ValueError(f"it has more than {MAX_REVIEWS_BYTES:,} bytes")
        strict_json(content)
        return _REVIEWS.validate_json(content, strict=True)
    except ValidationError as error:
        rows = error.errors(include_url=False, include_input=False)[:10]
        problems = [
            faults.BAD_REVIEWS.at(
                f"{path.name} ({'.'.join(map(str, row['loc']))})", row["msg"], fix
            )
            for row in rows
        ]
        raise InputError(problems) from None
    except (OSError, ValueError) as error:
        told = reason_of(error)
        raise InputError(
            [faults.BAD_REVIEWS.at(str(path), f"cannot be used: {told}", fix)]
        ) from None


def approve(
    waiver: Waiver,
    file: str,
    content: bytes,
    envelope: bytes | None,
    *,
    rules: Mapping[str, WaivableRule],
    owners: Owners,
    reviews: Reviews,
    at: dt.datetime,
) -> Approval:
    """Return the proof that an owner approved ``content``; ValueError says what is missing.

    ``envelope`` is what lies beside the file as its signature: if there is one, it must
    verify, and no review makes up for it. ``at`` is when the run judges.
    """
    role, approver = _owner(waiver, rules, owners)
    own = [review for review in reviews if PurePosixPath(review.file).name == file]
    sha256 = hashlib.sha256(content).hexdigest()
    same = [review for review in own if review.sha256 == sha256]
    login = folded(approver.git_login or "")
    if login and login in {folded(review.author) for review in same}:
        raise ValueError(f"{waiver.approver} wrote it, so somebody else must approve it")
    if envelope is not None:
        approved = _signed_at(waiver, sha256, envelope, approver)
    else:
        approved = _reviewed_at(waiver, login, own, same)
    how = "reviewed" if envelope is None else "signed"
    if approved > at:
        raise ValueError(f"{how} at {instant(approved)}, after the time this run judges at")
    if is_backdated(waiver, approved):
        raise ValueError(f"backdated: granted {instant(waiver.granted)}, {how} {instant(approved)}")
    return Approval(
        role=role, verified_by="review" if envelope is None else "signature", at=approved
    )


def is_backdated(waiver: Waiver, approved: dt.datetime) -> bool:
    """Say whether the waiver was granted before it was approved.

    A grant at midnight UTC stands for its day, since a date is written for it and nobody
    approves at midnight: it may be approved until that day ends, and counts from then.
    """
    if waiver.granted.time() == dt.time():
        return waiver.granted.date() < approved.date()
    return waiver.granted < approved


def _owner(
    waiver: Waiver, rules: Mapping[str, WaivableRule], owners: Owners
) -> tuple[str, Approver]:
    """Return the approver and the role that lets them waive the rule."""
    rule = rules.get(waiver.rule)
    if rule is None:
        raise ValueError(f"the policies have no rule {waiver.rule}")
    if not rule.waivable_by or never_waivable(waiver.rule, rule.severity):
        raise ValueError(f"{waiver.rule} cannot be waived by anybody")
    days = getattr(owners.max_days, rule.severity)
    if waiver.expires - waiver.granted > dt.timedelta(days=days):
        raise ValueError(
            f"it lives too long: a rule of severity {rule.severity} is waived for "
            f"{days} days at most"
        )
    if not owners.approvers:
        raise ValueError(f"{owners.place} names no approver, so no waiver can be verified")
    approver = owners.approvers.get(waiver.approver)
    if approver is None:
        raise ValueError(f"{waiver.approver} is not an approver of {owners.place}")
    names = {folded(waiver.approver), folded(approver.git_login or waiver.approver)}
    if folded(waiver.requested_by) in names:
        raise ValueError(f"{waiver.approver} asked for it, so somebody else must approve it")
    roles = sorted(set(approver.roles) & set(rule.waivable_by))
    if not roles:
        raise ValueError(
            f"{waiver.approver} holds {', '.join(approver.roles)}; {waiver.rule} may be "
            f"waived by {', '.join(rule.waivable_by)}"
        )
    return roles[0], approver


def _signed_at(waiver: Waiver, sha256: str, envelope: bytes, approver: Approver) -> dt.datetime:
    if approver.public_key is None:
        raise ValueError(f"{waiver.approver} has no public key in the owner list")
    try:
        key = public_key(approver.public_key)
    except ValueError as error:
        raise ValueError(f"public key of {waiver.approver}: {error}") from None
    try:
        signed = verify(envelope, key)
    except ValueError as error:
        raise ValueError(f"signature: {error}") from None
    if signed.sha256 != sha256:
        raise ValueError("signature: it is of another content, the file was changed since")
    if signed.waiver != waiver.id:
        raise ValueError(f"signature: it is of {signed.waiver}, not of {waiver.id}")
    return signed.signed_at


def _reviewed_at(waiver: Waiver, login: str, own: list[Review], same: list[Review]) -> dt.datetime:
    """Return when the approver first approved this content."""
    if not own:
        raise ValueError("not verified: no signature lies beside it, and no review is of it")
    if not same:
        raise ValueError("review: it is of another content, the file was changed since")
    if not login:
        raise ValueError(f"review: {waiver.approver} has no git_login in the owner list")
    found = [row.at for review in same for row in review.approvals if folded(row.login) == login]
    if not found:
        raise ValueError(f"review: {waiver.approver} has not approved it")
    return min(found)
