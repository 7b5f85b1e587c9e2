"""Waivers: which count here and until when, which expire soon, and which change nothing."""

from __future__ import annotations

from collections.abc import Sequence

from planner.policy.document import instant
from planner.policy.waivers import SOON_DAYS, expiring
from planner.report.findings import told, waivers_not_counted, waivers_used
from planner.report.html.model import Column, Page, Reported, Section, Table, Tone, Value
from planner.report.words import approver_words, clean, days_left, roles_words
from planner.units import counted


def page(reported: Reported) -> Page:
    """Return the waivers; the page says as well that there are none."""
    made = (_used(reported), _expiring(reported), _not_counted(reported))
    sections = [section for section in made if section.table is not None]
    if not sections:
        nothing = "No waiver is used by this plan, none expires soon, and none was set aside."
        sections = [Section("waivers-none", "No waivers", (nothing,))]
    return Page("waivers", "Waivers", tuple(sections))


def _used(reported: Reported) -> Section:
    checked = reported.checked
    rows = []
    for waiver, items in waivers_used(told(checked)):
        what = sorted({f"{item.finding.rule_id} for {item.workload}" for item in items})
        rows.append(
            (
                waiver.id,
                ", ".join(what),
                days_left(waiver.expires, checked.at),
                waiver.expires,
                approver_words(waiver),
                clean(waiver.ticket),
                clean(waiver.reason),
            )
        )
    columns = (
        Column("waiver", "Waiver"),
        Column("waives", "Waives"),
        Column("left", "Left", "whole days"),
        Column("expires", "Expires"),
        Column("approved", "Approved by"),
        Column("ticket", "Ticket"),
        Column("reason", "Reason"),
    )
    caption = "Waivers that turn a denial of this plan into a warning"
    text = (f"This plan rests on {counted(len(rows), 'waiver')}.",)
    return _section("waivers-used", "In use", text, columns, rows, caption, "warn")


def _expiring(reported: Reported) -> Section:
    checked = reported.checked
    rows = [
        (
            waiver.id,
            waiver.rule,
            clean(waiver.subject),
            (waiver.expires - checked.at).days,
            instant(waiver.expires),
            clean(f"{waiver.approver} as {roles_words([waiver.approval.role])}"),
        )
        for waiver in expiring(checked.waivers, checked.at)
        if waiver.scope.get("stack") == checked.plan.stack
    ]
    columns = (
        Column("waiver", "Waiver"),
        Column("rule", "Rule"),
        Column("subject", "Subject"),
        Column("left", "Left", "whole days"),
        Column("expires", "Expires"),
        Column("approved", "Approved by"),
    )
    caption = f"Waivers of this stack that expire within {SOON_DAYS} days"
    text = ("When one expires, what it waives is denied again.",)
    return _section("waivers-expiring", "Soon to expire", text, columns, rows, caption, "warn")


def _not_counted(reported: Reported) -> Section:
    checked = reported.checked
    rows = [
        (clean(row.waiver), clean(row.reason))
        for row in waivers_not_counted(checked, told(checked))
    ]
    columns = (Column("waiver", "Waiver or file"), Column("reason", "Why it does not count"))
    caption = "Waivers that change nothing here, and files that are none"
    return _section("waivers-not-counted", "Not counted", (), columns, rows, caption, "")


def _section(
    id: str,
    title: str,
    text: tuple[str, ...],
    columns: tuple[Column, ...],
    rows: Sequence[tuple[Value, ...]],
    caption: str,
    tone: Tone,
) -> Section:
    table = Table(f"{id}.table", caption, columns, tuple(rows)) if rows else None
    return Section(id, title, text, table, tone=tone)
