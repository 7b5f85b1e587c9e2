"""A difference as Markdown: every part whole, for a page or a folded section."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from planner.comparing.types import CapacityRow, CostRow, PlanDiff
from planner.report.comparing.text import findings_lines, residency_lines
from planner.report.comparing.words import (
    blast_counts,
    capacity_words,
    cells_of,
    flip_words,
    hardware,
    headroom,
    memory,
    money_delta,
    moved_words,
    part_delta,
    row_status,
    scale,
    short,
    side_usd,
    thing_words,
    throughput,
    unknown_words,
    usd,
    verdict_words,
)
from planner.report.escape import escaped, table

CAPACITY_HEAD = (
    "workload",
    "region",
    "GPU or type",
    "size",
    "peak tokens/s served of demanded",
    "headroom / node lost",
    "memory before KV",
)
COST_HEAD = ("USD a month", "old", "new", "change")


def diff_markdown(diff: PlanDiff) -> str:
    """Return the whole difference; its first line is a hidden mark to find it by."""
    lines = [
        f"<!-- llm-capacity diff: {diff.stack} -->",
        f"**{escaped(diff.stack)}: {escaped(diff.new.label)} against {escaped(diff.old.label)}** "
        f"- {verdict_words(diff.old)} to {verdict_words(diff.new)}",
    ]
    if diff.empty:
        return "\n".join([*lines, "", "Nothing differs.", ""])
    lines += whole(diff)
    return "\n".join(lines) + "\n"


def whole(diff: PlanDiff, shown: int = 0) -> Iterator[str]:
    """Yield every part of a difference, each under its heading.

    A table of no more workloads than ``shown`` is left out: it stands whole elsewhere.
    """
    if not shown or len(_repriced(diff)) > shown:
        yield from ("", "### Cost", "", *table(COST_HEAD, cost_cells(diff)))
        for line in unknown_words(diff.cost):
            yield from ("", escaped(line))
    rows = [row for row in diff.capacity if row.changed]
    if rows:
        yield from ("", "### Capacity", "")
        if not shown or len(rows) > shown:
            yield from (*table(CAPACITY_HEAD, capacity_cells(rows)), "")
        yield from bullets(f"{row.workload}: {cells_of(row, capacity_words)}" for row in rows)
    yield from _section("Decisions that flipped", (flip_words(row) for row in diff.flipped))
    yield from _section("Findings and waivers", findings_lines(diff))
    yield from _section("Residency", residency_lines(diff))
    blast = diff.blast_radius
    if blast.rows:
        yield from ("", f"### Blast radius: {blast_counts(blast)}", "")
        yield from bullets(blast_lines(diff))
    yield from _section("Assumptions that moved", (moved_words(row) for row in diff.assumptions))
    yield from _section("Sides", side_lines(diff))


def cost_cells(diff: PlanDiff, shown: int | None = None) -> list[tuple[str, ...]]:
    """Return the rows of the cost table: totals, then workloads whose cost changes.

    ``shown`` limits the workloads to those that change most.
    """
    cost = diff.cost
    total = cost.total
    cells: list[tuple[str, ...]] = [
        (
            "**total**",
            side_usd(total.old, cost.unknown_old),
            side_usd(total.new, cost.unknown_new),
            f"**{part_delta(cost, total)}**",
        )
    ]
    parts = (
        ("fixed", cost.fixed),
        ("usage", cost.usage),
        ("engineering", cost.engineering),
        ("committed for a term (in fixed)", cost.committed),
    )
    for name, money in parts:
        if money.changed or money.new:
            cells.append((name, usd(money.old), usd(money.new), part_delta(cost, money)))
    rows = _repriced(diff)
    if shown is not None:
        # What is not known may be anything: it comes first.
        rows.sort(key=lambda row: (row.total.delta is not None, -abs(row.total.delta or 0.0)))
        rows = rows[:shown]
    for row in rows:
        amounts = (usd(row.total.old), usd(row.total.new), money_delta(row.total))
        cells.append((escaped(row.workload), *amounts))
    return cells


def capacity_cells(rows: Sequence[CapacityRow]) -> list[tuple[str, ...]]:
    """Return the rows of the capacity table, old -> new in each cell."""
    return [
        (
            escaped(row.workload + (f" ({status})" if (status := row_status(row)) else "")),
            escaped(cells_of(row, lambda size: size.region)),
            escaped(cells_of(row, hardware)),
            escaped(cells_of(row, scale)),
            escaped(cells_of(row, throughput)),
            escaped(cells_of(row, headroom)),
            escaped(cells_of(row, memory)),
        )
        for row in rows
    ]


def blast_lines(diff: PlanDiff) -> Iterator[str]:
    """Yield what cannot be undone, then what is destroyed, replaced, resized and made."""
    yield from (f"cannot be undone: {line}" for line in diff.blast_radius.warnings)
    yield from (thing_words(row) for row in diff.blast_radius.rows)


def side_lines(diff: PlanDiff) -> Iterator[str]:
    """Yield where each side came from, and what it rests on."""
    for name, side in (("old", diff.old), ("new", diff.new)):
        if side.kind == "nothing":
            yield f"{name}: {side.label}"
            continue
        yield (
            f"{name}: {side.label}, prices as of {side.as_of}; digests: capacity "
            f"{side.capacity_digest}, evidence {side.evidence_digest}, policies "
            f"{side.inputs.policy_digest}, catalog {short(side.inputs.catalog_digest)}"
        )


def bullets(lines: Iterable[str]) -> Iterator[str]:
    """Yield a list item for each line."""
    yield from (f"- {escaped(line)}" for line in lines)


def _repriced(diff: PlanDiff) -> list[CostRow]:
    return [row for row in diff.cost.rows if row.total.changed]


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    body = list(bullets(lines))
    if body:
        yield from ("", f"### {title}", "", *body)
