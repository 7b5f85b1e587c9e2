"""Who may waive which rule, and for how long: read from the bundle, so its digest covers it."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Self, TypeVar

from pydantic import Field, ValidationError, model_validator

from planner import faults
from planner.base import Frozen
from planner.errors import PolicyUnavailable
from planner.policy.bundle import ROOT, Bundle
from planner.policy.signatures import public_key
from planner.policy.verdicts import Severity

OWNERS_FILE = f"{ROOT}/facts/waiver_owners/data.json"
"""The owner list, as messages name it."""

_Days = Annotated[int, Field(ge=1, le=366)]
_Name = Annotated[str, Field(min_length=1, max_length=200)]
_Row = TypeVar("_Row", bound=Frozen)


class WaivableRule(Frozen):
    """A row of the rule manifest: how grave the rule is and which roles may waive it."""

    severity: Severity
    waivable_by: tuple[str, ...]


class MaxDays(Frozen):
    """The longest life of a waiver in days, by the severity of its rule."""

    critical: _Days
    high: _Days
    medium: _Days
    low: _Days


class Approver(Frozen):
    """One who may approve: ``public_key`` is PEM (ed25519), ``git_login`` the Git host's."""

    roles: Annotated[tuple[_Name, ...], Field(min_length=1)]
    public_key: Annotated[str, Field(min_length=1, max_length=10_000)] | None
    git_login: _Name | None


class _List(Frozen):
    """The owner list as policies hold it."""

    max_days: MaxDays
    approvers: dict[_Name, Approver]

    @model_validator(mode="after")
    def _one_row_each(self) -> Self:
        # One person under two ids could ask as the first and approve as the second.
        rows = self.approvers.values()
        for what, names in (
            ("id", map(folded, self.approvers)),
            ("git_login", (folded(row.git_login) for row in rows if row.git_login)),
            ("public_key", _key_ids(rows)),
        ):
            seen = list(names)
            if len(seen) != len(set(seen)):
                raise ValueError(f"two approvers share a {what}")
        return self


class Owners(_List):
    """The owner list: approvers by id. Nobody appears twice, whatever the spelling.

    ``place`` is where it stands, as messages name it; ``digest`` is the sha256 of a project's
    own file, and None of a list that the digest of the policies covers.
    """

    place: str = OWNERS_FILE
    digest: str | None = None


def folded(name: str) -> str:
    """Return a name so that spellings of the same one are equal: case, width, spaces, "@"."""
    text = unicodedata.normalize("NFKC", name).casefold()
    return re.sub(r"\s+", " ", text).strip().removeprefix("@")


def waivable_rules(bundle: Bundle) -> dict[str, WaivableRule]:
    """Return the rules of the manifest by id; PolicyUnavailable when it cannot be read."""
    wanted = WaivableRule.model_fields
    try:
        return {
            str(row["id"]): _read(WaivableRule, {key: row[key] for key in wanted})
            for row in bundle.data[ROOT]["manifest"]["rules"]
        }
    except (KeyError, TypeError, ValueError) as error:
        raise _unusable("the rule manifest", error) from None


def waiver_owners(bundle: Bundle) -> Owners:
    """Return the owner list; PolicyUnavailable when it is missing or malformed."""
    try:
        listed = _read(_List, bundle.data[ROOT]["facts"]["waiver_owners"])
    except (KeyError, TypeError, ValueError) as error:
        raise _unusable(OWNERS_FILE, error) from None
    return Owners(max_days=listed.max_days, approvers=listed.approvers)


def _read(model: type[_Row], data: Any) -> _Row:
    return model.model_validate_json(json.dumps(data))


def _key_ids(rows: Iterable[Approver]) -> Iterator[str]:
    for row in rows:
        try:
            yield public_key(row.public_key or "").keyid
        except ValueError:  # no key: whoever signs with it is told so
            continue


def _unusable(what: str, error: Exception) -> PolicyUnavailable:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        told = ": ".join(filter(None, [".".join(map(str, first["loc"])), first["msg"]]))
    else:
        told = f"not found: {error}" if isinstance(error, KeyError) else str(error)
    return PolicyUnavailable(
        faults.BAD_OWNERS.at("policies", f"{what} of the policies cannot be used ({told})")
    )
