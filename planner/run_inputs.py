"""What a run takes besides the stack's own files: a moment, an approved plan, policy files."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from planner import faults
from planner.declared.engine import PolicySettings
from planner.errors import InputError, reason_of
from planner.plan_reading import Written, read_written
from planner.secret_input import refuse_secrets_in_text

FIRST_YEAR, LAST_YEAR = 2000, 2199
"""Years of ``--at``: those of every declared date."""


def moment_of(at: str | None) -> dt.datetime:
    """Return the moment that ``--at`` names, now without one; UTC where no zone is given."""
    if at is None:
        return dt.datetime.now(dt.UTC)
    try:
        moment = dt.datetime.fromisoformat(at)
    except ValueError:
        problem = faults.BAD_TIME.at("--at", f"{at!r} is not a time")
        raise InputError([problem]) from None
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        what = f"{at!r} is outside the years {FIRST_YEAR} to {LAST_YEAR}"
        raise InputError([faults.BAD_TIME.at("--at", what)])
    return moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)


def approved_plan(root: Path, path: str) -> str:
    """Return the text of an approved plan, by its path from the project's folder."""
    try:
        text = (root / path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        what = f"cannot be read: {reason_of(error)}"
        raise InputError(
            [faults.BAD_BASELINE.at(path, what, "Give a plan.json of this stack.")]
        ) from None
    refuse_secrets_in_text(text, path)
    return text


def approved_of(root: Path, path: str, stack: str) -> Written:
    """Read an approved plan of ``stack``.

    InputError for another stack's: held against it, nothing would shrink and nothing loosen.
    """
    held = read_written(approved_plan(root, path), path)
    if held.plan.stack != stack:
        what = f"is a plan of stack {held.plan.stack}, not of {stack}"
        raise InputError([faults.BAD_BASELINE.at(path, what, "Give a plan.json of this stack.")])
    return held


def policy_files(root: Path, settings: PolicySettings) -> dict[str, Path | None]:
    """Return the files that the policy settings name; InputError lists all that are missing."""
    keys = ("ca_bundle", "bundle", "verification_key")
    named = {key: getattr(settings, key) for key in keys}
    problems = [
        faults.NO_POLICY_FILE.at(
            f"platform.yaml policy.{key}",
            f"there is no file {path!r}",
        )
        for key, path in named.items()
        if path is not None and not (root / path).is_file()
    ]
    if problems:
        raise InputError(problems)
    return {key: None if path is None else root / path for key, path in named.items()}
