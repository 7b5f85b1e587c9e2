"""The two questions put to the engine, as plain JSON documents.

``options_document`` asks about options before any price is known, ``plan_document`` about
what was decided. Both hold only what rules need.
policies/schemas/ describes the same documents to ``opa check``.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel

from planner.catalog.beyond import own_places
from planner.catalog.rows import Concern
from planner.declared.terms import Agreement
from planner.option import Option
from planner.workload import Workload

SCHEMA_VERSION = 1

DECISION_KEYS = frozenset(
    {
        "workload",
        "owner",
        "signed_off_by",
        "data_asset",
        "tier",
        "classification",
        "residency",
        "baseline",
        "critical",
        "tokens_per_month",
        "register_id",
        "option",
        "deployment_key",
        "total_usd_per_month",
        "term_months",
        "horizon_months",
        "retires_on",
        "successor",
        "exit_plan",
        "latency_basis",
        "latency_objective",
        "capacity_confirmed",
    }
)
"""Keys of a decision.

``latency_objective`` (default true) false says that none is asked. ``baseline`` holds the
classification and the jurisdictions of the approved plan, null where that plan lacks the
workload. ``register_id`` is the entry of the arrangement that would serve it.
"""

Operation = Literal["preview", "update"]
"""What follows a pass: nothing but a report, or a change."""


class Terms(NamedTuple):
    """What both questions say of the run besides its subjects.

    ``regimes`` are names in policy data, ``agreements`` the papers that the stack declares.
    """

    operation: Operation = "preview"
    regimes: tuple[str, ...] = ()
    agreements: tuple[Agreement, ...] = ()


class Emitted(NamedTuple):
    """What would exist on clusters and be bought, as plain rows; see policies/schemas/plan.

    ``servers``, ``pools`` and ``egress`` are about self-hosting, ``purchases`` about terms.
    """

    servers: tuple[Mapping[str, Any], ...] = ()
    pools: tuple[Mapping[str, Any], ...] = ()
    egress: tuple[Mapping[str, Any], ...] = ()
    purchases: tuple[Mapping[str, Any], ...] = ()


NO_TERMS, NOTHING_EMITTED = Terms(), Emitted()


def options_document(
    workloads: Iterable[Workload],
    options: Sequence[Option],
    *,
    stack: str,
    as_of: dt.date,
    evaluated_at: dt.datetime,
    groups: Mapping[str, Collection[str]],
    deployment_keys: Mapping[str, str] | None = None,
    beyond_inference: Mapping[str, Mapping[Concern, Any]] | None = None,
    terms: Terms = NO_TERMS,
) -> dict[str, Any]:
    """Return the question about ``options``.

    ``groups`` maps named jurisdiction groups to their countries. ``deployment_keys`` maps
    option ids to the deployment that they would use; by default two options name the same
    one only when both pins spell out model, provider, region and deployment type.
    ``beyond_inference`` maps option ids to ``planner.catalog.beyond.beyond_inference_of``;
    an option without facts is asked about as not known, own machines excepted.
    """
    workloads = list(workloads)
    pins = {workload.name: workload.pin for workload in workloads}
    evaluations = {
        (workload.name, choice.name): choice.evaluation
        for workload in workloads
        for choice in workload.models
    }
    keys = deployment_keys or {}
    known = beyond_inference or {}
    once = _Once()

    def key_of(option: Option) -> str:
        pin = pins.get(option.workload)
        named = pin and None not in (pin.model, pin.provider, pin.region, pin.deployment_type)
        if option.id in keys or not named or option.kind == "self_hosted":
            return keys.get(option.id, option.id)
        parts = (option.provider, option.account, option.region, option.deployment_type)
        return "/".join(str(part) for part in (*parts, option.model))

    return {
        **head("options", stack, as_of, evaluated_at, terms),
        "workloads": {workload.name: _workload(workload, groups) for workload in workloads},
        "options": [
            {
                **{name: once.plain(getattr(option, name)) for name in Option.model_fields},
                "deployment_key": key_of(option),
                "evaluation": once.plain(evaluations.get((option.workload, option.model))),
                "beyond_inference": once.plain(known.get(option.id, own_places(option))),
            }
            for option in options
        ],
    }


def plan_document(
    decisions: Sequence[Mapping[str, Any]],
    *,
    stack: str,
    as_of: dt.date,
    evaluated_at: dt.datetime,
    budget_usd_per_month: float | None,
    total_usd_per_month: float | None,
    terms: Terms = NO_TERMS,
    emitted: Emitted = NOTHING_EMITTED,
    baseline: str | None = None,
) -> dict[str, Any]:
    """Return the question about a priced plan; a None total or cost is an unknown one.

    ``baseline`` is the digest of the approved plan that it is compared with, None where
    it is compared with none.

    A decision has the keys of ``DECISION_KEYS``. A key that is left out is not an error
    here: the rules that need it deny. A key that nobody knows is one, lest a misspelt
    name pass for an absent fact.
    """
    for decision in decisions:
        unknown = sorted(set(decision) - DECISION_KEYS)
        if unknown:
            raise ValueError(f"unknown keys of a decision: {', '.join(unknown)}")
    return {
        **head("plan", stack, as_of, evaluated_at, terms),
        "baseline": baseline,
        "budget_usd_per_month": plain(budget_usd_per_month),
        "total_usd_per_month": plain(total_usd_per_month),
        "decisions": [plain(decision) for decision in decisions],
        **{name: plain(rows) for name, rows in emitted._asdict().items()},
    }


def plain(value: Any) -> Any:
    """Return ``value`` as JSON types that read back the same everywhere.

    Models become objects, dates ISO text, sets sorted lists; whole floats become
    integers and others are rounded to six places; NaN and infinity are errors.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            if not math.isfinite(value):
                raise ValueError(f"{value} cannot be put to the policy engine")
            rounded = round(value, 6)
            return int(rounded) if rounded.is_integer() else rounded
        case BaseModel():
            return plain(value.model_dump())
        case dt.date():
            return value.isoformat()
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case set() | frozenset():
            return sorted(plain(item) for item in value)
        case list() | tuple():
            return [plain(item) for item in value]
        case _:
            raise TypeError(f"{type(value).__name__} cannot be put to the policy engine")


class _Once:
    """Makes the parts that many options have in common plain once, and shares them."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[Any, Any]] = {}
        self._known: dict[str, Any] = {}

    def plain(self, value: Any) -> Any:
        """Return ``plain(value)``; equal containers may be one object."""
        if value is None or isinstance(value, str | int | float):
            return plain(value)
        seen = self._seen.get(id(value))
        if seen is None:
            # Plain dictionaries have no hash; models and tuples of text are written out alike.
            key = repr(value)
            if key not in self._known:
                self._known[key] = plain(value)
            # The value is kept, lest another one gets its identity.
            seen = self._seen[id(value)] = (value, self._known[key])
        return seen[1]


def digest(document: Any) -> str:
    """Return the sha256 of a document's canonical JSON."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def instant(moment: dt.datetime) -> str:
    """Return a moment as ISO text in UTC; it must carry its time zone."""
    if moment.tzinfo is None:
        raise ValueError("evaluated_at needs a time zone")
    return moment.astimezone(dt.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def head(
    stage: str, stack: str, as_of: dt.date, evaluated_at: dt.datetime, terms: Terms
) -> dict[str, Any]:
    """Return what every question says of the run, whatever it asks about."""
    return {
        "schema_version": SCHEMA_VERSION,
        "stage": stage,
        "stack": stack,
        "as_of": as_of.isoformat(),
        "evaluated_at": instant(evaluated_at),
        "operation": terms.operation,
        "regimes": sorted(terms.regimes),
        "agreements": [plain(agreement) for agreement in terms.agreements],
    }


def _workload(workload: Workload, groups: Mapping[str, Collection[str]]) -> dict[str, Any]:
    declared = workload.residency.jurisdictions
    countries = {code for name in declared for code in groups.get(name, (name,))}
    return {
        "name": workload.name,
        "tier": workload.tier,
        "critical": workload.critical,
        "classification": workload.classification,
        "residency": {"jurisdictions": list(declared), "countries": sorted(countries)},
    }
