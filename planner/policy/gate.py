"""The gates: what OPA says about the options, the decided plan, and what is registered."""

from __future__ import annotations

import contextlib
import datetime as dt
import gc
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from planner import faults
from planner.errors import PolicyUnavailable
from planner.option import Option
from planner.policy.answer import Answer, worst
from planner.policy.sharing import Alike, share
from planner.policy.templates import Member
from planner.policy.verdicts import Finding, OptionVerdict
from planner.policy.waivers import NO_WAIVERS, SCOPE_KEYS, WaiverBook, apply_waivers, liveness


class Engine(Protocol):
    """Whatever answers a question completely or raises PolicyUnavailable."""

    def ask(self, document: Mapping[str, Any]) -> Answer:
        """Return the complete answer to one question."""


def gate_options(
    engine: Engine,
    document: Mapping[str, Any],
    options: Sequence[Option],
    waivers: WaiverBook = NO_WAIVERS,
) -> dict[str, OptionVerdict]:
    """Return an explicit verdict for each option, in the order of ``options``.

    One query decides about all of them, and one option stands for those that a rule cannot
    tell apart when the engine says what it reads. An option's verdict is the worst of its
    findings after waivers; an option without a finding is allowed because every rule was
    evaluated. Findings are written out when a verdict's are first asked for.
    """
    counts = Counter(option.id for option in options)
    repeated = sorted(id for id, count in counts.items() if count > 1)
    if repeated:
        what = f"options share an id, so no verdict is theirs: {repeated[:5]}"
        raise PolicyUnavailable(faults.BAD_QUESTION.at("policy gate", what))
    asked = {option["id"]: option for option in document["options"]}
    if set(asked) != set(counts) or len(document["options"]) != len(asked):
        what = "the document asks about other options than those to be judged"
        raise PolicyUnavailable(faults.BAD_QUESTION.at("policy gate", what))
    with _no_collection():
        question = share(document, getattr(engine, "reads", None))
    findings = engine.ask(question.document).findings
    waived = _live_subjects(document, waivers)

    verdicts: dict[str, OptionVerdict] = {}
    with _no_collection():
        for member, alike in question.spread(findings):
            said = [group for group in alike if group.templates]
            if not said:
                verdicts[member.id] = OptionVerdict(member.id, "allow", ())
            elif waived.isdisjoint((member.id, member.workload)):
                verdict = worst([group.verdict for group in said])
                verdicts[member.id] = OptionVerdict(member.id, verdict, partial(_own, said, member))
            else:
                own = _waived(_own(said, member), document, waivers, lambda subject: asked[subject])
                verdict = worst([found.verdict for found in own])
                verdicts[member.id] = OptionVerdict(member.id, verdict, own)
        return {option.id: verdicts[option.id] for option in options}


def gate_plan(
    engine: Engine, document: Mapping[str, Any], waivers: WaiverBook = NO_WAIVERS
) -> tuple[Finding, ...]:
    """Return every finding on the plan, worst first; an empty tuple is a pass."""
    decisions = {decision.get("workload"): decision for decision in document["decisions"]}

    def facts(subject: str) -> Mapping[str, Any]:
        decision = decisions.get(subject, {})
        return {**(decision.get("option") or {}), "workload": decision.get("workload")}

    return _waived(engine.ask(document).findings, document, waivers, facts)


def gate_resources(
    engine: Engine, document: Mapping[str, Any], waivers: WaiverBook = NO_WAIVERS
) -> tuple[Finding, ...]:
    """Return every finding on resources, worst first; an empty tuple is a pass.

    A waiver is about the workload that the plan has a resource for: what a resource says
    of itself could be anything.
    """
    planned: dict[tuple[str, str], Mapping[str, Any]] = {
        (row["type"], row["identity"]): row for row in document["planned"]
    }
    facts: dict[str, dict[str, Any]] = {}
    for row in document["resources"]:
        known = planned.get((row["type"], row["identity"]), {})
        about = {"workload": known.get("workload"), **known.get("scope", {})}
        # Two resources of one subject with unlike facts: a waiver for one must not hold for both.
        facts[row["subject"]] = about if facts.get(row["subject"], about) == about else {}
    return _waived(
        engine.ask(document).findings, document, waivers, lambda subject: facts.get(subject, {})
    )


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Pause the search for cycles: a hundred thousand verdicts hold none.

    Looking through all of them again and again takes as long as making them.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _own(said: Sequence[Alike], member: Member) -> tuple[Finding, ...]:
    """Return an option's own findings, the worst first."""
    own = [template.of(member) for group in said for template in group.templates]
    return tuple(sorted(own, key=_rank))


def _live_subjects(document: Mapping[str, Any], waivers: WaiverBook) -> frozenset[str]:
    """Return the options and workloads that live waivers name: no waiver touches another."""
    if not waivers.waivers:
        return frozenset()
    at = _moment_of(document)
    return frozenset(row.subject for row in waivers.waivers if liveness(row, at) == "live")


def _moment_of(document: Mapping[str, Any]) -> dt.datetime:
    return dt.datetime.fromisoformat(document["evaluated_at"])


def _waived(
    findings: Sequence[Finding],
    document: Mapping[str, Any],
    waivers: WaiverBook,
    facts_of: Callable[[str], Mapping[str, Any]],
) -> tuple[Finding, ...]:
    """Apply the waivers at the document's own moment, and put the worst first."""

    def scoped(subject: str) -> dict[str, Any]:
        facts = facts_of(subject)
        known = {key: facts[key] for key in ("workload", *SCOPE_KEYS) if key in facts}
        return {**known, "stack": document["stack"]}

    if findings and waivers.waivers:
        findings = apply_waivers(findings, waivers, _moment_of(document), scoped)
    return tuple(sorted(findings, key=_rank))


def _rank(found: Finding) -> tuple[int, str, str, str]:
    order = ("unavailable", "deny", "warn", "allow")
    return order.index(found.verdict), found.rule_id, found.subject, found.message
