"""Reading the engine's answer: every way in which it can be wrong blocks the run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from planner import faults
from planner.errors import PolicyUnavailable
from planner.policy.verdicts import Finding, Verdict

ORDER: tuple[Verdict, ...] = ("allow", "warn", "deny", "unavailable")
"""Verdicts from best to worst."""


@dataclass(frozen=True)
class Answer:
    """A complete answer: rules evaluated, findings, and a verdict for each option."""

    stage: str
    rule_ids: tuple[str, ...]
    findings: tuple[Finding, ...]
    options: dict[str, Verdict]
    engine_version: str
    bundle_revision: str | None


def worst(verdicts: Collection[Verdict]) -> Verdict:
    """Return the worst verdict, allow for none."""
    return max(verdicts, key=ORDER.index, default="allow")


def read_answer(
    body: Any,
    document: Mapping[str, Any],
    nonce: str,
    proof: str | None,
    required: Collection[str],
) -> Answer:
    """Return the answer to ``document``, or raise PolicyUnavailable saying what is wrong.

    ``required`` are the rules that must have been evaluated; ``proof`` is what only our
    own local server can compute from the nonce, None for a central server.
    """
    result = body.get("result") if isinstance(body, Mapping) else None
    if not isinstance(result, Mapping):
        raise _unusable(
            "the answer is undefined",
            "The server does not serve data.llm_capacity.main.answer: load the policies into it",
        )
    if result.get("ready") is not True:
        raise _unusable("the policies are not ready", "Check which bundle the server has loaded")
    if result.get("nonce") != nonce or (proof is not None and result.get("proof") != proof):
        raise _unusable(
            "the answer belongs to another question or comes from another server",
            "Ask again; check what listens on that address",
        )
    stage = document["stage"]
    if result.get("stage") != stage:
        raise _unusable(f"it is about stage {result.get('stage')!r}, not {stage!r}", "Ask again")
    rule_ids = _rule_ids(result, required)
    findings = _findings(result)
    strangers = sorted({found.rule_id for found in findings} - set(rule_ids))
    if strangers:
        raise _unusable(f"findings of rules not evaluated: {', '.join(strangers)}", _REPORT)
    options = _options(result, document, findings) if stage == "options" else {}
    provenance = body.get("provenance")
    provenance = provenance if isinstance(provenance, Mapping) else {}
    return Answer(
        stage=stage,
        rule_ids=rule_ids,
        findings=findings,
        options=options,
        engine_version=str(provenance.get("version") or "unknown"),
        bundle_revision=_revision(provenance),
    )


_REPORT = "The policies on the server are not consistent: load a bundle that passes its tests"


def _unusable(what: str, fix: str) -> PolicyUnavailable:
    return PolicyUnavailable(faults.UNUSABLE_ANSWER.at("policy engine", what, f"{fix}."))


def _rule_ids(result: Mapping[str, Any], required: Collection[str]) -> tuple[str, ...]:
    rule_ids, count = result.get("rule_ids"), result.get("rules_evaluated")
    if not isinstance(rule_ids, list) or not all(isinstance(rule, str) for rule in rule_ids):
        raise _unusable("the answer does not say which rules it rests on", _REPORT)
    if not rule_ids or count != len(set(rule_ids)):
        raise _unusable(f"rules_evaluated is {count!r} for {len(rule_ids)} rules", _REPORT)
    lost = sorted(set(required) - set(rule_ids))
    if lost:
        raise _unusable(
            f"rules of the manifest were not evaluated: {', '.join(lost)}",
            "Load the complete bundle into the server",
        )
    return tuple(rule_ids)


def _findings(result: Mapping[str, Any]) -> tuple[Finding, ...]:
    rows = result.get("findings")
    if not isinstance(rows, list):
        raise _unusable("the answer carries no list of findings", _REPORT)
    try:
        findings = tuple(Finding.model_validate(row) for row in rows)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise _unusable(f"a finding is malformed ({where}: {problem['msg']})", _REPORT) from error
    for found in findings:
        if found.verdict != found.raw_verdict or found.waiver or found.verdict == "allow":
            raise _unusable(f"a finding of {found.rule_id} waives itself", _REPORT)
    return findings


def _options(
    result: Mapping[str, Any], document: Mapping[str, Any], findings: tuple[Finding, ...]
) -> dict[str, Verdict]:
    options = result.get("options")
    whole = {option["id"] for option in document["options"]}
    parts = {
        rule: {option["id"] for option in part["options"]}
        for part in document.get("parts", ())
        for rule in part["rules"]
    }
    asked = whole.union(*parts.values())
    if not isinstance(options, Mapping) or set(options) != asked:
        given = set(options) if isinstance(options, Mapping) else set()
        odd = ", ".join(sorted(map(str, given ^ asked))[:5])
        raise _unusable(f"verdicts and options differ ({odd})", _REPORT)
    by_subject: dict[str, list[Verdict]] = {}
    unknown = set()
    for found in findings:
        by_subject.setdefault(found.subject, []).append(found.verdict)
        if found.subject not in parts.get(found.rule_id, whole):
            unknown.add(found.subject)
    if unknown:
        odd = ", ".join(sorted(unknown)[:5])
        raise _unusable(f"findings about unknown options: {odd}", _REPORT)
    verdicts: dict[str, Verdict] = {}
    for option, verdict in options.items():
        own = worst(by_subject.get(option, []))
        if verdict != own:
            raise _unusable(f"{option} is {verdict!r} but its findings say {own!r}", _REPORT)
        verdicts[option] = own
    return verdicts


def _revision(provenance: Mapping[str, Any]) -> str | None:
    bundles = provenance.get("bundles")
    rows = bundles.values() if isinstance(bundles, Mapping) else ()
    revisions = sorted(
        str(row["revision"]) for row in rows if isinstance(row, Mapping) and row.get("revision")
    )
    return ",".join(revisions) or None
