"""Read a plan that was written earlier, by this release or an older one.

The rule of ``schema_version``, an integer:

* A field may be added, with a default that says "not known" or "none", without raising it.
* Renaming or removing a field, or changing what it means, raises it by one, and adds the step
  of :data:`UPGRADES` that turns a document of the version before into one of the next.
* A reader takes its own version and every older one. It refuses a newer one, and a field that
  it does not know: guessing what a plan meant could turn a denial into an allow.

What a plan says of itself is held against its content: the evidence digest must be that of the
document as written. The capacity digest is computed again, never believed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from planner import faults
from planner.canonical import canonical, digest
from planner.errors import Code, InputError
from planner.plan import SCHEMA_VERSION, Plan, capacity_document

Document = dict[str, Any]
Upgrade = Callable[[Document], Document]

UPGRADES: Mapping[int, Upgrade] = {}
"""By the version that a step starts from: what makes a document one version newer."""

DIGESTS = ("capacity_digest", "evidence_digest")
"""What stands in the file besides the plan's own fields."""


class _Head(BaseModel):
    """The part of any version that says which one it is."""

    model_config = ConfigDict(extra="ignore", strict=True)
    schema_version: int
    evidence_digest: str


class Written(NamedTuple):
    """A plan that was read, and the capacity digest of the document as it was written.

    The digest is what an approval of that document names. The plan's own may differ from it
    where a field was added since: it is the digest of what would be planned today.
    """

    plan: Plan
    capacity_digest: str


def read_plan(text: str, where: str = "plan.json") -> Plan:
    """Return the plan of a JSON document as :meth:`planner.plan.Plan.to_json` wrote it.

    Raises InputError where it is no plan, is newer than this release, or was changed since.
    """
    return read_written(text, where).plan


def read_written(text: str, where: str = "plan.json") -> Written:
    """Return the plan of a JSON document with the digest that names the document."""
    document = plan_document(text, where)
    try:
        # Strict models take tuples of lists from JSON text only.
        plan = Plan.model_validate_json(canonical(document))
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            what = f"has the field {path}, which this release does not know"
            raise _refused(faults.PLAN_TOO_NEW, where, what) from None
        raise _refused(
            faults.PLAN_UNREADABLE, where, f"not a plan: {path}: {first['msg']}"
        ) from None
    return Written(plan, digest(capacity_document(document)))


def plan_document(
    text: str,
    where: str = "plan.json",
    *,
    version: int = SCHEMA_VERSION,
    upgrades: Mapping[int, Upgrade] = UPGRADES,
) -> Document:
    """Return a plan's own fields as plain data of schema ``version``, without its digests."""
    try:
        head = _Head.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(part) for part in first["loc"])
        what = f"not a plan: {path + ': ' if path else ''}{first['msg']}"
        raise _refused(faults.PLAN_UNREADABLE, where, what) from None
    _require_known(head.schema_version, version, where)
    document = {key: item for key, item in json.loads(text).items() if key not in DIGESTS}
    found = digest(document)
    if found != head.evidence_digest:
        what = f"was changed since it was written: its evidence digest is {found[:12]}, not "
        raise _refused(faults.PLAN_UNREADABLE, where, f"{what}{head.evidence_digest[:12]}")
    for step in range(head.schema_version, version):
        document = {**upgrades[step](document), "schema_version": step + 1}
    return document


def _require_known(found: int, version: int, where: str) -> None:
    if found > version:
        what = f"is a plan of schema version {found}; this release reads up to {version}"
        raise _refused(faults.PLAN_TOO_NEW, where, what)
    if found < 1:
        raise _refused(faults.PLAN_UNREADABLE, where, f"there is no schema version {found}")


def _refused(code: Code, where: str, what: str) -> InputError:
    return InputError([code.at(where, what)])
