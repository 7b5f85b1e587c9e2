"""A difference as text: the verdict and the bill first, then what changes and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from planner.comparing.snapshot import Found
from planner.comparing.types import CapacityRow, PlanDiff
from planner.report.comparing.words import (
    ARROW,
    blast_counts,
    capacity_words,
    cells_of,
    changed,
    flip_words,
    headroom,
    memory,
    money_delta,
    moved_words,
    part_delta,
    place_words,
    row_status,
    short,
    side_usd,
    thing_words,
    throughput,
    unknown_words,
    usd,
    verdict_words,
)
from planner.report.words import clean


def diff_text(diff: PlanDiff) -> str:
    """Return the difference as text; one line says so where nothing differs."""
    verdict = f"verdict {changed(diff.old, diff.new, verdict_words)}"
    head = f"{diff.stack}: {diff.new.label} against {diff.old.label}; {verdict}"
    lines = [head]
    if diff.empty:
        return "\n".join([*lines, "  nothing differs", ""])
    sections: tuple[tuple[str, Iterable[str]], ...] = (
        ("Cost, USD a month", _cost(diff)),
        ("Capacity", _capacity(diff)),
        ("Decisions that flipped", (flip_words(row) for row in diff.flipped)),
        ("Findings and waivers", findings_lines(diff)),
        ("Residency", residency_lines(diff)),
        ("Blast radius", _blast(diff)),
        ("Assumptions that moved", (moved_words(row) for row in diff.assumptions)),
        ("Sides", _sides(diff)),
    )
    for title, found in sections:
        body = list(found)
        lines += ["", title, *(f"  {line}" for line in body)] if body else []
    return "\n".join(lines) + "\n"


def residency_lines(diff: PlanDiff) -> Iterator[str]:
    """Yield places that came or went, of the stack and of workloads, and changed protection."""
    yield from (place_words(row) for row in diff.residency.places)
    told = {(row.kind, row.name, row.change) for row in diff.residency.places}
    for row in diff.residency.moved:
        if (row.kind, row.name, row.change) not in told:
            yield place_words(row)
    for item in diff.residency.protection:
        yield f"{item.workload}: {item.field} {item.old} {ARROW} {item.new}"


def findings_lines(diff: PlanDiff) -> Iterator[str]:
    """Yield findings and waivers that are new, then those that are gone."""
    found = diff.findings
    yield from (f"new: {_finding(item)}" for item in found.new)
    yield from (f"gone: {_finding(item)}" for item in found.gone)
    for row in found.waivers_new:
        waives = ", ".join(row.waives)
        yield f"waiver begins: {row.waiver.id} for {waives}, until {row.waiver.expires}"
    for row in found.waivers_gone:
        yield f"waiver ends: {row.waiver.id} for {', '.join(row.waives)}"


def _finding(item: Found) -> str:
    finding = item.finding
    waived = f", waived by {finding.waiver.id}" if finding.waiver else ""
    return (
        f"{finding.verdict.upper()} {finding.rule_id} {item.workload} [{finding.severity}]: "
        f"{clean(finding.message)}{waived}"
    )


def _cost(diff: PlanDiff) -> Iterator[str]:
    cost = diff.cost
    total = cost.total
    old, new = side_usd(total.old, cost.unknown_old), side_usd(total.new, cost.unknown_new)
    yield f"total {old} {ARROW} {new} ({part_delta(cost, total)})"
    parts = (
        ("fixed", cost.fixed),
        ("usage", cost.usage),
        ("engineering", cost.engineering),
        ("of it committed for a term", cost.committed),
        ("besides, already paid for", cost.sunk),
    )
    for name, money in parts:
        if money.changed or money.new:
            change = part_delta(cost, money)
            yield f"  {name} {usd(money.old)} {ARROW} {usd(money.new)} ({change})"
    for row in cost.rows:
        if row.total.changed:
            yield (
                f"{row.workload} {usd(row.total.old)} {ARROW} {usd(row.total.new)} "
                f"({money_delta(row.total)}): fixed {money_delta(row.fixed)}, "
                f"usage {money_delta(row.usage)}"
            )
    yield from unknown_words(cost)


def _capacity(diff: PlanDiff) -> Iterator[str]:
    for row in diff.capacity:
        if row.changed:
            yield from _capacity_row(row)
    same = sum(not row.changed for row in diff.capacity)
    if same:
        yield f"{same} unchanged"


def _capacity_row(row: CapacityRow) -> Iterator[str]:
    status = row_status(row)
    yield f"{row.workload}{f' ({status})' if status else ''}: {cells_of(row, capacity_words)}"
    yield f"  peak tokens/s served of demanded: {cells_of(row, throughput)}"
    if any(size and size.headroom is not None for size in (row.old, row.new)):
        yield f"  headroom over the peak / with a node lost: {cells_of(row, headroom)}"
    if any(size and size.memory_before_kv is not None for size in (row.old, row.new)):
        yield f"  GPU memory taken before the KV cache: {cells_of(row, memory)}"


def _blast(diff: PlanDiff) -> Iterator[str]:
    blast = diff.blast_radius
    if blast.rows:
        yield blast_counts(blast)
    yield from (thing_words(row) for row in blast.rows)
    yield from (f"cannot be undone: {line}" for line in blast.warnings)


def _sides(diff: PlanDiff) -> Iterator[str]:
    for name, side in (("old", diff.old), ("new", diff.new)):
        if side.kind == "nothing":
            yield f"{name}: {side.label}"
            continue
        yield (
            f"{name}: {side.label}, prices as of {side.as_of}, policies "
            f"{short(side.inputs.policy_digest)}, capacity digest {short(side.capacity_digest)}"
        )
