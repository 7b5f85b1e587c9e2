"""The second gate on what exists: an exported state, without an engine or a cloud."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner import faults
from planner.errors import InputError, PolicyDenied
from planner.pack.judge import Judge
from planner.policy.answer import worst
from planner.policy.resources import RawResource, Row, row_of
from planner.policy.verdicts import Finding, Verdict


@dataclass(frozen=True)
class Audit:
    """What the policy finds on a state, and the plan that the state was held against."""

    stack: str
    resources: int
    findings: tuple[Finding, ...]
    capacity_digest: str

    @property
    def verdict(self) -> Verdict:
        """The worst of the findings."""
        return worst([found.verdict for found in self.findings])


def audit_state(path: Path, root: Path, *, at: dt.datetime | None = None) -> Audit:
    """Hold an exported state against the plan of its stack in project folder ``root``.

    Secrets in the state stay encrypted: nothing here needs to read one. Raises InputError
    for a file that is no state of one stack, PolicyDenied where the plan itself is refused,
    and whatever planning raises.
    """
    raw = list(resources_of(_state(path), str(path)))
    names = sorted({item.urn.split("::")[0].removeprefix("urn:pulumi:") for item in raw})
    if not names:
        what = "it holds nothing yet: the stack was never applied, or has been destroyed"
        raise InputError([faults.EMPTY_STATE.at(str(path), what)])
    if len(names) != 1:
        told = ", ".join(names)
        raise InputError([faults.BAD_STATE.at(str(path), f"it holds resources of {told}")])
    rows = rows_of(raw)
    with Judge(root, names[0], at=at) as judge:
        if judge.refusal is not None:
            what = "there is no plan to hold the state against"
            refusal = str(judge.refusal).splitlines()
            raise PolicyDenied(faults.STATE_DENIED.at(str(path), what), refusal)
        found = judge.findings(rows, complete=True)
        return Audit(names[0], len(rows), found, judge.plan.capacity_digest)


def rows_of(raw: list[RawResource]) -> tuple[Row, ...]:
    """Return the rows of what is registered besides Pulumi's own bookkeeping."""
    return tuple(row_of(item) for item in raw if not item.type.startswith("pulumi:"))


def resources_of(state: Mapping[str, Any], label: str) -> Iterator[RawResource]:
    """Yield the resources of a deployment document: what is to stay, by its inputs.

    What a program only looks up (``external``) belongs to somebody else.
    """
    items = state.get("resources", [])
    if not isinstance(items, list):
        raise InputError([faults.BAD_STATE.at(label, "its resources are no list")])
    try:
        inputs = {item["urn"]: item.get("inputs") or {} for item in items}
        for item in items:
            if item.get("delete") or item.get("external"):
                continue
            provider = str(item.get("provider") or "").rpartition("::")[0]
            yield RawResource(
                urn=item["urn"],
                type=item["type"],
                name=item["urn"].split("::")[-1],
                properties=item.get("inputs") or {},
                provider=inputs.get(provider),
            )
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            [faults.BAD_STATE.at(label, f"a resource is malformed ({error!r})")]
        ) from error


def _state(path: Path) -> Mapping[str, Any]:
    """Read an export, or the checkpoint file of a local backend."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        found = document.get("deployment") or document["checkpoint"]["latest"]
        version = document.get("version")
    except OSError as error:
        what = error.strerror or "it cannot be read"
        raise InputError([faults.BAD_STATE.at(str(path), what)]) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError([faults.BAD_STATE.at(str(path), "it is no exported state")]) from error
    if version != 3 or not isinstance(found, Mapping):
        raise InputError(
            [faults.BAD_STATE.at(str(path), f"version {version!r} of a state is not known")]
        )
    return found
