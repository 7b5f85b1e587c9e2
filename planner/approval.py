"""What an approval names, and what differs from it later.

The token of an approval is the capacity digest. Beside it stand, where a pipeline has them,
a digest of the saved update plan and one of the state that it starts from: Pulumi's own plan
file refuses other operations, yet it does not say from which state it may be applied.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from planner import faults
from planner.base import Frozen
from planner.canonical import canonical, digest
from planner.errors import InputError, PlanDiffers
from planner.plan import Plan, capacity_document
from planner.plan_reading import plan_document

SCHEMA_VERSION = 1
FILE = "approval.json"

_SECRET_SIGN, _SECRET_VALUE = "4dabf18193072939515e22adb298388d", "1b47061264138c4ac30d75fd1eb44270"
"""How Pulumi marks a secret in its files; what follows is encrypted anew each time."""

_SEALED = "[secret]"
_ABSENT = "nothing"
_LONGEST = 80


class Approval(Frozen):
    """What was approved: digests are sha256; None is what the pipeline did not give.

    ``state_version`` is the backend's own number or name of the state, as given.
    """

    schema_version: int = SCHEMA_VERSION
    stack: str
    capacity_digest: str
    evidence_digest: str
    update_plan_digest: str | None = None
    state_digest: str | None = None
    state_version: str | None = None

    def to_json(self) -> str:
        """Return the file's text; equal approvals give equal bytes."""
        return json.dumps(self.model_dump(mode="json"), sort_keys=True, indent=2) + "\n"


class Difference(NamedTuple):
    """One field that is not as approved, by its path."""

    path: str
    approved: str
    now: str

    def __str__(self) -> str:
        """Return the difference as one line."""
        return f"{self.path}: approved {self.approved}, now {self.now}"


def read_approval(path: Path) -> Approval:
    """Return the approval in a file; InputError says why it is none."""
    fix = "Write it with: llm-capacity approval --stack STACK ..."
    try:
        return Approval.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        what = "cannot be read" if isinstance(error, OSError) else "is no approval"
        raise InputError([faults.BAD_APPROVAL.at(str(path), what, fix)]) from None


def differences(approved: str, plan: Plan, *, token: str, where: str) -> tuple[Difference, ...]:
    """Return what of ``plan`` is not as in the text of the approved plan, sorted by path.

    Raises InputError when the text is no plan, or not the one whose digest is ``token``.
    """
    fix = "Give the plan.json of the run that was approved."
    try:
        old = capacity_document(plan_document(approved, where))
    except (KeyError, TypeError, AttributeError):
        raise InputError([faults.BAD_BASELINE.at(where, "is not a plan", fix)]) from None
    if digest(old) != token:
        what = f"has the capacity digest {digest(old)}, not the approved {token}"
        raise InputError([faults.BAD_BASELINE.at(where, what, fix)])
    return changes(old, capacity_document(json.loads(plan.to_json())))


def changes(old: Any, new: Any) -> tuple[Difference, ...]:
    """Return every leaf of plain data that differs; rows are told by their names."""
    return tuple(sorted(_changes(old, new, ())))


def update_plan_digest(path: Path) -> str:
    """Return the digest of a plan saved by ``pulumi preview --save-plan``.

    What differs between two saves of the same plan is left out: the time, each resource's
    seed, and the ciphertext of secrets.
    """
    document = _json_of(path, "resourcePlans", "pulumi preview --save-plan FILE")
    plans = {
        urn: {key: value for key, value in plan.items() if key != "seed"}
        for urn, plan in document["resourcePlans"].items()
    }
    manifest = {k: v for k, v in (document.get("manifest") or {}).items() if k != "time"}
    return digest(_sealed({**document, "manifest": manifest, "resourcePlans": plans}))


def state_digest(path: Path) -> str:
    """Return the digest of a state written by ``pulumi stack export``.

    The resources count, and what is pending on them; not when and by which version of
    Pulumi the file was written, nor the ciphertext of secrets.
    """
    document = _json_of(path, "deployment", "pulumi stack export --file FILE")
    kept = ("resources", "pending_operations")
    rows = {key: document["deployment"].get(key) or [] for key in kept}
    return digest(_sealed(rows))


def mismatches(
    approval: Approval,
    *,
    update_plan: str | None,
    state: str | None,
    state_version: str | None,
) -> tuple[Difference, ...]:
    """Return what of today's update plan and state is not as approved.

    What one side has and the other has not is a difference too: nobody approved it, or
    nobody shows it.
    """
    pairs = (
        ("update plan", approval.update_plan_digest, update_plan),
        ("state", approval.state_digest, state),
        ("state version", approval.state_version, state_version),
    )
    return tuple(
        Difference(name, told or _ABSENT, now or _ABSENT)
        for name, told, now in pairs
        if told != now
    )


def differs(stack: str, what: str, found: Sequence[Difference], fix: str = "") -> PlanDiffers:
    """Return the error that names every difference of a stack to what was approved."""
    problem = faults.PLAN_DIFFERS.at(f"stack {stack}", f"not as approved{what}", fix)
    return PlanDiffers(problem, [f"  {item}" for item in found])


def _changes(old: Any, new: Any, path: tuple[str, ...]) -> Iterator[Difference]:
    old, new = _by_name(old), _by_name(new)
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in {*old, *new}:
            yield from _changes(old.get(key), new.get(key), (*path, str(key)))
    elif old != new:
        yield Difference(".".join(path), _told(old), _told(new))


def _by_name(value: Any) -> Any:
    """Return a list of named rows as a mapping, so that a row is compared with its like."""
    if not isinstance(value, list) or not all(isinstance(row, Mapping) for row in value):
        return value
    named = {_name(row): row for row in value}
    return named if len(named) == len(value) else value


def _name(row: Mapping[str, Any]) -> str:
    keys = ("cluster", "account", "name") if "name" in row else ("workload", "account", "unit")
    return "/".join(str(row[key]) for key in keys if row.get(key))


def _told(value: Any) -> str:
    if value is None or value == {}:
        return _ABSENT
    text = value if isinstance(value, str) else canonical(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _sealed(value: Any) -> Any:
    """Return plain data with what is encrypted replaced by one mark."""
    if isinstance(value, Mapping):
        if value.get(_SECRET_SIGN) == _SECRET_VALUE:
            return _SEALED
        return {
            key: _SEALED if key == "secure" and isinstance(item, str) else _sealed(item)
            for key, item in value.items()
        }
    return [_sealed(item) for item in value] if isinstance(value, list) else value


def _json_of(path: Path, key: str, command: str) -> dict[str, Any]:
    fix = f"Write it with: {command}"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        rows = document[key]
    except OSError as error:
        raise InputError(
            [faults.BAD_UPDATE_PLAN.at(str(path), error.strerror or "cannot be read", fix)]
        ) from None
    except (ValueError, KeyError, TypeError):
        raise InputError([faults.BAD_UPDATE_PLAN.at(str(path), f"has no {key}", fix)]) from None
    if not isinstance(rows, dict) or not all(isinstance(row, Mapping) for row in _rows(key, rows)):
        raise InputError([faults.BAD_UPDATE_PLAN.at(str(path), f"its {key} cannot be read", fix)])
    return dict(document)


def _rows(key: str, rows: Mapping[str, Any]) -> list[Any]:
    return list(rows.values()) if key == "resourcePlans" else list(rows.get("resources") or [])
