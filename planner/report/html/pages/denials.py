"""Every finding that the verdict rests on, rule by rule, and what policy ruled out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from planner.policy.verdicts import Finding
from planner.report.check import counts_words
from planner.report.findings import STOPPING, Told, citation_words, told
from planner.report.html.model import Column, Fact, Page, Reported, Section, Table, Tone
from planner.report.html.words import anchor
from planner.report.words import clean, value_words, waivable_words
from planner.units import counted

_WORDS = {"deny": "Denied", "unavailable": "Could not be told", "warn": "Warning", "allow": "Fine"}


def page(reported: Reported) -> Page:
    """Return the findings; the page is there as well where nothing was found."""
    found = told(reported.checked)
    sections = [_summary(reported, found)]
    for number, same in enumerate(_groups(found), start=1):
        sections.append(_rule(number, same))
    if ruled_out := _ruled_out(reported):
        sections.append(ruled_out)
    return Page("denials", "Denials and warnings", tuple(sections))


def _summary(reported: Reported, found: Sequence[Told]) -> Section:
    rules = reported.checked.rules
    silent = len({rule.id for rule in rules} - {item.finding.rule_id for item in found})
    text = [f"{counts_words(found)}."]
    if rules:
        text.append(
            f"{counted(len(rules), 'rule')} judged; {silent} of them found nothing on what "
            "this plan rests on."
        )
    if not found:
        text.append("The policy found nothing to deny and nothing to warn of.")
    return Section("findings", "What the policy says", tuple(text))


def _groups(found: Sequence[Told]) -> list[list[Told]]:
    """Return findings that differ only in their subject together, in the order told."""
    groups: dict[tuple[str, ...], list[Told]] = {}
    for item in found:
        finding = item.finding
        key = (
            finding.verdict,
            finding.rule_id,
            finding.title,
            finding.severity,
            citation_words(finding),
            finding.remedy,
            waivable_words(finding),
        )
        groups.setdefault(key, []).append(item)
    return list(groups.values())


_COLUMNS = (
    Column("workload", "Workload"),
    Column("why", "Why"),
    Column("observed", "Observed"),
    Column("expected", "Expected"),
    Column("subject", "Subject"),
    Column("file", "File"),
)


def _rule(number: int, same: Sequence[Told]) -> Section:
    finding = same[0].finding
    verdict = "Waived" if finding.waiver is not None else _WORDS[finding.verdict]
    id = anchor("finding", str(number), finding.rule_id)
    table = Table(
        f"{id}.table",
        f"What {finding.rule_id} found",
        _COLUMNS,
        tuple(
            (
                item.workload,
                _why(item.finding),
                value_words(item.finding.observed),
                value_words(item.finding.expected),
                clean(item.finding.subject),
                item.file,
            )
            for item in same
        ),
    )
    return Section(
        id,
        f"{verdict}: {finding.rule_id} {clean(finding.title)}",
        (),
        table,
        facts=(
            Fact("What to do", clean(finding.remedy)),
            Fact("Who can waive", waivable_words(finding)),
            Fact("Severity", finding.severity),
            Fact("Rests on", citation_words(finding)),
        ),
        tone=_tone(finding),
    )


def _why(finding: Finding) -> str:
    """Return the message without the option's long id, which has a column of its own."""
    message = clean(finding.message)
    return message.removeprefix(f"{clean(finding.subject)}: ")


def _tone(finding: Finding) -> Tone:
    if finding.verdict in STOPPING:
        return "bad"
    return "warn" if finding.verdict == "warn" else "good"


def _ruled_out(reported: Reported) -> Section | None:
    """Return which rules keep how many options of how many workloads out."""
    options: Counter[str] = Counter()
    workloads: Counter[str] = Counter()
    titles: dict[str, str] = {}
    for decision in reported.checked.plan.decisions:
        barring: set[str] = set()
        for outcome in decision.others:
            rules = {f.rule_id: f.title for f in outcome.findings if f.verdict in STOPPING}
            titles |= rules
            options.update([*rules])
            barring |= set(rules)
        workloads.update(barring)
    if not options:
        return None

    def rows() -> Iterator[tuple[str, str, int, int]]:
        for rule in sorted(options):
            yield rule, clean(titles[rule]), options[rule], workloads[rule]

    table = Table(
        "ruled-out-table",
        "Options that policy ruled out before price, by rule",
        (
            Column("rule", "Rule"),
            Column("title", "What it asks"),
            Column("options", "Options"),
            Column("workloads", "Workloads"),
        ),
        tuple(rows()),
    )
    text = ("An option that several rules bar counts once for each of them.",)
    return Section("ruled-out", "What policy ruled out before price", text, table)
