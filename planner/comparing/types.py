"""What differs between two plans, as values: every part of it, old beside new."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import computed_field

from planner.base import Frozen
from planner.comparing.size import Size
from planner.comparing.snapshot import Found
from planner.decision import Status
from planner.plan import Inputs
from planner.policy.verdicts import UsedWaiver, Verdict
from planner.workload import Classification

SCHEMA_VERSION = 1
"""Of a difference's JSON document, by the rule of planner.plan_reading."""

CENT = 0.005
"""USD: amounts that are closer are the same in print."""

Presence = Literal["added", "removed", "both"]
Action = Literal["create", "resize", "update", "replace", "destroy"]


class Side(Frozen):
    """Which plan stood on one side. ``label`` says where it came from, as the user named it."""

    label: str
    kind: Literal["plan", "deployed", "nothing"]
    as_of: str
    verdict: Verdict
    infeasible: tuple[str, ...]
    capacity_digest: str
    evidence_digest: str
    inputs: Inputs


class CapacityRow(Frozen):
    """A workload's capacity on both sides; None where it is absent or has no decision."""

    workload: str
    presence: Presence
    old_status: Status | None
    new_status: Status | None
    old: Size | None
    new: Size | None

    @property
    def changed(self) -> bool:
        """Return whether what serves the workload is another, or of another size."""
        return (self.presence, self.old_status, self.old) != ("both", self.new_status, self.new)


class Money(Frozen):
    """An amount on both sides, USD a month. ``delta`` is None where one side is not known."""

    old: float | None
    new: float | None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def delta(self) -> float | None:
        """Return new less old."""
        return None if self.old is None or self.new is None else self.new - self.old

    @computed_field  # type: ignore[prop-decorator]
    @property
    def share(self) -> float | None:
        """Return the change as a share of the old amount; None from nothing, or not known."""
        return self.delta / self.old if self.old and self.delta is not None else None

    @property
    def changed(self) -> bool:
        """Return whether there is a change, or none can be told."""
        if self.old is None or self.new is None:
            return self.old is not self.new
        return abs(self.new - self.old) >= CENT


class CostRow(Frozen):
    """A workload's cost: nothing where it is absent, not known (None) where it is undecided."""

    workload: str
    fixed: Money
    usage: Money
    total: Money


class CostDiff(Frozen):
    """Cost of the stack, USD a month.

    ``fixed``, ``usage``, ``engineering`` and ``total`` are the plans' own totals, of decided
    workloads. ``total_known`` is False where a workload has no known cost on a side: then the
    total's change is no saving and no increase, and only ``rows`` of both sides compare.
    """

    fixed: Money
    usage: Money
    engineering: Money
    total: Money
    committed: Money
    sunk: Money
    unknown_old: tuple[str, ...]
    unknown_new: tuple[str, ...]
    unpriced_options_old: int
    unpriced_options_new: int
    price_dates: tuple[str, ...]
    rows: tuple[CostRow, ...]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def total_known(self) -> bool:
        """Return whether every workload's cost is known on both sides."""
        return not (self.unknown_old or self.unknown_new)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def delta(self) -> float | None:
        """Return the change of the total; None where a workload's cost is not known."""
        return self.total.delta if self.total_known else None


class PlaceRow(Frozen):
    """A region or jurisdiction where prompts begin or cease to be processed."""

    kind: Literal["region", "jurisdiction"]
    name: str
    change: Literal["added", "removed"]
    classes: tuple[Classification, ...]
    workloads: tuple[str, ...]


class ProtectionRow(Frozen):
    """A declared protection of a workload that changed."""

    workload: str
    field: Literal["classification", "residency"]
    old: str
    new: str


class ResidencyDiff(Frozen):
    """Where prompts are processed, stack-wide and by workload, and what was declared of it.

    ``places`` tells places new to the stack or gone from it, ``moved`` those of a workload.
    """

    places: tuple[PlaceRow, ...]
    moved: tuple[PlaceRow, ...]
    protection: tuple[ProtectionRow, ...]

    @property
    def classes(self) -> tuple[Classification, ...]:
        """Return the classes of data that any of it touches."""
        return tuple(sorted({name for row in (*self.places, *self.moved) for name in row.classes}))


class BlastRow(Frozen):
    """One thing that will be made, changed or destroyed; ``what`` says which fields."""

    action: Action
    kind: Literal["account", "node pool", "server", "deployment", "purchase", "cluster"]
    name: str
    what: str = ""


class BlastRadius(Frozen):
    """What the change does to what exists. ``warnings`` are what cannot be undone."""

    rows: tuple[BlastRow, ...]
    warnings: tuple[str, ...]


class Moved(Frozen):
    """Something that the plan rests on and that is not as before.

    ``about`` is the workload, or "stack". ``share`` is the relative change of a number, None
    for anything else and from nothing.
    """

    about: str
    what: str
    old: Any
    new: Any
    share: float | None = None


class FlippedDecision(Frozen):
    """A workload whose option or status changed, and why the old one is no longer it."""

    workload: str
    old_status: Status
    new_status: Status
    old_option: str | None
    new_option: str | None
    lost: str | None
    why: str


class WaiverRow(Frozen):
    """A waiver that began or ceased to count, and the rules and workloads it is used for."""

    waiver: UsedWaiver
    waives: tuple[str, ...]


class FindingsDiff(Frozen):
    """Findings and waivers that are new, or gone."""

    new: tuple[Found, ...]
    gone: tuple[Found, ...]
    waivers_new: tuple[WaiverRow, ...]
    waivers_gone: tuple[WaiverRow, ...]


class PlanDiff(Frozen):
    """How one plan differs from another."""

    schema_version: int = SCHEMA_VERSION
    stack: str
    old: Side
    new: Side
    capacity: tuple[CapacityRow, ...]
    cost: CostDiff
    residency: ResidencyDiff
    blast_radius: BlastRadius
    assumptions: tuple[Moved, ...]
    flipped: tuple[FlippedDecision, ...]
    findings: FindingsDiff

    @computed_field  # type: ignore[prop-decorator]
    @property
    def same_capacity(self) -> bool:
        """Return whether both plans lead to the same things: accounts, pools, deployments."""
        return self.old.capacity_digest == self.new.capacity_digest

    @computed_field  # type: ignore[prop-decorator]
    @property
    def same_findings(self) -> bool:
        """Return whether the policy says the same of both, waivers included."""
        found = self.findings
        same = not (found.new or found.gone or found.waivers_new or found.waivers_gone)
        return same and self.old.verdict == self.new.verdict

    @computed_field  # type: ignore[prop-decorator]
    @property
    def empty(self) -> bool:
        """Return whether nothing that is compared differs."""
        cost, residency = self.cost, self.residency
        money = (cost.fixed, cost.usage, cost.engineering, cost.total, cost.committed, cost.sunk)
        return not (
            any(row.changed for row in self.capacity)
            or any(item.changed for item in money)
            or any(row.total.changed for row in cost.rows)
            or cost.unknown_old != cost.unknown_new
            or residency.places
            or residency.moved
            or residency.protection
            or self.blast_radius.rows
            or self.assumptions
            or self.flipped
            or not self.same_capacity
            or not self.same_findings
        )
