"""A project's own owner list: who holds the roles that the rules' METADATA let waive them.

It lies beside the waivers, so that a project on the installed policies needs no copy of them
to name its approvers. It says who holds a role and nothing else: which rules may be waived, by
which roles and for how long stays with the policies. Policies that name approvers themselves,
and signed ones, take no second list.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, ValidationError, model_validator

from planner import faults
from planner.base import Frozen
from planner.errors import InputError, Problem
from planner.nearest import suggestion
from planner.policy.bundle import Bundle
from planner.policy.signatures import public_key
from planner.policy.waiver_owners import (
    Approver,
    Owners,
    WaivableRule,
    waivable_rules,
    waiver_owners,
)
from planner.validation import validate
from planner.yamlfile import YamlFile, read_yaml

FILE = "owners.yaml"
"""The list's name in the folder of waivers."""

LABEL = f"policies/waivers/{FILE}"
"""The list, as messages name it."""

_Name = Annotated[str, Field(min_length=1, max_length=200)]


class _Row(Frozen):
    """One who may approve, by at least one way."""

    roles: Annotated[tuple[_Name, ...], Field(min_length=1)]
    public_key: Annotated[str, Field(min_length=1, max_length=10_000)] | None = None
    git_login: _Name | None = None

    @model_validator(mode="after")
    def _some_way(self) -> Self:
        if self.public_key is None and self.git_login is None:
            raise ValueError("neither public_key nor git_login is given: nothing could be approved")
        return self


class _File(Frozen):
    approvers: dict[_Name, _Row] = Field(default_factory=dict)


def owners_of(folder: Path, bundle: Bundle) -> Owners:
    """Return who may approve: the policies' own list, or that of a folder of waivers.

    Raises PolicyUnavailable for policies whose list is malformed, and InputError, with every
    problem, for a project's list that cannot be used or may not be.
    """
    own = waiver_owners(bundle)
    path = folder / FILE
    if not path.exists() and not path.is_symlink():
        return own
    file = read_yaml(path, LABEL)
    if file.data is None:  # comments alone, as `init` writes it
        return own
    if bundle.signed or own.approvers:
        what = (
            "the policies are signed, and their list is signed with them"
            if bundle.signed
            else "the policies name approvers themselves"
        )
        fix = f"Remove {LABEL}, or name its approvers in the policies ({own.place})."
        raise InputError([faults.SECOND_OWNERS.at(LABEL, what, fix)])
    read, problems = validate(_File, file, file.data)
    if read is None:
        raise InputError(problems)
    problems = list(_problems(file, read, waivable_rules(bundle)))
    if problems:
        raise InputError(problems)
    rows = {name: Approver(**dict(row)) for name, row in read.approvers.items()}
    digest = f"sha256:{hashlib.sha256(file.raw).hexdigest()}"
    try:
        return Owners(max_days=own.max_days, approvers=rows, place=LABEL, digest=digest)
    except ValidationError as error:
        what = str(error.errors()[0]["msg"]).removeprefix("Value error, ")
        fix = "Give each person one row: whoever asks under one name must not approve as another."
        where = file.where(("approvers",))
        raise InputError([faults.BAD_PROJECT_OWNERS.at(where, what, fix)]) from None


def _problems(file: YamlFile, read: _File, rules: Mapping[str, WaivableRule]) -> Iterator[Problem]:
    """Yield the roles that no rule knows, and the keys that verify nothing."""
    known = sorted({role for rule in rules.values() for role in rule.waivable_by})
    for name, row in read.approvers.items():
        for index, role in enumerate(row.roles):
            if role not in known:
                where = file.where(("approvers", name, "roles", index))
                what = f"no rule may be waived by {role!r}"
                yield faults.UNKNOWN_ROLE.at(where, what, suggestion(role, known))
        if row.public_key is not None:
            try:
                public_key(row.public_key)
            except ValueError as error:
                where = file.where(("approvers", name, "public_key"))
                fix = "Copy what `openssl pkey -in approver.pem -pubout` prints."
                yield faults.BAD_PROJECT_OWNERS.at(where, str(error), fix)
