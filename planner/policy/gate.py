"""The two gates: what OPA says about the options, and about the decided plan."""

from __future__ import annotations

import contextlib
import datetime as dt
import gc
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from planner.errors import PolicyUnavailable
from planner.options import Option
from planner.policy.answer import Answer, worst
from planner.policy.sharing import share
from planner.policy.verdicts import Finding, OptionVerdict
from planner.policy.waivers import NO_WAIVERS, SCOPE_KEYS, WaiverBook, apply_waivers


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

    One query decides about all of them, and one option stands for those that the rules
    cannot tell apart when the engine says what they read. An option's verdict is the worst
    of its findings after waivers; an option without a finding is allowed because every rule
    was evaluated.
    """
    counts = Counter(option.id for option in options)
    repeated = sorted(id for id, count in counts.items() if count > 1)
    if repeated:
        raise PolicyUnavailable(f"options share an id, so no verdict is theirs: {repeated[:5]}")
    asked = {option["id"]: option for option in document["options"]}
    if set(asked) != set(counts) or len(document["options"]) != len(asked):
        raise PolicyUnavailable("the document asks about other options than those to be judged")
    question = share(document, getattr(engine, "reads", None))
    findings = engine.ask(question.document).findings

    def verdict_on(id: str, found: Sequence[Finding]) -> OptionVerdict:
        own = _waived(found, document, waivers, lambda subject: asked[subject])
        return OptionVerdict(
            option_id=id, verdict=worst([found.verdict for found in own]), findings=own
        )

    with _no_collection():
        spread = question.spread(findings)
        return {option.id: verdict_on(option.id, spread.get(option.id, ())) for option in options}


def gate_plan(
    engine: Engine, document: Mapping[str, Any], waivers: WaiverBook = NO_WAIVERS
) -> tuple[Finding, ...]:
    """Return every finding on the plan, worst first; an empty tuple is a pass."""
    decisions = {decision.get("workload"): decision for decision in document["decisions"]}

    def facts(subject: str) -> Mapping[str, Any]:
        decision = decisions.get(subject, {})
        return {**(decision.get("option") or {}), "workload": decision.get("workload")}

    return _waived(engine.ask(document).findings, document, waivers, facts)


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Pause the search for cycles: hundreds of thousands of findings hold none.

    Looking through all of them again and again takes as long as making them.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _waived(
    findings: Sequence[Finding],
    document: Mapping[str, Any],
    waivers: WaiverBook,
    facts_of: Callable[[str], Mapping[str, Any]],
) -> tuple[Finding, ...]:
    """Apply the waivers at the document's own moment, and put the worst first."""
    if not findings:
        return ()

    def scoped(subject: str) -> dict[str, Any]:
        facts = facts_of(subject)
        known = {key: facts[key] for key in ("workload", *SCOPE_KEYS) if key in facts}
        return {**known, "stack": document["stack"]}

    if waivers.waivers:
        at = dt.datetime.fromisoformat(document["evaluated_at"])
        findings = apply_waivers(findings, waivers, at, scoped)
    return tuple(sorted(findings, key=_rank) if len(findings) > 1 else findings)


def _rank(found: Finding) -> tuple[int, str, str, str]:
    order = ("unavailable", "deny", "warn", "allow")
    return order.index(found.verdict), found.rule_id, found.subject, found.message
