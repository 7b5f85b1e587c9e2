"""A decision asked again: the archived policies, questions and waivers, at the recorded time.

It needs the archive and an OPA, and neither the stack's folder nor the repository. What is
not the record's own is never run: a forged archive is told as such, and nothing is asked.
"""

from __future__ import annotations

import datetime as dt
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner import faults
from planner.base import Frozen
from planner.errors import InputError
from planner.evidence.archive import POLICIES, WAIVERS, raw_findings
from planner.evidence.comparing import Difference, differences_of
from planner.evidence.reading import Found, Kept, find, open_archive
from planner.evidence.run import Judged
from planner.evidence.verifying import Check, checks_of, policy_check
from planner.option import Option
from planner.policy.engine import PolicyEngine, PolicyFacts
from planner.policy.gate import gate_options, gate_plan
from planner.policy.record import SCHEMA_VERSION, Digests, Origin, policy_record
from planner.policy.verdicts import Finding, OptionVerdict, Verdict, run_verdict
from planner.policy.waivers import WaiverBook

TIMEOUT_SECONDS = 120.0


class Replay(Frozen):
    """The outcome: ``verdict`` is None where the archive was not fit to be asked."""

    decision_id: str
    stack: str
    evaluated_at: str
    recorded_verdict: str
    verdict: Verdict | None
    checks: tuple[Check, ...]
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]

    @property
    def stands(self) -> bool:
        """Whether the evidence is whole and the same question gets the same answer."""
        whole = all(check.state != "broken" for check in self.checks)
        return whole and self.verdict is not None and not self.differences


@dataclass(frozen=True)
class _Answered:
    """What the gates said this time."""

    options: dict[str, OptionVerdict]
    plan: tuple[Finding, ...]
    judged: Judged

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Every finding, those on options first."""
        own = (found for verdict in self.options.values() for found in verdict.findings)
        return (*own, *self.plan)


def replay(
    source: Path | str,
    *,
    archive: Path | None = None,
    decision_id: str | None = None,
    public_key: Path | None = None,
    opa: str | None = None,
    timeout_seconds: float = TIMEOUT_SECONDS,
) -> Replay:
    """Verify a record and its archive, ask again, and compare; see planner.evidence.reading.

    With ``public_key`` an attestation must lie in the archive or beside it, and be that
    key's. Raises InputError for what cannot be read and PolicyUnavailable when OPA gives
    no complete answer.
    """
    found = find(source, archive, decision_id)
    record = found.record
    if record.get("schema_version") != SCHEMA_VERSION:
        what = f"a record of version {record.get('schema_version')!r}"
        fix = f"Records of version {SCHEMA_VERSION} can be replayed."
        raise InputError([faults.RECORD_UNREADABLE.at(str(source)[:200], what, fix)])
    kept = open_archive(found.archive)
    try:
        return _replay(found, kept, public_key, opa, timeout_seconds)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        # Whoever forges a record can leave out whatever is read of it.
        what = f"record or archive lack what a run of this version leaves ({error!r})"
        raise InputError(
            [faults.RECORD_UNREADABLE.at(str(found.archive), what, "Use another copy.")]
        ) from None


def _replay(
    found: Found, kept: Kept, public_key: Path | None, opa: str | None, timeout_seconds: float
) -> Replay:
    record = found.record
    checks = checks_of(found, kept, public_key)
    notes: list[str] = []
    verdict: Verdict | None = None
    differences: tuple[Difference, ...] = ()
    if all(check.state != "broken" for check in checks if check.name != "chain"):
        with tempfile.TemporaryDirectory(prefix="llm-capacity-replay-") as folder:
            policies = _policies(kept, Path(folder))
            checks.append(policy_check(policies, record))
            if checks[-1].state != "broken":
                answered = _ask(kept, policies, opa, timeout_seconds)
                verdict = _verdict(kept, answered)
                again = _again(kept, record, answered, verdict)
                raw = raw_findings(answered.findings)
                differences = tuple(differences_of(record, again, kept.beside["findings"], raw))
                notes = list(_notes(record, answered.judged.facts))
    return Replay(
        decision_id=record["decision_id"],
        stack=str(record.get("stack")),
        evaluated_at=str(record.get("evaluated_at")),
        recorded_verdict=str(record.get("verdict")),
        verdict=verdict,
        checks=tuple(checks),
        differences=differences,
        notes=tuple(notes),
    )


def _policies(kept: Kept, folder: Path) -> Path:
    for name, content in kept.inside.items():
        if name.startswith(f"{POLICIES}/"):
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    return folder / POLICIES


def _ask(kept: Kept, policies: Path, opa: str | None, timeout_seconds: float) -> _Answered:
    book = WaiverBook.model_validate_json(kept.inside[WAIVERS])
    options = kept.document("options")
    # The gate knows options by their ids; all else about them is in the document.
    named = [Option.model_construct(**{"id": row["id"]}) for row in options["options"]]
    with PolicyEngine(timeout_seconds=timeout_seconds, policies=policies, opa=opa) as engine:
        verdicts = gate_options(engine, options, named, book)
        found = gate_plan(engine, kept.document("plan"), book)
        return _Answered(
            options=verdicts,
            plan=found,
            judged=Judged.by(engine),
        )


def _verdict(kept: Kept, answered: _Answered) -> Verdict:
    """Return the run's verdict from what the gates say now about what was decided then."""
    asked = kept.document("options")["options"]
    statuses, verdicts = set(), {found.verdict for found in answered.plan}
    for decision in json.loads(kept.beside["plan"])["decisions"]:
        if decision["chosen"] is not None:
            verdicts.add(answered.options[decision["chosen"]["option"]["id"]].verdict)
        elif decision["status"] in ("denied", "blocked"):
            own = [row for row in asked if row["workload"] == decision["workload"]]
            field = [row for row in own if row["pinned"]] or own
            statuses.add(_status([answered.options[row["id"]] for row in field]))
    return run_verdict(statuses, verdicts)


def _status(field: Sequence[OptionVerdict]) -> str:
    """Return what becomes of a workload of which no option was left: see planner.decide."""
    if any(option.verdict in ("allow", "warn") for option in field):
        return "left with an option"
    unknown = (o for o in field if all(found.verdict != "deny" for found in o.findings))
    return "denied" if next(unknown, None) is None else "blocked"


def _again(
    kept: Kept, record: Mapping[str, Any], answered: _Answered, verdict: Verdict
) -> dict[str, Any]:
    """Return the record as it would be written of the answers of now."""
    return policy_record(
        stack=record["stack"],
        evaluated_at=dt.datetime.fromisoformat(record["evaluated_at"]),
        origin=Origin(record["actor"]),
        documents=[kept.document("options"), kept.document("plan")],
        facts=answered.judged.facts,
        data_digest=answered.judged.data_digest,
        rules_disabled=answered.judged.rules_disabled,
        verdict=verdict,
        findings=answered.findings,
        waivers=WaiverBook.model_validate_json(kept.inside[WAIVERS]),
        digests=Digests(),
        trace=record["findings_told"] == "all",
    )


def _notes(record: Mapping[str, Any], facts: PolicyFacts) -> Iterator[str]:
    decided, policy = record["policy"]["engine_version"], record["policy"]
    if decided != facts.engine_version:
        yield f"decided by OPA {decided}, asked again with OPA {facts.engine_version}"
    if policy["engine"] == "opa, central":
        yield "decided by a central server: asked again with the policies of the planner"
