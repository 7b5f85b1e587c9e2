"""The record of one run of the gates: one line that a reviewer can read a year later."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from planner.policy.document import digest, instant, plain
from planner.policy.engine import PolicyFacts
from planner.policy.verdicts import Finding, Verdict
from planner.policy.waivers import NO_WAIVERS, WaiverBook, expiring, liveness, used
from planner.secrets import REDACTED, redact

__all__ = [
    "REDACTED",
    "SCHEMA_VERSION",
    "Digests",
    "Origin",
    "policy_record",
    "redact",
    "told_findings",
]

SCHEMA_VERSION = 2


class Origin(NamedTuple):
    """Who ran it, on which commit, in which pipeline; ``run`` joins the records of one command."""

    actor: str
    commit: str | None = None
    pipeline_url: str | None = None
    run: str | None = None


class Digests(NamedTuple):
    """What the run rests on and leaves, as sha256: None is what there was none of.

    ``plan`` is the plan's evidence digest, ``capacity`` the one that an approval names,
    ``declared`` of the stack's files, ``archive`` of the archive's list of contents.
    """

    plan: str | None = None
    capacity: str | None = None
    declared: str | None = None
    catalog: str | None = None
    archive: str | None = None


def policy_record(
    *,
    stack: str,
    evaluated_at: dt.datetime,
    origin: Origin,
    documents: Sequence[Mapping[str, Any]],
    facts: PolicyFacts,
    data_digest: str | None = None,
    rules_disabled: Iterable[str] = (),
    verdict: Verdict,
    findings: Sequence[Finding],
    waivers: WaiverBook = NO_WAIVERS,
    digests: Digests | None = None,
    trace: bool = False,
) -> dict[str, Any]:
    """Return the record of a run, redacted, in a stable order of keys.

    ``documents`` are the questions that were asked, redacted; ``verdict`` is the run's own, which
    is not the worst finding: an option that is denied and loses fails nothing. Without
    ``trace`` it holds the findings of :func:`told_findings`. ``decision_id`` and
    ``previous`` are added as the line is appended (planner.policy.chain).
    """
    digests = digests or Digests()
    head = documents[0] if documents else {}
    baseline = next((row["baseline"] for row in documents if row.get("baseline")), None)
    used_ids = {found.waiver.id for found in findings if found.waiver}
    stale = {
        waiver.id: state
        for waiver in waivers.waivers
        if (state := liveness(waiver, evaluated_at)) != "live"
    }
    told = findings if trace else told_findings(findings, documents)
    body = {
        "schema_version": SCHEMA_VERSION,
        "evaluated_at": instant(evaluated_at),
        "actor": origin.actor,
        "commit": origin.commit,
        "pipeline_url": origin.pipeline_url,
        "run": origin.run,
        "stack": stack,
        "operation": head.get("operation"),
        "regimes": list(head.get("regimes", [])),
        "plan_digest": digests.plan,
        "capacity_digest": digests.capacity,
        "baseline_digest": baseline,
        "input_digest": digest(list(documents)),
        "declared_digest": digests.declared,
        "catalog_digest": digests.catalog,
        "archive_digest": digests.archive,
        "policy": {
            "engine": facts.engine,
            "engine_version": facts.engine_version,
            "bundle_digest": facts.bundle_digest,
            "revision": facts.revision,
            "signed": facts.signed,
            "data_digest": data_digest,
            "rule_count": facts.rule_count,
        },
        "rules_disabled": sorted(rules_disabled),
        "verdict": verdict,
        "counts": {
            "verdicts": _counts(found.verdict for found in findings),
            "raw_verdicts": _counts(found.raw_verdict for found in findings),
            "rules": _counts(found.rule_id for found in findings),
        },
        "waiver_owners_digest": waivers.owners_digest,
        "waivers_used": [plain(used(w)) for w in waivers.waivers if w.id in used_ids],
        "waivers_expiring_30d": [waiver.id for waiver in expiring(waivers, evaluated_at)],
        "waivers_not_live": stale,
        "waivers_rejected": [row._asdict() for row in waivers.rejected],
        "findings_told": "all" if trace else "of what was decided, and one of each kind",
        "findings": [plain(found) for found in told],
    }
    redacted: dict[str, Any] = redact(body)
    return redacted


def told_findings(
    findings: Sequence[Finding], documents: Sequence[Mapping[str, Any]]
) -> tuple[Finding, ...]:
    """Return the findings that a record tells without a trace, in their order.

    All on the plan, on chosen options, on pinned ones, and on the options of a workload
    that was left without one. Of the options that lost: the first finding of each rule
    and verdict for each workload, and every one that a waiver changed.
    """
    return tuple(_told(findings, documents))


def _told(findings: Sequence[Finding], documents: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    options = {row["id"]: row for asked in documents for row in asked.get("options", ())}
    decisions = [row for asked in documents for row in asked.get("decisions", ())]
    chosen = {(row.get("option") or {}).get("id") for row in decisions}
    decided = {row.get("workload") for row in decisions}
    seen: set[tuple[Any, ...]] = set()
    for found in findings:
        option = options.get(found.subject)
        if option is not None and found.subject not in chosen and found.waiver is None:
            kind = (option.get("workload"), found.rule_id, found.verdict)
            lost = option.get("workload") in decided and not option.get("pinned")
            if lost and kind in seen:
                continue
            seen.add(kind)
        yield found


def _counts(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))
